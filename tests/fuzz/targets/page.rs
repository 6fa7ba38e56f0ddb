//! Pages of strangers in whatever encoding: the scan for plain-http references and the search for a
//! keyword.

#![no_main]

use check_ssl::fuzz;
use check_uptime::{Config, Uptime};
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, contract, host, plant};
use vedette_sdk::{Check, Job};

fuzz_target!(init: plant(seeds(), LONG, 1 << 20), |data: &[u8]| {
    let mut input = Input(data);
    let url = input.choose(&["https://example.com/a/b?c", "https://[::1]:8443/", "http://example.com/"]);
    let mut headers = vec![("content-type".to_owned(), input.line())];
    let policy = input.line();
    if !policy.is_empty() {
        headers.push(("content-security-policy".to_owned(), policy));
    }
    let body = input.rest();
    fuzz::page(url, &headers, body);

    let body = body.to_vec();
    let host = host::lonely();
    host.http(move |_| Ok(host::response(200, headers.clone(), &body)));
    let config = Config { keyword: Some("é<".to_owned()), ..Config::default() };
    let seen = Uptime::run(&host.cx(), Job::new("example.com", config));
    let seen = seen.expect("a page is an answer");
    assert!(seen.facts.keyword_match.is_some());
    contract::observed(&seen);
});

fn seeds() -> Vec<Vec<u8>> {
    let typed = |kind: &str, body: &[u8]| [b"\0", kind.as_bytes(), b"\n\n", body].concat();
    let plain = PAGES.iter().flat_map(|page| {
        ["text/html; charset=utf-8", "", "application/xhtml+xml"]
            .map(|kind| typed(kind, page.as_bytes()))
    });
    let encoded = [
        typed("text/html; charset=utf-16be", b"\0<\0i\0m\0g\0>"),
        typed("text/html", b"\xff\xfe<\0p\0>\0"),
        typed("text/html; charset=iso-2022-jp", b"\x1b$B%F\x1b(B<img src=http://x/>"),
        typed("text/html; charset=gb18030", b"\x81\x30\x81\x30<a>"),
        typed("text/html", b"<meta charset=windows-1251>\xe9"),
        typed("text/html", b"<?xml version='1.0' encoding = 'shift_jis'?>\x83\x5c"),
        b"\0text/html\ndefault-src 'self', upgrade-insecure-requests\n<p>".to_vec(),
    ];
    plain.chain(encoded).collect()
}

const PAGES: &[&str] = &[
    "<!doctype html><html><head><base href='http://b.example/x/'><link rel=stylesheet href=a.css>\
     <link rel='icon preload' as=script href=//c.example/i><meta http-equiv=refresh content='0;url=http://d.example'>\
     <style>@import url(http://e.example/); a{background:url( \"http://f.example/\\66\" )} /* http: */</style></head>",
    "<body background=http://a.example/><img srcset='http://b.example/1 1x, c 2x' src=http://c.example/>\
     <script src='HTTP:\t//d.example/'></script><iframe src=http://e.example/ srcdoc='&lt;img src=http://x&gt;'></iframe>\
     <form action=http://f.example/><button formaction=http://g.example/></form><object data=http://h.example/></object>",
    "<video poster=http://a.example/><source src=http://b.example/><track src=http://c.example/></video>\
     <picture><source srcset=http://d.example/></picture><template><img src=http://e.example/></template>\
     <svg><image xlink:href='http://f.example/'/><use href=http://g.example/#x /></svg>",
    "<div style='background:image-set(url(http://a.example/) 1x, \"http://b.example/\" 2x)'>&amp;&#x68;ttp\
     <textarea><img src=http://c.example/></textarea><title><script></title><noscript><img src=http://d.example/></noscript>",
    "<meta http-equiv='Content-Security-Policy' content='upgrade-insecure-requests'><img src=http://a.example/>",
    "<![CDATA[<img src=http://a.example/>]]><?php ?><!-- <img src=http://b.example/> --!><plaintext><p>",
];

/// What makes scanners slow.
const LONG: &[(&str, &str)] = &[
    (HEAD, "<"),
    (HEAD, "<a "),
    (HEAD, "<img src=http://a.example/>"),
    (HEAD, "<!--"),
    (HEAD, "<!-- -"),
    (HEAD, "&"),
    (HEAD, "&amp"),
    (HEAD, "<style>@import "),
    (HEAD, "<style>url("),
    (HEAD, "<style>/*"),
    (HEAD, "<style>\"\\"),
    (HEAD, "<template>"),
    (HEAD, "</template>"),
    (HEAD, "<video>"),
    (HEAD, "<base href=a/b/>"),
    (HEAD, "a=\"b\" "),
    (HEAD, "<img srcset='a 1x, "),
    (HEAD, ","),
    (HEAD, "<p style='a:url("),
    (HEAD, "<script><!--<script>"),
    (HEAD, "<textarea></"),
    (HEAD, "]]>"),
    (HEAD, "<svg><style>"),
    (HEAD, "<meta charset="),
    (HEAD, "<iframe srcdoc='<iframe srcdoc="),
    (HEAD, "<img src='http:\n\t//"),
];

const HEAD: &str = "\0text/html\n\n<!doctype html>";
