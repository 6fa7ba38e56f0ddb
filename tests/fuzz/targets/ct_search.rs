//! Answers of crt.sh and of Cert Spotter: a whole run of the check, twice, since the second has a
//! ledger of the first.

#![no_main]

use check_ct::{Config, Ct};
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, contract, host, plant};
use vedette_sdk::{
    Check, Job,
    dns::{Answer, Dnssec, Rr},
    x509::Certificate,
};

fuzz_target!(init: plant(seeds(), LONG, 1 << 20), |data: &[u8]| {
    let mut input = Input(data);
    let source = input.choose(&SOURCES);
    let status = input.choose(&[200, 200, 200, 429, 500]);
    let target = input.choose(&["example.com", "www.example.com", "example.co.uk"]);
    let authorization = input.line();
    let body = input.rest().to_vec();

    let host = host::lonely();
    host.dns(move |question| {
        let record = Rr {
            name: question.name.clone(),
            rrtype: "CAA".to_owned(),
            ttl: 60,
            data: authorization.clone(),
        };
        Ok(Answer {
            rcode: "NOERROR".to_owned(),
            records: vec![record],
            dnssec: Dnssec::Insecure,
            dnssec_detail: None,
            server: "192.0.2.53:53".to_owned(),
            elapsed_us: 1,
        })
    });
    host.x509(|chain| Ok(host::examination(chain.certificates.iter().map(|der| read(der)).collect())));
    let headers = vec![("retry-after".to_owned(), "60".to_owned())];
    host.http(move |_| Ok(host::response(status, headers.clone(), &body)));
    for _ in 0..2 {
        let mut job = Job::new(target, Config::default());
        job.settings = source.to_owned();
        let seen = Ct::run(&host.cx(), job).expect("a source is never the check's own trouble");
        contract::observed(&seen);
    }
});

/// What the host may say of a certificate.
fn read(der: &[u8]) -> Certificate {
    let text = String::from_utf8_lossy(der).into_owned();
    Certificate { issuer: text.clone(), serial: text, ..host::certificate() }
}

const SOURCES: [&str; 2] = [
    r#"{"sources":[{"kind":"crtsh","url":"https://crt.example"}]}"#,
    r#"{"sources":[{"kind":"certspotter","url":"https://spotter.example"}]}"#,
];

fn seeds() -> Vec<Vec<u8>> {
    let rows = ROWS.iter().flat_map(|rows| {
        [0, 1].map(|source| {
            [&[source, 0, 0][..], b"0 issue \"ca.example; a=b\"\n", rows.as_bytes()].concat()
        })
    });
    rows.chain([b"\0\x03\0\n".to_vec(), b"\x01\x04\0\n".to_vec()]).collect()
}

const ROWS: &[&str] = &[
    r#"[{"issuer_ca_id":1,"issuer_name":"C=US, O=\"Let's Encrypt\", CN=R11","common_name":null,"name_value":"example.com\nWWW.example.com\nme@example.com","id":1,"entry_timestamp":"2025-12-01T10:00:00.123","not_before":"2025-12-01T09:00:00","not_after":"2026-03-01T08:59:59","serial_number":"00aB"},{"name_value":"*.example.com","serial_number":"01"}]"#,
    r#"[{"id":"1","tbs_sha256":"0000000000000000000000000000000000000000000000000000000000000000","cert_sha256":"ff","dns_names":["example.com","*.example.com"],"issuer":{"name":"C=US, O=A\\, B, CN=\\C3\\A9","friendly_name":"A"},"not_before":"2025-12-01T09:00:00Z","not_after":"9999-12-31T23:59:59Z","cert_der":"AAEC"},{"id":"a_b=","dns_names":["www.example.com"],"issuer":{}}]"#,
    "[]",
    "{}",
    "<html>",
];

/// Lists that go on and on.
const LONG: &[(&str, &str)] = &[
    ("\0\0\0\n[", "{},"),
    ("\0\0\0\n[", r#"{"name_value":"example.com"},"#),
    ("\0\0\0\n[{\"name_value\":\"", "a.example.com\\n"),
    ("\0\0\0\n[{\"issuer_name\":\"", "CN=\\\\,+\\\""),
    ("\0\0\0\n", "["),
    ("\0\0\0\n[", "{\"a\":"),
    ("\0\0\0\n", " "),
    ("\u{1}\0\0\n[", r#"{"id":"1","dns_names":["example.com"]},"#),
    ("\u{1}\0\0\n[{\"dns_names\":[", r#""example.com","#),
    ("\u{1}\0\0\n[{\"id\":\"1\",\"dns_names\":[\"example.com\"],\"cert_der\":\"", "AAAA"),
];
