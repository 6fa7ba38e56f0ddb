//! What a result means: its record, and what the plugin says of it where that is believed.
//!
//! *Invariant:* what a run saw is judged by the version of the plugin that ran.
//! *Invariant:* a result that nobody could judge is `unknown`: it raises and resolves nothing.

use serde_json::Value;
use vedette_model::{Assessment, CheckId, CheckRecord, CheckStatus, Evidence, Source, Timestamp};
use vedette_sandbox::{CheckVersion, PluginError};
use vedette_store::CheckContext;

use super::{Arrival, Seen};
use crate::{
    App, Error, Result,
    service::{doubt::doubt, unanswered},
};

/// A record and what it means.
pub(super) struct Judged {
    pub(super) record: CheckRecord,
    /// None if nobody could judge it, or the verdict is not believed.
    pub(super) assessment: Option<Assessment>,
    /// Why it is not believed.
    pub(super) doubted: Option<&'static str>,
    /// Whether the plugin gave a verdict, believed or not.
    pub(super) is_judged: bool,
    /// What judges it; none if the check is not installed.
    pub(super) version: Option<CheckVersion>,
    pub(super) at: Timestamp,
}

pub(super) async fn judge(
    app: &App,
    arrival: &Arrival,
    context: &CheckContext,
    id: CheckId,
) -> Result<Judged> {
    let version = version(app, arrival);
    let mut record = record(app, arrival, id);
    let told = match &arrival.seen {
        Seen::Unknown(_) => None,
        Seen::Result { result, .. } => {
            match assess(app, arrival, context, version.as_ref(), result).await? {
                Ok(assessment) => Some(assessment),
                Err(token) => {
                    record.error = Some(token.to_owned());
                    None
                }
            }
        }
    };
    let is_judged = told.is_some();
    let doubted = match &told {
        Some(told) => doubt(app, arrival, context, told).await,
        None => None,
    };
    let at = app.clock.now();
    if let Some(token) = doubted {
        record.result = Value::Null;
        record.error = Some(token.to_owned());
    }
    let assessment = told.filter(|_| doubted.is_none());
    Ok(Judged { record, assessment, doubted, is_judged, version, at })
}

/// What judges a result: the version that ran, else the one that is installed. A version that took
/// its place meanwhile may read a result differently if it would never bring such a one itself.
fn version(app: &App, arrival: &Arrival) -> Option<CheckVersion> {
    let ran = match &arrival.seen {
        Seen::Result { version, .. } => version.clone(),
        Seen::Unknown(_) => None,
    };
    ran.or_else(|| app.sandbox.version(&arrival.check_type))
}

/// The plugin's verdict; where it could not give one, the token that says so.
async fn assess(
    app: &App,
    arrival: &Arrival,
    context: &CheckContext,
    version: Option<&CheckVersion>,
    result: &Value,
) -> Result<Result<Assessment, &'static str>> {
    let CheckContext { site, state, siblings, .. } = context;
    let check_type = &arrival.check_type;
    let mut current = result.clone();
    if let Some(members) = current.as_object_mut().filter(|_| is_brought(arrival.source)) {
        // The documented results do not name the site; those of our own runs do.
        members.entry("domain").or_insert_with(|| site.name().into());
        // Some programs write the member even if there is nothing in it.
        if members.get("error").is_some_and(|error| error == "") {
            members.insert("error".to_owned(), Value::Null);
        }
    }
    let evidence = Evidence {
        current,
        current_at: arrival.checked_at,
        settled: state.settled.as_ref().map(|settled| (settled.result.clone(), settled.at)),
        siblings: siblings
            .iter()
            .map(|(check_type, result)| (check_type.to_string(), result.clone()))
            .collect(),
        config: site.config_of(check_type),
        alert_days: site.alert_days,
        memory: state.memory.clone(),
    };
    let told = match version {
        Some(version) => {
            let is_planned = matches!(arrival.source, Source::Scheduler | Source::Cron);
            let planned = is_planned.then(|| site.name());
            app.sandbox.assess(version, planned, evidence).await
        }
        None => Err(PluginError::NotInstalled),
    };
    let cause = match told {
        Ok(assessment) => return Ok(Ok(assessment)),
        Err(cause) => cause,
    };
    let token = token(&cause, arrival.source)?;
    let domain = site.name();
    tracing::error!(
        %check_type, domain, %cause,
        "check {check_type} could not judge its result for {domain}: {cause}"
    );
    Ok(Err(token))
}

/// What the record says of a result that nobody could judge. If whoever brought it can mend that,
/// or bring it again, nothing is stored.
fn token(cause: &PluginError, source: Source) -> Result<&'static str> {
    match cause {
        PluginError::InvalidInput(reason) if is_brought(source) => {
            Err(Error::invalid("result", format!("does not fit the check: {reason}")))
        }
        PluginError::Overloaded if source == Source::Api => Err(unanswered::crowded()),
        PluginError::NotInstalled => Ok(unanswered::PLUGIN_UNAVAILABLE),
        PluginError::Overloaded => Ok(unanswered::OVERLOADED),
        PluginError::InvalidInput(_) | PluginError::Broken { .. } => Ok(unanswered::PLUGIN_FAILED),
    }
}

fn is_brought(source: Source) -> bool {
    matches!(source, Source::Api | Source::Agent)
}

/// The record before it was judged.
fn record(app: &App, arrival: &Arrival, id: CheckId) -> CheckRecord {
    let (result, error) = match &arrival.seen {
        Seen::Unknown(token) => (Value::Null, Some((*token).to_owned())),
        Seen::Result { result, .. } => (result.clone(), error_of(result)),
    };
    CheckRecord {
        id,
        site_id: arrival.site_id,
        check_type: arrival.check_type.clone(),
        checked_at: arrival.checked_at,
        status: CheckStatus::Unknown,
        result,
        error,
        duration_ms: u64::try_from(arrival.duration.as_millis()).unwrap_or(u64::MAX),
        source: arrival.source,
        location: app.config.location.clone(),
    }
}

/// A record repeats the `error` of its result, so that listings need not look inside. An empty one,
/// from programs that always write the member, counts as none.
fn error_of(result: &Value) -> Option<String> {
    let token = result.get("error").and_then(Value::as_str);
    token.filter(|token| !token.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn result_that_found_no_room_is_stored_for_nobody_who_can_bring_it_again() {
        let crowded = |source| token(&PluginError::Overloaded, source);
        assert!(matches!(crowded(Source::Api), Err(Error::Limited { retry_after: 5, .. })));
        for source in [Source::Scheduler, Source::OnDemand, Source::Agent, Source::Cron] {
            assert!(matches!(crowded(source), Ok("overloaded")), "{source:?}");
        }
        let unfit = |source| token(&PluginError::InvalidInput("no".to_owned()), source);
        assert!(matches!(unfit(Source::Api), Err(Error::Invalid(_))));
        assert!(matches!(unfit(Source::Scheduler), Ok("plugin_failed")));
    }

    #[test]
    fn record_repeats_the_error_token_of_its_result() {
        let expired = json!({ "valid": false, "error": "certificate_expired" });
        assert_eq!(error_of(&expired), Some("certificate_expired".to_owned()));
        for fine in [
            json!({ "valid": true, "error": null }),
            json!({ "error": "" }),
            json!({}),
            json!(null),
        ] {
            assert_eq!(error_of(&fine), None, "{fine}");
        }
    }
}
