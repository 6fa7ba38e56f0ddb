//! RDAP: a whole run of the check, in which the bytes are the bootstrap file, if they can be, and
//! the registry's answer.

#![no_main]

use check_domain::{Config, Domain};
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, contract, host, plant};
use vedette_sdk::{Check, Job};

fuzz_target!(init: plant(seeds(), LONG, 256 << 10), |data: &[u8]| {
    let mut input = Input(data);
    let status = input.choose(&[200, 200, 200, 200, 404, 429, 403, 500]);
    let target = input.choose(&["example.com", "www.example.co.uk", "example.org"]);
    let headers = match input.line() {
        empty if empty.is_empty() => Vec::new(),
        value => vec![("retry-after".to_owned(), value)],
    };
    let body = input.rest().to_vec();
    let host = host::lonely();
    host.http(move |request| {
        // Whatever a registry may say, it says to a question about a name.
        let status = if request.url.contains("/domain/") { status } else { 200 };
        Ok(host::response(status, headers.clone(), &body))
    });
    let job = Job::new(target, Config::default());
    let seen = Domain::run(&host.cx(), job).expect("a registry is never the check's own trouble");
    contract::observed(&seen);
});

fn seeds() -> Vec<Vec<u8>> {
    let written = SEEDS.iter().map(|seed| [b"\0\0\n", seed.as_bytes()].concat());
    let refused = [
        b"\x04\0\n".to_vec(),
        b"\x05\0Thu, 01 Jan 2026 01:00:00 GMT\n".to_vec(),
        b"\x05\x0060\n".to_vec(),
    ];
    written.chain(refused).collect()
}

const SEEDS: &[&str] = &[
    r#"{"objectClassName":"domain","ldhName":"example.com","status":["client transfer prohibited","active"],"events":[{"eventAction":"registration","eventDate":"2000-01-01T00:00:00Z"},{"eventAction":"expiration","eventDate":"2030-01-01T00:00:00.5+01:00"}],"entities":[{"objectClassName":"entity","handle":"1","roles":["registrar"],"vcardArray":["vcard",[["version",{},"text","4.0"],["fn",{},"text","Example Registrar"]]],"entities":[{"roles":["abuse"]}]},{"roles":["registrant"],"vcardArray":["vcard",[["fn",{},"text",""],["org",{},"text",["Example","Unit"]],["adr",{},"text",["","","","","","","IS"]]]],"remarks":[{"title":"REDACTED FOR PRIVACY","type":"object redacted due to authorization","description":["x"]}],"status":["private"]}],"nameservers":[{"ldhName":"NS2.Example.Net."},{"ldhName":"ns1.example.net"}],"redacted":[{"name":{"type":"Registrant Name"},"prePath":"$.entities[?(@.roles[0]=='registrant')]","method":"removal"}]}"#,
    r#"{"ldhName":"example.com","events":{"eventAction":"registrar expiration","eventDate":"31/12/2030"},"entities":"x","nameservers":null,"status":"reserved"}"#,
    r#"{"errorCode":404,"title":"Not Found","description":["no such name"]}"#,
    r#"{"errorCode":"429"}"#,
    r#"{"objectClassName":"entity"}"#,
    "\u{feff}{\"handle\":7}",
    r#"{"version":"1.0","publication":"2026-01-01T00:00:00Z","services":[[["com","CO.UK","org."],["http://rdap.example/","https://rdap.example/v1/"]],[["x"],[]],null],"ldhName":"example.com","objectClassName":"domain"}"#,
    "<html>",
];

/// Documents that go on and on.
const LONG: &[(&str, &str)] = &[
    ("\0\0\n{\"ldhName\":\"example.com\",\"status\":[", "\"a\","),
    ("\0\0\n{\"ldhName\":\"example.com\",\"entities\":[", r#"{"roles":["registrar"],"entities":["#),
    ("\0\0\n{\"entities\":", "["),
    ("\0\0\n{\"entities\":", "{\"a\":"),
    ("\0\0\n{\"services\":[", r#"[["a"],["https://a.example/"]],"#),
    ("\0\0\n{\"services\":[[[", r#""com","#),
    ("\0\0\n{\"ldhName\":", "\"\\u00e9"),
    ("\0\0\n", " "),
    ("\0\0\n", "\u{fffd}"),
];
