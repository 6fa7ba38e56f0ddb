//! What stands between a plugin's types and the contract's JSON: one adapter for each kind of
//! plugin, and the macros that export it.

use std::marker::PhantomData;

use crate::{
    Assessment, Check, CheckError, Cx, Evidence, Health, Job, Notify, Problem, Settled,
    bindings::{
        check::exports::vedette::plugin::checker, check::vedette::plugin::types as wit,
        notifier::exports::vedette::plugin::notifier,
    },
    config,
    log::Level,
};

/// Exports a [`Check`] as the component's `checker`. Natively it expands to nothing.
#[macro_export]
macro_rules! export_check {
    ($check:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, reason = "the canonical ABI is raw pointers")]
        const _: () = {
            type Exported = $crate::export::Checker<$check>;
            $crate::bindings::check::export_checker!(
                Exported with_types_in $crate::bindings::check
            );
        };
    };
}

/// Exports a [`Notify`] as the component's `notifier`. Natively it expands to nothing.
#[macro_export]
macro_rules! export_notifier {
    ($channel:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, reason = "the canonical ABI is raw pointers")]
        const _: () = {
            type Exported = $crate::export::Notifier<$channel>;
            $crate::bindings::notifier::export_notifier!(
                Exported with_types_in $crate::bindings::notifier
            );
        };
    };
}

/// A [`Check`] in the contract's terms.
#[derive(Debug)]
pub struct Checker<C>(PhantomData<C>);

/// A [`Notify`] in the contract's terms.
#[derive(Debug)]
pub struct Notifier<N>(PhantomData<N>);

impl<C: Check> checker::Guest for Checker<C> {
    fn describe() -> wit::Descriptor {
        let said = C::describe();
        wit::Descriptor {
            id: said.id.to_owned(),
            version: said.version.to_owned(),
            title: said.title.to_owned(),
            description: said.description.to_owned(),
            config_schema: config::accepted::<C::Config>(),
            result_schema: config::answered::<C::Facts>(),
            summary_fields: owned(said.summary_fields),
            events: said.events.iter().map(event_type).collect(),
            metrics: said.metrics.iter().map(metric_def).collect(),
        }
    }

    fn validate(target: String, config: String) -> Result<String, Vec<Problem>> {
        tell_panics();
        let config = C::validate(&target, config::read(&config)?)?;
        config::write(&config).map_err(whole)
    }

    fn run(job: checker::Job) -> Result<checker::Observation, CheckError> {
        tell_panics();
        let job = Job {
            run_id: job.run_id,
            target: job.target,
            port: job.port,
            connect_to: job.connect_to,
            config: config::read(&job.config).map_err(CheckError::InvalidConfig)?,
            settings: job.settings,
            omit: job.omit,
        };
        let seen = C::run(&Cx::host(), job)?;
        Ok(checker::Observation {
            result: config::write(&seen.facts).map_err(CheckError::Failed)?,
            summary: seen.summary,
            metrics: seen.metrics,
            next_run_in_s: seen
                .next_run_in
                .map(|wait| u32::try_from(wait.as_secs()).unwrap_or(u32::MAX)),
        })
    }

    fn assess(evidence: checker::Evidence) -> Assessment {
        tell_panics();
        match judged::<C>(&evidence) {
            Ok(evidence) => C::assess(evidence),
            Err(reason) => {
                Cx::host().log(Level::Warn, "cannot judge this result", &[("reason", &reason)]);
                Assessment {
                    health: Health::Unknown,
                    findings: Vec::new(),
                    memory: evidence.memory,
                }
            }
        }
    }
}

impl<N: Notify> notifier::Guest for Notifier<N> {
    fn describe() -> notifier::ChannelDescriptor {
        let said = N::describe();
        notifier::ChannelDescriptor {
            id: said.id.to_owned(),
            version: said.version.to_owned(),
            title: said.title.to_owned(),
            description: said.description.to_owned(),
            config_schema: config::accepted::<N::Config>(),
            secret_fields: owned(said.secret_fields),
            batch_max: said.batch_max,
        }
    }

    fn validate(config: String) -> Result<String, Vec<Problem>> {
        tell_panics();
        let config = N::validate(config::read(&config)?)?;
        config::write(&config).map_err(whole)
    }

    fn render(
        notification: notifier::Notification,
        config: String,
    ) -> Result<Vec<notifier::Delivery>, String> {
        tell_panics();
        let config = config::read(&config).map_err(|problems| {
            let said: Vec<String> =
                problems.iter().map(|p| format!("{} {}", p.pointer, p.message)).collect();
            said.join("; ")
        })?;
        N::render(notification, config)
    }

    fn interpret(receipt: notifier::Receipt) -> notifier::Verdict {
        tell_panics();
        N::interpret(receipt)
    }
}

/// Makes a panic say in the operator's log where and why, before it traps: the host sees only the
/// trap. Not in `describe`, where the log traps too.
fn tell_panics() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        Cx::host().log(Level::Error, &panic.to_string().replace('\n', " "), &[]);
    }));
}

/// The evidence in the plugin's own types. What was settled under another version's types counts
/// as never settled: the current result becomes the new baseline.
fn judged<C: Check>(evidence: &checker::Evidence) -> Result<Evidence<C::Config, C::Facts>, String> {
    let current = serde_json::from_str(&evidence.current).map_err(|error| error.to_string())?;
    let config = config::read(&evidence.config).map_err(|problems| {
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    })?;
    let settled = evidence.settled.as_ref().and_then(|(facts, at)| {
        Some(Settled { facts: serde_json::from_str(facts).ok()?, at: seconds(*at) })
    });
    Ok(Evidence {
        current,
        current_at: seconds(evidence.current_at),
        settled,
        siblings: evidence.siblings.clone(),
        config,
        alert_days: evidence.alert_days,
        memory: evidence.memory.clone(),
    })
}

/// The contract's milliseconds in the unit of certificates.
fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

fn event_type(event: &crate::EventType) -> wit::EventType {
    wit::EventType {
        name: event.name.to_owned(),
        alert_type: event.alert_type.to_owned(),
        severity: event.severity,
        title: event.title.to_owned(),
        self_resolving: event.self_resolving,
        confirmations: event.confirmations,
        clears: event.clears,
    }
}

fn metric_def(metric: &crate::MetricDef) -> wit::MetricDef {
    wit::MetricDef {
        name: metric.name.to_owned(),
        unit: metric.unit.to_owned(),
        help: metric.help.to_owned(),
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// A problem of the value as a whole (RFC 6901: the empty pointer).
fn whole(message: String) -> Vec<Problem> {
    vec![Problem { pointer: String::new(), message }]
}

#[cfg(test)]
mod tests;
