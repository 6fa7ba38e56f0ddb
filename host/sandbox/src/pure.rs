//! Pure calls: `validate`, `assess`, `render`, `interpret`. No network, no state, no time that
//! passes: the same question gives the same bytes.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value};
use vedette_model::{Assessment, CheckType, Evidence, delivery::Rendered};

use crate::{
    Sandbox, accept,
    bindings::{
        check::exports::vedette::plugin::checker as wit,
        notifier::exports::vedette::plugin::notifier as wit_notifier,
    },
    breaker::Subject,
    call::{End, Terms},
    channel::{Notification, Receipt, Verdict},
    check::{CheckVersion, Problem},
    error::{PluginError, Stop, ValidateError},
    output::{Forbidden, reason},
    registry::{Channel, Check, Plugin},
    schema::Schema,
};

impl Sandbox {
    /// Checks a check's configuration for a target and answers it normalised.
    pub async fn validate(
        &self,
        check_type: &CheckType,
        target: &str,
        config: &Value,
    ) -> Result<Value, ValidateError> {
        let check = self.installed(check_type)?;
        must_fit(&check.config, config)?;
        let (target, config) = (target.to_owned(), accept::with_whole_numbers(config.clone()));
        let work = async move |check: Arc<Check>| validate(&check, &target, &config).await;
        self.purely(check, None, work).await?.map_err(ValidateError::Problems)
    }

    /// Checks a channel's settings and answers them normalised. The plugin is given `ref:<field>` in
    /// place of every secret one, as in [`Self::render`], and so is its schema; what is answered
    /// holds them as they came.
    pub async fn validate_channel(
        &self,
        channel: &str,
        config: &Value,
    ) -> Result<Map<String, Value>, ValidateError> {
        let channel = self.installed_channel(channel)?;
        let given = accept::with_whole_numbers(referring(&channel, config));
        must_fit(&channel.config, &given)?;
        let work = async move |channel: Arc<Channel>| validate_channel(&channel, &given).await;
        let normalised = self.purely(Arc::clone(&channel), None, work).await?;
        let normalised = normalised.map_err(ValidateError::Problems)?;
        Ok(restored(&channel, normalised, config)?)
    }

    /// Says what the evidence means, by one version of its check, whether or not another has its place
    /// by now. `planned` is the target of the planned run that found it; none where somebody asked for
    /// the run, or brought what they found.
    pub async fn assess(
        &self,
        version: &CheckVersion,
        planned: Option<&str>,
        evidence: Evidence,
    ) -> Result<Assessment, PluginError> {
        let check = Arc::clone(version.check());
        // Agents and clients send results too: what does not fit never reaches the plugin.
        check.result.check(&evidence.current).map_err(PluginError::InvalidInput)?;
        let work = async move |check: Arc<Check>| assess(&check, evidence).await;
        self.purely(check, planned.map(Subject::of), work).await
    }

    /// Has a channel write a notification. `ref:<field>` stays in the rendered URL for the caller
    /// to resolve; the plugin is given it in place of every secret setting.
    pub async fn render(
        &self,
        channel: &str,
        notification: Notification,
        config: &Value,
    ) -> Result<Vec<Rendered>, PluginError> {
        let channel = self.installed_channel(channel)?;
        let about = notification.alerts.first().map_or("", |alert| &alert.domain);
        let (about, config) = (Subject::of(about), config.clone());
        let work = async move |channel: Arc<Channel>| render(&channel, notification, &config).await;
        self.purely(channel, Some(about), work).await
    }

    /// Has a channel read the reply that the receiver, a host, gave to one attempt.
    pub async fn interpret(
        &self,
        channel: &str,
        receiver: &str,
        receipt: Receipt,
    ) -> Result<Verdict, PluginError> {
        let channel = self.installed_channel(channel)?;
        let work = async move |channel: Arc<Channel>| interpret(&channel, receipt).await;
        self.purely(channel, Some(Subject::of(receiver)), work).await
    }

    /// Makes one pure call: a turn, the breaker, the call, how it ended.
    pub(crate) async fn purely<P, T, W, F>(
        &self,
        called: Arc<P>,
        about: Option<Subject>,
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
            let begun = plugin.admit(about, Instant::now());
            let begun = begun.map_err(|message| End::stopped(Stop::Paused, message))?;
            let outcome = work(Arc::clone(&called)).await;
            match &outcome {
                Ok(_) => plugin.finish(begun, None, Instant::now()),
                Err(End::Stopped { why, message }) => {
                    plugin.finish(begun, Some((*why, message)), Instant::now());
                }
                Err(End::Overloaded) => {}
            }
            outcome
        };
        self.inner.runtime.run(call).await.map_err(PluginError::from)
    }
}

/// What is wrong with a configuration before a plugin is asked.
fn must_fit(schema: &Schema, config: &Value) -> Result<(), ValidateError> {
    let mut problems = schema.problems(config);
    problems.extend(accept::unprintable(config));
    if problems.is_empty() { Ok(()) } else { Err(ValidateError::Problems(problems)) }
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
async fn assess(check: &Check, evidence: Evidence) -> Result<Assessment, End> {
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
async fn render(
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
async fn interpret(channel: &Channel, receipt: Receipt) -> Result<Verdict, End> {
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
fn referring(channel: &Channel, config: &Value) -> Value {
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
fn restored(
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
