//! Verdicts of all checks over results that an agent or a client made up, over whatever was kept of
//! earlier ones, and over results of other checks: one line of JSON each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, contract, plant};
use vedette_sdk::{Check, Evidence, Settled};

fuzz_target!(init: plant(seeds(), &[], 0), |data: &[u8]| {
    let mut input = Input(data);
    match input.byte() % 5 {
        0 => judge::<check_ct::Ct>(input),
        1 => judge::<check_dns::Dns>(input),
        2 => judge::<check_domain::Domain>(input),
        3 => judge::<check_ssl::Ssl>(input),
        _ => judge::<check_uptime::Uptime>(input),
    }
});

/// Two assessments in a row: the second remembers the first.
fn judge<C: Check>(mut input: Input<'_>) {
    let alert_days = u16::from(input.byte());
    let age = i64::from(input.number()) * 3_600;
    let [current, settled, memory, sibling, config] = [(); 5].map(|()| input.line());
    let config = if config.is_empty() { "{}" } else { config.as_str() };
    let (Some(facts), Ok(_)) = (read::<C>(&current), serde_json::from_str::<C::Config>(config))
    else {
        return;
    };
    let mut evidence = Evidence {
        current: facts,
        current_at: NOW,
        settled: read::<C>(&settled).map(|facts| Settled { facts, at: NOW - age }),
        siblings: ["ssl", "dns", "domain", "ct"]
            .map(|check| (check.to_owned(), sibling.clone()))
            .into(),
        config: serde_json::from_str(config).expect("it was read before"),
        alert_days,
        memory: Some(memory).filter(|memory| !memory.is_empty()),
    };
    let Some(again) = read::<C>(&settled).or_else(|| read::<C>(&current)) else { return };
    let kept = read::<C>(&current).map(|facts| Settled { facts, at: NOW });
    let first = C::assess(evidence);
    contract::assessed::<C>(&first);

    evidence = Evidence {
        current: again,
        current_at: NOW + age,
        settled: kept,
        siblings: vec![("ssl".to_owned(), sibling)],
        config: serde_json::from_str(config).expect("it was read before"),
        alert_days,
        memory: first.memory,
    };
    contract::assessed::<C>(&C::assess(evidence));
}

fn read<C: Check>(text: &str) -> Option<C::Facts> {
    serde_json::from_str(text).ok()
}

/// 2026-01-01.
const NOW: i64 = 1_767_225_600;

fn seeds() -> Vec<Vec<u8>> {
    let pairs = RESULTS.iter().flat_map(|(check, ok, bad, memory)| {
        [(ok, bad), (bad, ok), (bad, bad)].map(|(current, settled)| {
            let sibling = r#"{"chain":[{"fingerprint":"aa","serial_number":"01","issuer":"CN=R11"}],"domain":"example.com"}"#;
            let lines = [current, settled, memory, sibling].join("\n");
            [&[*check, 30, 0, 24][..], lines.as_bytes()].concat()
        })
    });
    let empty = (0..5).map(|check| {
        [&[check, 30, 0, 24][..], b"{\"status\":\"down\",\"valid\":false}\n{}\n{}\n{}"].concat()
    });
    let repeated = RESULTS.iter().flat_map(|(check, ..)| {
        ["names", "san", "values", "chain"].map(|list| {
            let items = "\"a.example.com\",".repeat(60);
            let line = format!("{{\"{list}\":[{items}\"b\"]}}");
            [&[*check, 30, 0, 24][..], format!("{line}\n{line}").as_bytes()].concat()
        })
    });
    pairs.chain(empty).chain(repeated).collect()
}

type Seed = (u8, &'static str, &'static str, &'static str);

const RESULTS: &[Seed] = &[
    (
        0,
        r#"{"domain":"example.com","certificates":[{"issuer":"R11","issuer_org":"Lets Encrypt","san":["example.com"],"serial_number":"01","not_before":"2025-12-01T00:00:00Z","not_after":"2026-03-01T00:00:00Z","logged_at":"2025-12-01T00:00:00Z","fingerprint":"aa","tbs_sha256":"bb","expected":false,"caa":"forbids"}],"total":1,"new_count":1,"unexpected_count":1,"source":"crtsh","error":null}"#,
        r#"{"domain":"example.com","certificates":[],"total":0,"error":"ct_source_unavailable"}"#,
        r#"{"baseline":"pending"}"#,
    ),
    (
        1,
        r#"{"domain":"example.com","records":[{"type":"A","values":["192.0.2.1","192.0.2.2"]},{"type":"MX","values":["10 mail.example.com"]},{"type":"NS","values":["ns1.example.net"]}],"failed_types":["TXT"],"rotating":false,"dnssec":{"enabled":true,"valid":true},"error":null}"#,
        r#"{"domain":"example.com","records":[{"type":"a","values":["192.0.2.9","x"]},{"type":"TXT","values":["v=spf1 -all"]}],"rotating":true,"dnssec":{"enabled":true,"valid":false},"error":"dnssec_bogus"}"#,
        "{}",
    ),
    (
        2,
        r#"{"domain":"example.com","registrar":"A","expires_at":"2026-01-20T00:00:00Z","days_remaining":19,"name_servers":["ns1.example.net"],"privacy_protected":true,"status":["clientTransferProhibited"],"data_availability":"full","error":null}"#,
        r#"{"domain":"example.com","registrar":"B","expires_at":"2025-12-20T00:00:00Z","days_remaining":-12,"name_servers":["ns2.example.org"],"status":["redemptionPeriod","pendingDelete"],"error":"not_registered"}"#,
        "{}",
    ),
    (
        3,
        r#"{"valid":true,"domain":"example.com","issuer":"CN=R11,O=Let's Encrypt","issuer_org":"Let's Encrypt","valid_from":"2025-12-01T00:00:00Z","valid_to":"2026-01-10T00:00:00Z","expires_at":"2026-01-10T00:00:00Z","days_remaining":9,"san":["example.com"],"chain":[{"subject":"CN=example.com","issuer":"CN=R11","serial_number":"01","fingerprint":"aa","valid_to":"2026-01-10T00:00:00Z","days_remaining":9,"key_type":"RSA","key_bits":2048,"in_trust_path":true}],"chain_complete":true,"protocol_version":"TLSv1.3","tls_grade":"A+","hsts":{"enabled":true,"max_age":1e300},"error":null}"#,
        r#"{"valid":false,"domain":"example.com","issuer":"CN=Other","expires_at":"2025-12-10T00:00:00Z","days_remaining":-22,"chain":[{"fingerprint":"bb","issuer":"CN=Other","days_remaining":1e30}],"chain_error":"x","error":"certificate_expired"}"#,
        r#"{"leaves":[{"fingerprint":"cc","issuer":"CN=R10"}]}"#,
    ),
    (
        4,
        r#"{"status":"up","status_code":200,"response_time_ms":12.5,"ttfb_ms":3,"keyword_match":true,"error":null,"url":"https://example.com/","final_url":"https://example.com/x","redirects":1,"phases":{"dns_ms":1,"connect_ms":1,"tls_ms":1,"first_byte_ms":1,"transfer_ms":1}}"#,
        r#"{"status":"down","status_code":503,"response_time_ms":1e300,"error":"unexpected_status","failed_url":"https://other.example:8443/x?y"}"#,
        r#"{"down_since":-9223372036854775808}"#,
    ),
];
