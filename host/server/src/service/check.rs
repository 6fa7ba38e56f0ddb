//! Checks on demand, results that come from outside, and the history of both.

mod history;
mod on_demand;
mod place;
mod view;

use std::time::Duration;

use serde_json::Value;
use vedette_model::{
    CheckRecord, CheckType, SiteId, Source,
    parse::{self, Body},
};

use super::pipeline::{self, Arrival, Seen, Stored};
use crate::{App, Caller, Error, Resource, Result};

pub use history::{cert_history, latest, page};
pub use on_demand::{run_on_demand, run_public};

pub(crate) use history::query;
pub(crate) use on_demand::run_for_anyone;
pub(crate) use place::Places;
pub(crate) use view::{PUBLIC, public_part, shown, shown_record};

/// Takes in a result that somebody else measured, and judges it like one of ours.
///
/// # Errors
/// `Invalid` for a check that is not installed, or a result that its schema does not describe;
/// `NotFound` for someone else's site.
pub async fn record(app: &App, caller: &Caller, body: &Value) -> Result<CheckRecord> {
    let body = Body::of(body)?;
    let site_id =
        body.required("site_id", |field, value| parse::uuid(field, parse::text(field, value)?))?;
    let check_type = body.required("check_type", parse::text)?;
    let check_type = installed(check_type, &app.sandbox.check_types())?;
    let result = body.required("result", parse::object)?;
    let arrival = Arrival {
        account_id: caller.account.id,
        site_id: SiteId(site_id),
        check_type,
        seen: Seen::Result {
            result: Value::Object(result.clone()),
            next_run_in_s: None,
            version: None,
            stood_still: Duration::ZERO,
        },
        checked_at: app.clock.now(),
        duration: Duration::ZERO,
        source: Source::Api,
        lease: None,
        looked_at: None,
    };
    let stored = pipeline::submit(app, arrival).await?.ok_or(NO_SITE)?;
    judged(&stored)?;
    Ok(shown_record(caller.edition, stored.record))
}

/// A result that the plugin could not judge is our fault, and the caller is told so. One that was
/// judged but is not believed is still what was seen.
pub(crate) fn judged(stored: &Stored) -> Result<()> {
    if !stored.is_judged {
        let CheckRecord { check_type, site_id, .. } = &stored.record;
        return Err(anyhow::anyhow!("check {check_type} of {site_id} was stored unjudged").into());
    }
    Ok(())
}

fn installed(name: &str, installed: &[CheckType]) -> Result<CheckType> {
    let found = installed.iter().find(|check_type| check_type.as_str() == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = installed.iter().map(CheckType::as_str).collect();
        Error::invalid("check_type", format!("must be one of {}", names.join(", ")))
    })
}

const NO_SITE: Error = Error::NotFound(Resource::Site);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::sample;

    #[test]
    fn result_that_is_only_doubted_is_answered_and_an_unjudged_one_not() {
        let stored = |is_judged| Stored { record: sample::record(), raised: 0, is_judged };
        assert!(judged(&stored(true)).is_ok());
        assert!(matches!(judged(&stored(false)), Err(Error::Internal(_))));
    }

    #[test]
    fn only_installed_checks_take_results_from_outside() {
        let ssl: CheckType = "ssl".parse().expect("a check's name");
        assert_eq!(installed("ssl", std::slice::from_ref(&ssl)).ok(), Some(ssl.clone()));
        let said = installed("uptime", &[ssl]).expect_err("it is not installed").to_string();
        assert_eq!(said, "check_type must be one of ssl");
    }
}
