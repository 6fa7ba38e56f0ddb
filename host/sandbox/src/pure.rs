//! Pure calls: `validate`, `assess`, `render`, `interpret`. No network, no state, no time that
//! passes: the same question gives the same bytes.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value};
use vedette_model::{Assessment, Evidence, delivery::Rendered};

use crate::{
    Sandbox, accept,
    bindings::{
        check::exports::vedette::plugin::checker as wit,
        notifier::exports::vedette::plugin::notifier as wit_notifier,
    },
    breaker::Subject,
    call::{End, Terms},
    channel::{Notification, Receipt, Verdict},
    check::Problem,
    error::{PluginError, Stop},
    output::{Forbidden, reason},
    registry::{Channel, Check, Plugin},
};

impl Sandbox {
    /// Makes one pure call: a turn, the breaker, the call, how it ended.
    pub(crate) async fn purely<P, T, W, F>(
        &self,
        called: Arc<P>,
        about: Subject,
        work: W,
    ) -> Result<T, PluginError>
    where
        P: AsRef<Plugin> + Send + Sync + 'static,
        T: Send + 'static,
        W: FnOnce(Arc<P>) -> F + Send + 'static,
        F: Future<Output = Result<T, End>> + Send,
    {
        let inner = Arc::clone(&self.inner);
        let call = async move {
            let plugin: &Plugin = (*called).as_ref();
            let _turn = inner.slots.pure(plugin).await?;
            let begun = plugin.admit(Instant::now());
            let begun = begun.map_err(|message| End::stopped(Stop::Paused, message))?;
            let outcome = work(Arc::clone(&called)).await;
            match &outcome {
                Ok(_) => plugin.finish(begun, about, None, Instant::now()),
                Err(End::Stopped { why, message }) => {
                    plugin.finish(begun, about, Some((*why, message)), Instant::now());
                }
                Err(End::Overloaded) => {}
            }
            outcome
        };
        self.inner.runtime.run(call).await.map_err(PluginError::from)
    }
}

/// A configuration: normalised, or what is wrong with it.
pub(crate) type Validated = Result<Value, Vec<Problem>>;

/// Checks a check's configuration, which already satisfies its schema, unless it is the empty one
/// that is tried at install.
pub(crate) async fn validate(
    check: &Check,
    target: &str,
    config: &Value,
) -> Result<Validated, End> {
    let plugin = &check.plugin;
    let (pre, target, given) = (check.pure.clone(), target.to_owned(), config.to_string());
    let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
        Box::pin(async move {
            let guest = pre.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_checker().call_validate(store, &target, &given).await
        })
    });
    match ended.await.answer? {
        Ok(answer) => Ok(Ok(accept::config(&answer, config, &check.config)?)),
        Err(problems) => Ok(Err(accept::problems(problems)?)),
    }
}

/// Checks a channel's settings, which already satisfy its schema, unless they are the empty ones
/// that are tried at install.
pub(crate) async fn validate_channel(channel: &Channel, config: &Value) -> Result<Validated, End> {
    let plugin = &channel.plugin;
    let (pre, given) = (channel.pure.clone(), config.to_string());
    let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
        Box::pin(async move {
            let guest = pre.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_notifier().call_validate(store, &given).await
        })
    });
    match ended.await.answer? {
        Ok(answer) => Ok(Ok(accept::config(&answer, config, &channel.config)?)),
        Err(problems) => Ok(Err(accept::problems(problems)?)),
    }
}

/// Says what the evidence means; the guest's clock stands at the evidence's own time.
pub(crate) async fn assess(check: &Check, evidence: Evidence) -> Result<Assessment, End> {
    let plugin = &check.plugin;
    let terms = Terms::pure(plugin, evidence.current_at.timestamp_millis());
    let (pre, evidence) = (check.pure.clone(), wit::Evidence::from(evidence));
    let ended = plugin.enter(terms, move |store| {
        Box::pin(async move {
            let guest = pre.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_checker().call_assess(store, &evidence).await
        })
    });
    Ok(accept::assessment(ended.await.answer?, &check.descriptor.events)?)
}

/// Writes what is to be sent; the guest's clock stands at the notification's own time.
pub(crate) async fn render(
    channel: &Channel,
    notification: Notification,
    config: &Value,
) -> Result<Vec<Rendered>, End> {
    let plugin = &channel.plugin;
    let terms = Terms::pure(plugin, notification.timestamp.timestamp_millis());
    let (pre, config) = (channel.pure.clone(), referring(channel, config).to_string());
    let notification = wit_notifier::Notification::from(notification);
    let ended = plugin.enter(terms, move |store| {
        Box::pin(async move {
            let guest = pre.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_notifier().call_render(store, &notification, &config).await
        })
    });
    match ended.await.answer? {
        Ok(deliveries) => Ok(accept::deliveries(deliveries, &channel.descriptor.secret_fields)?),
        Err(said) => Err(End::stopped(Stop::Failed, reason(said))),
    }
}

/// Reads the reply to one attempt.
pub(crate) async fn interpret(channel: &Channel, receipt: Receipt) -> Result<Verdict, End> {
    let plugin = &channel.plugin;
    let (pre, receipt) = (channel.pure.clone(), wit_notifier::Receipt::from(receipt));
    let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
        Box::pin(async move {
            let guest = pre.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_notifier().call_interpret(store, &receipt).await
        })
    });
    Ok(accept::verdict(ended.await.answer?)?)
}

/// The settings with `ref:<field>` in place of what the channel must not see.
pub(crate) fn referring(channel: &Channel, config: &Value) -> Value {
    let mut config = config.clone();
    for field in &channel.descriptor.secret_fields {
        if let Some(value) = config.get_mut(field)
            && !value.is_null()
        {
            *value = Value::String(format!("ref:{field}"));
        }
    }
    config
}

/// The settings as the channel normalised them, with what it did not see as it is in `config`.
pub(crate) fn restored(
    channel: &Channel,
    normalised: Value,
    config: &Value,
) -> Result<Map<String, Value>, PluginError> {
    let Value::Object(mut settings) = normalised else {
        let message = "the normalised settings are no object".to_owned();
        return Err(PluginError::Broken { why: Stop::Output, message });
    };
    for field in &channel.descriptor.secret_fields {
        match config.get(field) {
            Some(value) => settings.insert(field.clone(), value.clone()),
            None => settings.remove(field),
        };
    }
    Ok(settings)
}

impl From<Forbidden> for End {
    fn from(Forbidden(said): Forbidden) -> Self {
        Self::stopped(Stop::Output, said)
    }
}
