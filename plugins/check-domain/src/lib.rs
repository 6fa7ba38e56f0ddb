//! The built-in check of domain registrations.
//!
//! A run reduces the target to its registrable name ([`name`]), finds out how that stands with its
//! registry ([`registry`]: what is kept, then RDAP, then WHOIS) and dates the answer ([`facts`]);
//! [`assess`] turns results into findings. Everything besides the calls to the host is a pure
//! function over bytes and facts.
//!
//! *Invariant:* a registry that is away, or a name that is not registered, is a result with
//! `error`; only our own trouble is a `CheckError`.
//! *Invariant:* all that is kept between runs is what registries publish.

use std::time::Duration;

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, Observation,
};

pub use config::Config;
use name::Name;
pub use result::DomainResult;
use settings::Settings;

mod assess;
pub mod bootstrap;
pub mod config;
mod date;
mod error;
mod events;
mod facts;
#[cfg(test)]
mod fixture;
#[doc(hidden)]
pub mod fuzz;
mod last_chance;
mod moment;
mod name;
mod privacy;
mod rdap;
mod registry;
pub mod result;
mod server;
mod settings;
mod shared;
mod text;
mod time;
mod whois;

#[cfg(test)]
mod tests;

/// The check `domain`.
#[derive(Debug)]
pub struct Domain;

vedette_sdk::export_check!(Domain);

const DAYS_REMAINING: &str = "domain_days_remaining";

impl Check for Domain {
    type Config = Config;
    type Facts = DomainResult;

    fn describe() -> Descriptor {
        Descriptor {
            id: "vedette.check-domain",
            version: env!("CARGO_PKG_VERSION"),
            title: "Domain registration",
            description: "Expiry, registrar, name servers and status of the registration that a \
                          domain belongs to, from RDAP and WHOIS.",
            summary_fields: &["registrar", "days_remaining", "data_availability", "error"],
            events: events::ALL,
            metrics: &[MetricDef {
                name: DAYS_REMAINING,
                unit: "days",
                help: "Whole days until the registration expires",
            }],
        }
    }

    fn run(cx: &Cx, job: Job<Config>) -> Result<Observation<DomainResult>, CheckError> {
        let settings = Settings::of(&job)?;
        let name = Name::of(&job.target)?;
        let found = registry::look_up(cx, &settings, &name)?;
        let result = found.standing.result(&name, cx.now());
        Ok(observe(result, found.again_in))
    }

    fn assess(evidence: Evidence<Config, DomainResult>) -> Assessment {
        assess::assess(evidence)
    }
}

fn observe(result: DomainResult, again_in: Option<Duration>) -> Observation<DomainResult> {
    let summary = summary(&result);
    let days = result.days_remaining;
    let mut observation = Observation::new(result, summary);
    if let Some(days) = days {
        observation = observation.metric(DAYS_REMAINING, days as f64);
    }
    observation.next_run_in = again_in;
    observation
}

/// `example.com: registered, 60 days left, registrar Example Registrar`.
fn summary(result: &DomainResult) -> String {
    let mut said = result.error.clone().unwrap_or_else(|| "registered".to_owned());
    if let Some(days) = result.days_remaining {
        said = format!("{said}, {}", vedette_sdk::date::left(days));
    }
    if let Some(registrar) = &result.registrar {
        said = format!("{said}, registrar {registrar}");
    }
    format!("{}: {said}", result.domain)
}
