//! The built-in check of certificate transparency: which certificates exist for a domain, and is
//! there one that nobody expected?
//!
//! A run asks the operator's [`source`]s until one answers, puts the answer together with what the
//! [`ledger`] kept of earlier runs, looks up CAA for issuers that were not there from the first run
//! on, and makes the [`inventory`] its result. [`assess`] turns results into findings: it alone
//! knows the certificate that the site serves and what was accepted over time, so a certificate
//! that the result calls unexpected may still raise nothing.
//!
//! *Invariant:* a source that is away is a result with `error`; only our own trouble is a
//! `CheckError`.
//! *Invariant:* everything that a source sends is bounded before it is kept, and read in linear
//! time.

use std::{net::IpAddr, time::Duration};

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, Observation, suffix,
};

pub use config::Config;
use inventory::Inventory;
use ledger::Ledger;
pub use result::CtResult;

mod array;
mod assess;
mod authority;
mod caa;
mod certificate;
pub mod config;
mod date;
mod digest;
mod events;
#[cfg(test)]
mod fixture;
mod identity;
mod inventory;
mod issuer;
mod key;
mod ledger;
mod name;
pub mod result;
mod source;

#[cfg(test)]
mod tests;

/// The check `ct`.
#[derive(Debug)]
pub struct Ct;

vedette_sdk::export_check!(Ct);

const CERTIFICATES: &str = "ct_certificates";
const UNEXPECTED: &str = "ct_unexpected_certificates";

/// A source that has more to tell is asked again after this.
const SOON: Duration = Duration::from_secs(60);

impl Check for Ct {
    type Config = Config;
    type Facts = CtResult;

    fn describe() -> Descriptor {
        Descriptor {
            id: "vedette.check-ct",
            version: env!("CARGO_PKG_VERSION"),
            title: "Certificate transparency",
            description: "Certificates that public logs know for the domain and the names below \
                          it, and whether one of them is unexpected: not served, not from an \
                          issuer of the site, not permitted by CAA.",
            summary_fields: &["total", "new_count", "unexpected_count", "error"],
            events: events::ALL,
            metrics: &[
                MetricDef {
                    name: CERTIFICATES,
                    unit: "1",
                    help: "Unexpired certificates for the domain and names below it",
                },
                MetricDef {
                    name: UNEXPECTED,
                    unit: "1",
                    help: "Unexpired certificates that neither the first run nor CAA explains",
                },
            ],
        }
    }

    fn run(cx: &Cx, job: Job<Config>) -> Result<Observation<CtResult>, CheckError> {
        let domain = watchable(&job.target)?;
        let sources = config::sources(&job)?;
        let mut ledger = Ledger::load(cx, domain);
        let told = match source::ask(cx, &sources, domain, ledger.positions())? {
            Ok(told) => told,
            Err(token) => return Ok(Observation::new(CtResult::failed(domain, token), token)),
        };
        let (kind, has_more) = (told.source.kind.as_str(), told.answer.has_more);
        let inventory = Inventory::take(cx, domain, told, &sources, &mut ledger);
        let mut observation = observe(inventory.into_result(domain, kind));
        observation.next_run_in = has_more.then_some(SOON);
        Ok(observation)
    }

    fn assess(evidence: Evidence<Config, CtResult>) -> Assessment {
        assess::assess(evidence)
    }
}

/// Below a public suffix everybody's certificates would be watched.
fn watchable(target: &str) -> Result<&str, CheckError> {
    if target.parse::<IpAddr>().is_ok() {
        let reason = "certificate transparency is searched by domain, not by address";
        return Err(CheckError::UnsupportedTarget(reason.to_owned()));
    }
    match suffix::registrable(target) {
        Some(_) => Ok(target),
        None => Err(CheckError::UnsupportedTarget(format!(
            "{target} is a public suffix: the names below it belong to others"
        ))),
    }
}

fn observe(result: CtResult) -> Observation<CtResult> {
    let CtResult { total, new_count, unexpected_count, .. } = result;
    let plural = if total == 1 { "" } else { "s" };
    let summary =
        format!("{total} certificate{plural}, {new_count} new, {unexpected_count} unexpected");
    Observation::new(result, summary)
        .metric(CERTIFICATES, total as f64)
        .metric(UNEXPECTED, unexpected_count as f64)
}
