//! Entries of `[capabilities]` that no call could ever use.
//!
//! They would be asked for, granted and linked like any other, and each run would learn anew that
//! its call is not permitted. So the author is told at the gate.
//!
//! *Invariant:* what some call can use is not refused: `tls` with no place to connect to, for one,
//! still lets certificates be examined.

use toml::Table;

use super::{ManifestError, require};
use crate::{egress::sendable, grants::Capabilities, probes::dns};

/// Holds what is `asked` against what there is to ask for. `written` is the whole `plugin.toml`: a
/// list that names a setting of the operator's may well be empty once it is filled in.
pub(super) fn check(asked: &Capabilities, written: &Table) -> Result<(), ManifestError> {
    for (field, capability, list) in LISTS {
        let capabilities = written.get("capabilities");
        let entries = capabilities.and_then(|all| all.get(capability)?.get(list)?.as_array());
        let reason = "must name at least one; to ask for none, leave the capability out";
        require(entries.is_none_or(|entries| !entries.is_empty()), field, reason)?;
    }
    for rrtype in asked.dns.iter().flat_map(|dns| &dns.types) {
        let reason = format!(
            "must be types of records in upper case, such as A, MX or TYPE65, and not {rrtype:?}"
        );
        require(is_record_type(rrtype), "capabilities.dns.types", &reason)?;
    }
    for method in asked.http.iter().flat_map(|http| &http.methods) {
        let reason = format!(
            "must be methods in upper case, such as GET, other than CONNECT and TRACE, and not \
             {method:?}"
        );
        require(is_method(method), "capabilities.http.methods", &reason)?;
    }
    for name in &asked.secrets {
        let reason = format!(
            "must be names, such as api-token, without blanks or controls, and not {name:?}"
        );
        require(is_name(name), "capabilities.secrets", &reason)?;
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

/// It is shown to whoever decides whether the plugin may run, as a version is.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic())
}

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
        Manifest::parse(&text, &Settings::new()).err().map(|error| error.to_string())
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
}
