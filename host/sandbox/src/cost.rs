//! What every call into a plugin pays before it does anything.

use std::time::{Duration, Instant};

use crate::{
    call::{End, Terms},
    registry::Check,
};

/// Makes and drops `rounds` instances, one after the other; answers how long each took, its store
/// included.
pub(crate) async fn instantiate(check: &Check, rounds: usize) -> Result<Vec<Duration>, End> {
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
