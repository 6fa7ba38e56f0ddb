//! The built-in DNS check.
//!
//! A run asks for the seven types of the result at once, validated, together with what tells an
//! unsigned zone from an island; it asks again only where servers failed, where an alias leads
//! nowhere, and where addresses are meant to rotate. [`facts`] turns the answers into the result,
//! [`assess`] compares results over time. Everything besides the calls to the host is a pure
//! function over answers and results.
//!
//! *Invariant:* a name that does not resolve is a result with `error`; only our own trouble is a
//! `CheckError`.
//! *Invariant:* a type whose question failed stands in `failed_types` and never counts as empty.

use std::{net::IpAddr, time::Duration};

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, NoConfig, Observation,
    dns::{Question, Rr},
};

use alias::Chain;
use look::{Look, Outcome};
use record_type::RecordType;
pub use result::DnsResult;
use zone::Zone;

mod alias;
mod assess;
mod canonical;
mod digest;
mod events;
mod facts;
#[cfg(test)]
mod fixture;
#[doc(hidden)]
pub mod fuzz;
mod look;
mod presentation;
mod record_type;
pub mod result;
mod zone;

#[cfg(test)]
mod tests;

/// The check `dns`.
#[derive(Debug)]
pub struct Dns;

vedette_sdk::export_check!(Dns);

/// What a further round of questions may take: nothing is asked without it.
const ROUND: Duration = Duration::from_secs(8);
/// Addresses that live no longer (in seconds) may be handed out in turns.
const ROTATING_TTL: u32 = 60;

const LOOKUP: &str = "dns_lookup_seconds";

impl Check for Dns {
    type Config = NoConfig;
    type Facts = DnsResult;

    fn describe() -> Descriptor {
        Descriptor {
            id: "vedette.check-dns",
            version: env!("CARGO_PKG_VERSION"),
            title: "DNS records",
            // Which types these are is said by the result's schema: an edition may leave some out.
            description: "The DNS records of a name, by type, whether DNSSEC protects them, and \
                          what changes among them.",
            summary_fields: &["records", "dnssec", "error"],
            events: events::ALL,
            metrics: &[MetricDef {
                name: LOOKUP,
                unit: "seconds",
                help: "Duration of the slowest answer",
            }],
        }
    }

    fn run(cx: &Cx, job: Job<NoConfig>) -> Result<Observation<DnsResult>, CheckError> {
        let target = job.target.as_str();
        if target.parse::<IpAddr>().is_ok() {
            let message = "an IP address has no DNS records to check; give a name";
            return Err(CheckError::UnsupportedTarget(message.to_owned()));
        }
        let candidates = zone::candidates(target);
        let mut questions = look::questions(target);
        let own = questions.len();
        questions.extend(zone::questions(&candidates));
        let mut answers = cx.lookup_many(&questions);
        let about_zone = answers.split_off(own.min(answers.len()));
        let slowest = answers.iter().flatten().map(|answer| answer.elapsed_us).max();

        let mut looks = look::read(answers)?;
        looks.retain(|look| !job.omits(&format!("records/{}", look.rtype.name())));
        if cx.remaining() >= ROUND {
            look::again(cx, target, &mut looks);
        }
        let chain = follow(cx, target, &looks);
        let turns = turns(cx, target, &looks);
        let zone = Zone::new(&candidates, &about_zone);
        let result = facts::of(target, &looks, &chain, &zone, &turns);
        let summary = summary(&result);
        let observation = Observation::new(result, summary);
        Ok(match slowest {
            Some(micros) => observation.metric(LOOKUP, f64::from(micros) / 1e6),
            None => observation,
        })
    }

    fn assess(evidence: Evidence<NoConfig, DnsResult>) -> Assessment {
        assess::assess(evidence)
    }
}

/// The aliases of the target. If they lead to no address, a resolver that gives up on a loop only
/// says that there is none: then each link is asked for.
fn follow(cx: &Cx, target: &str, looks: &[Look]) -> Chain {
    let records = looks.iter().flat_map(|look| look.outcome.records());
    let mut chain = Chain::follow(target, records);
    let leads_on = |look: &Look| match &look.outcome {
        Outcome::Known { records, exists } => {
            !exists || records.iter().any(|rr| RecordType::parse(&rr.rrtype) == Some(look.rtype))
        }
        Outcome::Failed(_) => false,
    };
    let mut addresses = looks.iter().filter(|look| look.rtype.is_address());
    if chain.links() == 0 || addresses.any(leads_on) {
        return chain;
    }
    while !chain.endless && cx.remaining() >= ROUND {
        let asked = cx.lookup(&zone::plain(chain.end(), RecordType::Cname.name()));
        let Ok(answer) = asked else { break };
        let owner = chain.end().to_owned();
        let next = answer.records.iter().find(|rr| {
            RecordType::parse(&rr.rrtype) == Some(RecordType::Cname)
                && canonical::name(&rr.name) == owner
        });
        let Some(next) = next else { break };
        chain.extend(canonical::name(&next.data));
    }
    chain
}

/// The addresses that two further questions bring, where these differ from those of the first. Asked
/// only where the records live so briefly that somebody means them to differ.
fn turns(cx: &Cx, target: &str, looks: &[Look]) -> Vec<Vec<String>> {
    let mut known: Vec<(RecordType, Vec<String>)> = Vec::new();
    for look in looks.iter().filter(|look| look.rtype.is_address()) {
        let records = look.outcome.records();
        let lives = |rr: &&Rr| RecordType::parse(&rr.rrtype) == Some(look.rtype);
        let ttl = records.iter().filter(lives).map(|rr| rr.ttl).min();
        if ttl.is_some_and(|ttl| ttl <= ROTATING_TTL) {
            known.push((look.rtype, facts::addresses(target, look.rtype, records)));
        }
    }
    if known.is_empty() || cx.remaining() < ROUND {
        return Vec::new();
    }
    let twice = known.iter().chain(&known);
    let questions: Vec<Question> =
        twice.clone().map(|(rtype, _)| zone::plain(target, rtype.name())).collect();
    let answers = cx.lookup_many(&questions);
    let turns = twice.zip(answers).filter_map(|((rtype, first), answer)| {
        let answer = answer.ok().filter(|answer| answer.rcode == "NOERROR")?;
        let again = facts::addresses(target, *rtype, &answer.records);
        (!again.is_empty() && again != *first).then_some(again)
    });
    turns.collect()
}

/// `1 A, 2 MX, 2 NS, DNSSEC valid`.
fn summary(result: &DnsResult) -> String {
    if let Some(error) = &result.error {
        return error.clone();
    }
    let counted = result.records.iter().map(|set| format!("{} {}", set.values.len(), set.rtype));
    let mut parts: Vec<String> = counted.collect();
    if parts.is_empty() {
        parts.push("no records".to_owned());
    }
    if !result.failed_types.is_empty() {
        parts.push(format!("no answer for {}", result.failed_types.join(" ")));
    }
    match result.dnssec.map(|dnssec| (dnssec.enabled, dnssec.valid)) {
        Some((true, Some(true))) => parts.push("DNSSEC valid".to_owned()),
        Some((true, Some(false))) => parts.push("DNSSEC bogus".to_owned()),
        Some((true, None)) => parts.push("DNSSEC not verifiable".to_owned()),
        Some((false, _)) => parts.push("no DNSSEC".to_owned()),
        None => {}
    }
    parts.join(", ")
}
