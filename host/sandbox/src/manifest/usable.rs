//! Entries of `[capabilities]` that no call could ever use, and a schedule that contradicts itself.
//!
//! They would be asked for, granted and linked like any other, and each run would learn anew that
//! its call is not permitted. So the author is told when a version is to be installed.
//!
//! *Invariant:* what some call can use is not refused: `tls` with no place to connect to, for one,
//! still lets certificates be examined.

use toml::Table;

use super::{Manifest, ManifestError, require};
use crate::{egress::sendable, grants::Capabilities, mistake, probes::dns};

/// Holds what is asked for against what there is to ask for. `text` is the whole `plugin.toml`: a
/// list that names a setting of the operator's may well be empty once it is filled in.
pub(super) fn check(manifest: &Manifest, text: &str) -> Result<(), ManifestError> {
    let Manifest { asked, interval, min_interval, .. } = manifest;
    let written: Table =
        toml::from_str(text).map_err(|error| ManifestError::Syntax(mistake::told(text, &error)))?;
    for (field, capability, list) in LISTS {
        let capabilities = written.get("capabilities");
        let entries = capabilities.and_then(|all| all.get(capability)?.get(list)?.as_array());
        let reason = "must name at least one; to ask for none, leave the capability out";
        require(entries.is_none_or(|entries| !entries.is_empty()), field, reason)?;
    }
    each(types(asked), TYPES, is_record_type)?;
    each(methods(asked), METHODS, is_method)?;
    let kept = interval.zip(*min_interval).is_none_or(|(regular, soonest)| soonest <= regular);
    require(kept, "schedule.min-interval", "must not be longer than schedule.interval")
}

/// Refuses what may look like something else to the person who decides whether the plugin may run.
pub(super) fn shown(asked: &Capabilities) -> Result<(), ManifestError> {
    each(types(asked), TYPES, is_name)?;
    each(methods(asked), METHODS, is_name)?;
    each(&asked.secrets, SECRETS, is_name)
}

fn types(asked: &Capabilities) -> impl Iterator<Item = &String> {
    asked.dns.iter().flat_map(|dns| &dns.types)
}

fn methods(asked: &Capabilities) -> impl Iterator<Item = &String> {
    asked.http.iter().flat_map(|http| &http.methods)
}

fn each<'a>(
    entries: impl IntoIterator<Item = &'a String>,
    (field, wanted): (&'static str, &str),
    fits: impl Fn(&str) -> bool,
) -> Result<(), ManifestError> {
    for entry in entries {
        require(fits(entry), field, &format!("must be {wanted}, and not {entry:?}"))?;
    }
    Ok(())
}

/// What the probe looks up, in the case that grants are compared in.
fn is_record_type(text: &str) -> bool {
    dns::record_type(text).is_ok() && !text.bytes().any(|b| b.is_ascii_lowercase())
}

fn is_method(text: &str) -> bool {
    sendable(text, &[]).is_ok() && !text.bytes().any(|b| b.is_ascii_lowercase())
}

/// As a version is, in any script.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic())
}

/// Fields, and what their entries must be.
const TYPES: (&str, &str) =
    ("capabilities.dns.types", "types of records in upper case, such as A, MX or TYPE65");
const METHODS: (&str, &str) = (
    "capabilities.http.methods",
    "methods in upper case, such as GET, other than CONNECT and TRACE",
);
const SECRETS: (&str, &str) =
    ("capabilities.secrets", "names, such as api-token, without blanks or controls");
/// Field, capability and list that a call needs an entry of.
const LISTS: [(&str, &str, &str); 5] = [
    ("capabilities.dns.names", "dns", "names"),
    ("capabilities.dns.types", "dns", "types"),
    ("capabilities.tcp.to", "tcp", "to"),
    ("capabilities.http.to", "http", "to"),
    ("capabilities.http.methods", "http", "methods"),
];

#[cfg(test)]
mod tests {
    use crate::manifest::{Manifest, Settings};

    const PLUGIN: &str = "[plugin]\nid = \"acme.x\"\nversion = \"1\"\nkind = \"check\"\n\
                          check-type = \"x\"\nwit = \"vedette:plugin@1\"\n[capabilities]\n";

    fn refusal(capabilities: &str) -> Option<String> {
        let text = format!("{PLUGIN}{capabilities}\n");
        let read = Manifest::parse(&text, &Settings::new());
        read.and_then(|manifest| manifest.usable(&text)).err().map(|error| error.to_string())
    }

    fn dns(types: &str) -> String {
        format!("dns = {{ names = [\"target\"], types = [{types}] }}")
    }

    fn http(methods: &str) -> String {
        format!("http = {{ to = [\"target\"], methods = [{methods}] }}")
    }

    #[test]
    fn what_no_call_could_use_is_refused_by_name() {
        for (capabilities, field, named) in [
            (dns("\"A\", \"ANY\""), "dns.types", "\"ANY\""),
            (dns("\"AXFR\""), "dns.types", "\"AXFR\""),
            (dns("\"FOO\""), "dns.types", "TYPE65, and not \"FOO\""),
            (dns("\"caa\""), "dns.types", "in upper case"),
            (dns("\"type65\""), "dns.types", "\"type65\""),
            (dns("\"TYPE255\""), "dns.types", "\"TYPE255\""),
            (dns("\"TYPE70000\""), "dns.types", "\"TYPE70000\""),
            (dns("\"*\""), "dns.types", "\"*\""),
            (dns("\"\""), "dns.types", "\"\""),
            (dns(""), "dns.types", "at least one"),
            ("dns = { names = [], types = [\"A\"] }".to_owned(), "dns.names", "at least one"),
            (http("\"GET\", \"CONNECT\""), "http.methods", "\"CONNECT\""),
            (http("\"TRACE\""), "http.methods", "other than CONNECT and TRACE"),
            (http("\"get\""), "http.methods", "in upper case"),
            (http("\"GET \""), "http.methods", "\"GET \""),
            (http("\"\""), "http.methods", "\"\""),
            (http(""), "http.methods", "at least one"),
            ("http = { to = [] }".to_owned(), "http.to", "at least one"),
            ("tcp = { to = [] }".to_owned(), "tcp.to", "leave the capability out"),
            ("secrets = [\"\"]".to_owned(), "secrets", "such as api-token"),
            ("secrets = [\"token\", \"a b\"]".to_owned(), "secrets", "\"a b\""),
            ("secrets = [\"a\\nb\"]".to_owned(), "secrets", "\"a\\nb\""),
        ] {
            let refusal = refusal(&capabilities).expect(&capabilities);
            let begin = format!("plugin.toml: capabilities.{field} must ");
            assert!(refusal.starts_with(&begin), "{capabilities}: {refusal}");
            assert!(refusal.contains(named), "{capabilities}: {refusal}");
        }
    }

    #[test]
    fn what_a_call_can_use_is_not() {
        for capabilities in [
            "",
            &dns(
                "\"A\", \"AAAA\", \"CNAME\", \"MX\", \"TXT\", \"CAA\", \"NS\", \"DNSKEY\", \"DS\"",
            ),
            &dns("\"SOA\", \"SRV\", \"TLSA\", \"HTTPS\", \"TYPE65\", \"TYPE65280\", \"NULL\""),
            &http("\"GET\", \"HEAD\", \"POST\", \"OPTIONS\", \"PROPFIND\", \"M-SEARCH\""),
            "http = { to = [\"{sources}\"] }",
            "tcp = { to = [\"{whois_root}\"] }",
            "tls = { to = [], aia = true }",
            "secrets = [\"api-token\", \"API_TOKEN\", \"acme/schlüssel.1\"]",
            "secrets = []",
        ] {
            assert_eq!(refusal(capabilities), None, "{capabilities}");
        }
    }

    #[test]
    fn what_is_of_no_use_keeps_nothing_from_being_loaded() {
        for asked in [
            dns("\"A\", \"ANY\""),
            http("\"GET\", \"get\""),
            "[schedule]\ninterval = \"59s\"\nmin-interval = \"1m\"".to_owned(),
        ] {
            let text = format!("{PLUGIN}{asked}\n");
            let manifest = Manifest::parse(&text, &Settings::new()).expect(&asked);
            assert!(manifest.usable(&text).is_err(), "{asked}");
        }
    }

    #[test]
    fn runs_may_follow_one_another_as_soon_as_they_are_asked_for() {
        let with = |interval: &str| {
            refusal(&format!("[schedule]\ninterval = \"{interval}\"\nmin-interval = \"1m\""))
        };
        assert_eq!(with("60s"), None);
        let refusal = with("59s").expect("refused");
        let expected = "plugin.toml: schedule.min-interval must not be longer than";
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}
