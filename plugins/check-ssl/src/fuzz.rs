//! The doors of the fuzz targets (`tests/fuzz`): parsers that bytes alone should reach.
//!
//! They are compiled with everything else, so that they cannot go stale unnoticed; no code of the
//! plugin calls them, and a component exports nothing of them.

use std::{hint::black_box, time::Duration};

use url::Url;
use vedette_sdk::{Cx, dn, net::Endpoint, tls::Starttls, x509::Examination};

use crate::{
    grade::{self, Evidence},
    hello::{Answers, Hello, Prober},
    hsts,
    mixed_content::{self, Page},
    result::{Hsts, SslResult},
};

/// Sends every hello, reads what comes back, and grades it together with a chain.
pub fn hellos(
    cx: &Cx,
    starttls: Option<Starttls>,
    negotiated: Option<(u16, u16)>,
    seen: &Examination,
) {
    let endpoint = Endpoint { host: "example.com".to_owned(), port: 443, connect_to: None };
    let prober = Prober::new(cx, &endpoint, starttls, Duration::from_secs(10));
    let mut answers = Answers::default();
    answers.add(&Hello::ALL, prober.ask(&Hello::ALL));
    black_box((answers.newest(), answers.with_chain(), answers.staple_for(b"leaf")));
    let (result, hsts) = (SslResult::default(), Hsts::default());
    let evidence =
        Evidence { negotiated, answers: &answers, seen, result: &result, hsts: Some(&hsts) };
    black_box(grade::of(&evidence));
}

/// Reads a `Strict-Transport-Security` header.
pub fn hsts(value: &str) {
    black_box(hsts::policy(&[("strict-transport-security".to_owned(), value.to_owned())]));
}

/// Looks for plain-http references in a page.
pub fn page(url: &str, headers: &[(String, String)], body: &[u8]) {
    if let Ok(url) = Url::parse(url) {
        black_box(mixed_content::scan(&Page { url: &url, headers, body }));
    }
}

/// Reads a distinguished name.
pub fn distinguished_name(text: &str) {
    black_box(dn::Name::read(text).label().len());
}
