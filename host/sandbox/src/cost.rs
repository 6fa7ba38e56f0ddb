//! What every call into a plugin pays before it does anything.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use vedette_model::CheckType;

use crate::{
    Sandbox,
    call::{End, Terms},
    error::PluginError,
    registry::Check,
};

impl Sandbox {
    /// Makes and drops `rounds` instances of a check and answers how long each took: what every
    /// call pays before it does anything.
    pub async fn instantiate(
        &self,
        check_type: &CheckType,
        rounds: usize,
    ) -> Result<Vec<Duration>, PluginError> {
        let check = self.installed(check_type)?;
        let work = async move |check: Arc<Check>| instantiate(&check, rounds).await;
        self.purely(check, None, work).await
    }
}

/// Makes and drops `rounds` instances, one after the other; answers how long each took, its store
/// included.
async fn instantiate(check: &Check, rounds: usize) -> Result<Vec<Duration>, End> {
    let plugin = &check.plugin;
    let mut spent = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let pre = check.live.clone();
        let started = Instant::now();
        let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
            Box::pin(async move { pre.instantiate_async(store).await.map(drop) })
        });
        ended.await.answer?;
        spent.push(started.elapsed());
    }
    Ok(spent)
}
