//! Short texts that strangers choose, each read by all that read short texts: dates, header
//! values, names, status codes, settings, and records of the DNS, alone and in a whole run.

#![no_main]

use check_dns::Dns;
use check_uptime::{Config, Uptime, expected::Expected};
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, contract, host, plant};
use vedette_sdk::{
    Check, Job, NoConfig,
    dns::{Answer, Dnssec, Rr},
};

fuzz_target!(init: plant(seeds(), LONG, 64 << 10), |data: &[u8]| {
    let mut input = Input(data);
    let state = input.choose(&[Dnssec::Insecure, Dnssec::Secure, Dnssec::Bogus, Dnssec::Indeterminate]);
    let code = input.choose(&["NOERROR", "NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED"]);
    let text = String::from_utf8_lossy(input.rest());
    check_domain::fuzz::date(&text);
    check_ssl::fuzz::hsts(&text);
    check_ssl::fuzz::distinguished_name(&text);
    if let Ok(expected) = text.parse::<Expected>() {
        assert_eq!(expected.to_string().parse(), Ok(expected));
    }
    if let Ok(config) = serde_json::from_str::<Config>(&text) {
        let _ = Uptime::validate("example.com", config);
    }
    let data: Vec<&str> = text.lines().collect();
    for [once, again] in check_dns::fuzz::record_sets(&data) {
        assert_eq!(once, again, "a canonical set stays what it is");
    }
    look_up(&data, state, code);
});

/// A run in which every line is a record of every type, owned by the line before it.
fn look_up(lines: &[&str], dnssec: Dnssec, code: &'static str) {
    let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let host = host::lonely();
    host.dns(move |question| {
        let owners = std::iter::once(&question.name).chain(&lines);
        let record = |(owner, data): (&String, &String)| Rr {
            name: owner.clone(),
            rrtype: if data.len() % 3 == 0 { "CNAME".to_owned() } else { question.rrtype.clone() },
            ttl: data.len() as u32,
            data: data.clone(),
        };
        Ok(Answer {
            rcode: code.to_owned(),
            records: owners.zip(&lines).map(record).collect(),
            dnssec,
            dnssec_detail: None,
            server: "192.0.2.53:53".to_owned(),
            elapsed_us: 1,
        })
    });
    if let Ok(seen) = Dns::run(&host.cx(), Job::new("www.example.com", NoConfig {})) {
        contract::observed(&seen);
    }
}

fn seeds() -> Vec<Vec<u8>> {
    TEXTS.iter().map(|text| [b"\0\0", text.as_bytes()].concat()).collect()
}

const TEXTS: &[&str] = &[
    "2031-02-21T19:24:57.123+01:00",
    "05-Dec-2030",
    "30th April 2003 at 00:04:00.000",
    "2000. 01. 02.",
    "20300518",
    "Mon, 15 Mar 2029 19:28:23 GMT",
    "13/04/2025 12:30 PM (JST)",
    "before Aug-1996",
    "2029年10月1日",
    "0000-00-00",
    "(dd/mm/yyyy) 01.02.2003",
    "1.2.3.4.5.6.7.8.9",
    "99999999999999999999",
    "Feb 29 2023 24:00:60 UTC+14",
    "max-age=31536000; includeSubDomains; preload",
    "max-age=\"\\1\" ; ;; x=y",
    "max-age=99999999999999999999",
    "CN=Acme \\2B Sons\\, Ltd.+SERIALNUMBER=7,OU=Caf\\C3\\A9,O=,C=US",
    "cn=\\",
    "200",
    "200-299",
    "100-099",
    "{\"path\":\"/?a\",\"scheme\":\"http\",\"expected_status\":[401,\"200-299\"],\"keyword\":\"é\",\"degraded_ms\":1,\"timeout_ms\":500}",
    "192.0.2.1\n2001:DB8::1\n::ffff:192.0.2.1",
    "10 mail.example.com.\n010  .\n65536 x",
    "\"v=spf1 \" \"-all\\000\\255\"\n\"\\",
    "0 issue \"ca.example; a=b\"\n128 ISSUEWILD ;\n256 iodef \"",
    "cdn.example.net.\nWWW.example.com",
    "www.example.com",
    "a.example\nb.example\nc.example\nd.example\ne.example\nf.example\ng.example\nh.example\ni.example\n",
];

/// Texts that go on and on.
const LONG: &[(&str, &str)] = &[
    ("\0\0", "1/"),
    ("\0\0", "Jan "),
    ("\0\0", "12:"),
    ("\0\0max-age=1", ";a"),
    ("\0\0a=\"", "\\a"),
    ("\0\0", "CN=\\,"),
    ("\0\0", "\\000"),
    ("\0\0\"", "\u{7}"),
    ("\0\0", "a\n"),
    ("\0\0", "1 a.example\n"),
    ("\0\0{\"expected_status\":[", "200,"),
];
