//! What it means that a run ended without an observation.
//!
//! *Invariant:* nothing here says anything about the target: own trouble is `unknown`, raises
//! nothing and resolves nothing; the operator hears of it through the log and a metric.

use anyhow::anyhow;
use vedette_model::{CheckRecord, CheckStatus, CheckType};
use vedette_sandbox::{PluginError, Problem, RunError, Stop};

use super::doubt::{CLOCK_DOUBTED, HELD_BACK, OFFLINE};
use crate::{App, Error};

/// The token in the `error` of an `unknown` record, one snake_case word. `offline` while no DNS
/// server answers us: a check that says it could not work then is not to blame.
pub(crate) fn token(cause: &RunError, offline: bool) -> &'static str {
    match cause {
        RunError::Blocked(_) => "blocked_address",
        RunError::UnsupportedTarget(_) => "unsupported_target",
        RunError::InvalidConfig(_) => "invalid_config",
        RunError::RetryIn(_) => "throttled",
        RunError::Overloaded => OVERLOADED,
        RunError::Broken { why: Stop::Paused, .. } | RunError::NotInstalled => PLUGIN_UNAVAILABLE,
        RunError::Broken { why: Stop::Failed, .. } if offline => OFFLINE,
        RunError::Broken { .. } => PLUGIN_FAILED,
    }
}

/// The [`token`] of our own trouble that left a record without an answer; none if the target or its
/// configuration caused it.
pub(crate) fn own_trouble(record: &CheckRecord) -> Option<&str> {
    let error = record.error.as_deref().filter(|_| record.status == CheckStatus::Unknown);
    let ours = [CLOCK_DOUBTED, OFFLINE, OVERLOADED, HELD_BACK, PLUGIN_FAILED, PLUGIN_UNAVAILABLE];
    error.filter(|error| ours.contains(error))
}

/// Tells the operator of a scheduled run that says nothing about its target; `offline` as for its
/// [`token`].
pub(crate) fn report(check_type: &CheckType, domain: &str, cause: &RunError, offline: bool) {
    count(check_type, token(cause, offline));
    match cause {
        RunError::Overloaded => {
            metrics::counter!("vedette_checks_skipped_overload_total").increment(1);
            tracing::warn!(
                %check_type, domain,
                "check {check_type} of {domain} was skipped or broken off: {cause}"
            );
        }
        RunError::InvalidConfig(problems) => {
            let problem = first(problems);
            tracing::error!(
                %check_type, domain, problem,
                "check {check_type} refuses the stored configuration of {domain}: {problem}"
            );
        }
        // The guard has logged it, in one line for all sites.
        RunError::Broken { why: Stop::Failed, .. } if offline => {
            tracing::debug!(%check_type, domain, %cause, "check {check_type} of {domain}: {cause}");
        }
        RunError::Broken { why: Stop::Failed, .. } => tracing::warn!(
            %check_type, domain, %cause, "check {check_type} of {domain} could not work: {cause}"
        ),
        RunError::Broken { .. } | RunError::NotInstalled => tracing::error!(
            %check_type, domain, %cause, "check {check_type} of {domain} broke: {cause}"
        ),
        RunError::Blocked(_) | RunError::UnsupportedTarget(_) | RunError::RetryIn(_) => {
            tracing::info!(%check_type, domain, %cause, "check {check_type} of {domain}: {cause}");
        }
    }
}

/// Counts a scheduled run that brought no result, by a [`token`] or [`NOT_DONE`].
pub(crate) fn count(check_type: &CheckType, why: &'static str) {
    unknown(check_type, why).increment(1);
}

/// Makes the counters of runs without a result that the alerting rules use begin at 0, so that
/// Prometheus sees the first one as growth.
pub(crate) fn begin_counting(app: &App) {
    metrics::counter!("vedette_checks_skipped_overload_total").increment(0);
    for check_type in app.sandbox.check_types() {
        for why in [PLUGIN_UNAVAILABLE, NOT_DONE] {
            unknown(&check_type, why).increment(0);
        }
    }
}

fn unknown(check_type: &CheckType, why: &'static str) -> metrics::Counter {
    metrics::counter!(
        "vedette_checks_unknown_total", "check_type" => check_type.to_string(), "error" => why
    )
}

/// What the caller of an on-demand check is told: a target or configuration is theirs to change,
/// how long to wait is for them to know, anything else is our trouble. `fields` say what the target
/// is, `offline` is as for its [`token`].
pub(crate) fn refuse(
    check_type: &CheckType,
    fields: &'static str,
    cause: RunError,
    offline: bool,
) -> Error {
    match cause {
        RunError::Blocked(reason) | RunError::UnsupportedTarget(reason) => {
            Error::invalid(fields, format!("cannot be checked: {reason}"))
        }
        RunError::InvalidConfig(problems) => misfit(check_type, &problems),
        RunError::Broken { why: Stop::Failed, .. } if offline => {
            Error::Offline(anyhow!("check {check_type}: {cause}"))
        }
        RunError::Overloaded => crowded(),
        RunError::Broken { why: Stop::Paused, .. } => Error::Paused,
        RunError::RetryIn(wait) => Error::Throttled { retry_after: wait.as_secs().max(1) },
        RunError::Broken { .. } | RunError::NotInstalled => {
            Error::Internal(anyhow!("check {check_type}: {cause}"))
        }
    }
}

/// There was no room for the request; there may be soon.
pub(crate) fn crowded() -> Error {
    Error::Limited {
        retry_after: CROWDED,
        message: format!("too many checks are running at this moment; try again in {CROWDED} s"),
    }
}

/// A plugin gave no answer to what it was asked to judge.
impl From<PluginError> for Error {
    fn from(cause: PluginError) -> Self {
        match cause {
            PluginError::Overloaded => crowded(),
            PluginError::Broken { why: Stop::Paused, .. } => Self::Paused,
            PluginError::NotInstalled
            | PluginError::InvalidInput(_)
            | PluginError::Broken { .. } => Self::Internal(cause.into()),
        }
    }
}

/// `Invalid` for the first thing that is wrong with a check's configuration, named by its place
/// in `check_config`.
pub(crate) fn misfit(check_type: &CheckType, problems: &[Problem]) -> Error {
    let pointer = problems.first().map_or("", |problem| problem.pointer.as_str());
    let message = problems.first().map_or("does not fit the check", |problem| &problem.message);
    Error::invalid(format!("check_config/{check_type}{pointer}"), message.to_owned())
}

fn first(problems: &[Problem]) -> String {
    let problem = problems.first();
    let said = problem.map(|problem| format!("{} {}", problem.pointer, problem.message));
    said.unwrap_or_else(|| "it does not say why".to_owned())
}

/// In how many seconds a place may be free.
const CROWDED: u64 = 5;
/// The plugin broke or was stopped, in `run` or in `assess`.
pub(crate) const PLUGIN_FAILED: &str = "plugin_failed";
/// There is no plugin here, or it is paused because it broke too often.
pub(crate) const PLUGIN_UNAVAILABLE: &str = "plugin_unavailable";
pub(crate) const OVERLOADED: &str = "overloaded";
/// Nothing was stored: what the check needs could not be read, or its result could not be written.
pub(crate) const NOT_DONE: &str = "not_done";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ssl() -> CheckType {
        "ssl".parse().expect("a check's name")
    }

    fn broken(why: Stop) -> RunError {
        RunError::Broken { why, message: "wasm trap: unreachable".to_owned() }
    }

    #[test]
    fn own_trouble_is_named_by_a_token() {
        let endings = [
            (broken(Stop::Trap), "plugin_failed"),
            (broken(Stop::Cpu), "plugin_failed"),
            (broken(Stop::Output), "plugin_failed"),
            (broken(Stop::Paused), "plugin_unavailable"),
            (RunError::NotInstalled, "plugin_unavailable"),
            (RunError::Overloaded, "overloaded"),
            (RunError::InvalidConfig(Vec::new()), "invalid_config"),
            (RunError::UnsupportedTarget("x".to_owned()), "unsupported_target"),
        ];
        for (cause, expected) in endings {
            assert_eq!(token(&cause, false), expected, "{cause:?}");
        }
    }

    #[test]
    fn check_that_could_not_work_without_dns_is_offline_and_one_that_broke_is_not() {
        for (why, offline, expected) in [
            (Stop::Failed, true, "offline"),
            (Stop::Failed, false, "plugin_failed"),
            (Stop::Trap, true, "plugin_failed"),
            (Stop::Paused, true, "plugin_unavailable"),
        ] {
            assert_eq!(token(&broken(why), offline), expected, "{why:?} {offline}");
        }
    }

    #[test]
    fn on_demand_only_what_the_caller_can_change_is_the_callers() {
        let blocked = RunError::Blocked("the address may not be reached".to_owned());
        let both = "domain and origin_ip";
        let Error::Invalid(invalid) = refuse(&ssl(), both, blocked, false) else {
            panic!("a bad request")
        };
        assert_eq!(invalid.field, both);

        let problem =
            Problem { pointer: "/path".to_owned(), message: "must start with /".to_owned() };
        let unfit = RunError::InvalidConfig(vec![problem]);
        let Error::Invalid(invalid) = refuse(&ssl(), "domain", unfit, false) else {
            panic!("a bad request")
        };
        assert_eq!(invalid.to_string(), "check_config/ssl/path must start with /");

        let ours = [broken(Stop::Trap), broken(Stop::Wall), RunError::NotInstalled];
        for cause in ours {
            for offline in [false, true] {
                let refused = refuse(&ssl(), "domain", cause.clone(), offline);
                assert!(matches!(refused, Error::Internal(_)), "{cause:?}");
            }
        }
    }

    #[test]
    fn a_check_that_found_no_room_can_be_asked_for_again_soon() {
        let refused = refuse(&ssl(), "domain", RunError::Overloaded, false);
        assert!(matches!(refused, Error::Limited { retry_after: 5, .. }), "{refused}");
        let refused = Error::from(PluginError::Overloaded);
        assert!(matches!(refused, Error::Limited { retry_after: 5, .. }), "{refused}");
        let broken = PluginError::Broken { why: Stop::Trap, message: "unreachable".to_owned() };
        assert!(matches!(Error::from(broken), Error::Internal(_)));
    }

    #[test]
    fn on_demand_who_has_to_wait_is_told_how_long() {
        let told = refuse(&ssl(), "domain", RunError::RetryIn(Duration::from_secs(30)), false);
        assert!(matches!(told, Error::Throttled { retry_after: 30 }), "{told:?}");
        assert!(told.to_string().ends_with("try again in 30 s"), "{told}");
    }

    #[test]
    fn what_broke_inside_is_not_told_to_the_client() {
        for offline in [false, true] {
            for why in [Stop::Trap, Stop::Failed] {
                let told = refuse(&ssl(), "domain", broken(why), offline).to_string();
                let is_dns = offline && why == Stop::Failed;
                assert_eq!(told.contains("DNS servers are not answering"), is_dns, "{told}");
                assert!(!told.contains("wasm"), "{told}");
            }
        }
    }
}
