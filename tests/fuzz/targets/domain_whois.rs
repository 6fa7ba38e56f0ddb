//! WHOIS answers. The first line is the name that was asked for, the rest what a server said: a
//! registry, a registrar or the root.

#![no_main]

use check_domain::fuzz;
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, plant};

fuzz_target!(init: plant(seeds(), LONG, 256 << 10), |data: &[u8]| {
    let mut input = Input(data);
    let name = input.line();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._".contains(&b);
    let name = if name.bytes().all(plain) { name.as_str() } else { "example.com" };
    let tld = name.rsplit('.').next().unwrap_or_default();
    let answer = input.rest();
    fuzz::whois(answer, name, tld);
    fuzz::root(&String::from_utf8_lossy(answer));
});

fn seeds() -> Vec<Vec<u8>> {
    let written = SEEDS.iter().map(|seed| seed.as_bytes().to_vec());
    let encoded = [
        b"example.jp\n[Domain Name] EXAMPLE.JP\n\x1b$BEPO?\x1b(B 2030/09/30\n".to_vec(),
        b"example.kr\n\xb5\xee\xb7\xcf\xc0\xce : x\nDomain Name : example.kr\n".to_vec(),
    ];
    written.chain(encoded).collect()
}

const SEEDS: &[&str] = &[
    "example.com\n   Domain Name: EXAMPLE.COM\r\n   Registrar WHOIS Server: whois.registrar.example:43\r\n   \
     Updated Date: 2025-03-31T07:36:34Z\r\n   Creation Date: 2013-02-21T19:24:57Z\r\n   \
     Registry Expiry Date: 2031-02-21T19:24:57Z\r\n   Registrar: Registrar Example, LLC\r\n   \
     Domain Status: clientHold https://icann.org/epp#clientHold\r\n   Name Server: NS1.EXAMPLE.NET\r\n",
    "example.com\nDomain Name: example.com\nRegistrant Name: REDACTED FOR PRIVACY\nRegistrant Email: x@example.com\n\
     Registrar Registration Expiration Date: 13/09/2028\n",
    "example.co.uk\n    Domain name:\r\n        example.co.uk\r\n\r\n    Registrar:\r\n        Registrar Ltd t/a Example \
     [Tag = EXAMPLE-TAG]\r\n\r\n    Relevant dates:\r\n        Registered on: before Aug-1996\r\n        \
     Expiry date:  05-Dec-2030\r\n\r\n    Registration status:\r\n        Registered until expiry date.\r\n\r\n    \
     Name servers:\r\n        ns1.example.net  192.0.2.1  2001:db8::1\r\n",
    "example.jp\n[Domain Name]                   EXAMPLE.JP\n[登録者名]      Example, Inc.\n[Name Server]  ns1.example.net\n\
     [有効期限]  2030/09/30\n[状態]  Active\n[最終更新]  2029/10/01 01:05:09 (JST)\n",
    "example.kr\n도메인이름 : example.kr\n등록일 : 2000. 01. 02.\n사용 종료일 : 2031. 01. 02.\n\n# ENGLISH\n\nPrimary Name Server\n\
     \x20  Host Name : ns1.example.net\n   IP Address : 192.0.2.1\n",
    "example.fr\n%%\n%% This is a server.\n\ndomain: example.fr\nstatus: ACTIVE\nholder-c: ANO00-FRNIC\n\
     Expiry Date: 2030-12-31T23:00:00Z\n\nnserver: ns1.example.net\n\nregistrar: REGISTRAR SAS\n\n\
     nic-hdl: ANO00-FRNIC\ntype: PERSON\ncontact: Ano Nymous\n",
    "example.com\nRegistrant:\nExample LLC\n   1 Example Street\n\n   Record expires on 04-Jan-2031.\n   \
     Domain servers in listed order:\n\n   NS1.EXAMPLE.NET   192.0.2.1\n",
    "example.ru\ndomain:        EXAMPLE.RU\nnserver: ns1.example.net. 192.0.2.1, 2001:db8::1\n\
     state: REGISTERED, DELEGATED\nperson: Private Person\npaid-till: 2030-09-30T21:00:00Z\n",
    "example.com\nNo match for \"EXAMPLE.COM\".\r\n>>> Last update of whois database: 2026-01-11T23:35:30Z <<<\r\n",
    "example.com\nQuery rate exceeded. Try again in 60 seconds.\n",
    "example.com\nThis name is reserved by the registry.\n",
    "com\n% IANA WHOIS server\n\nrefer:        whois.verisign-grs.com\n\ndomain:       COM\n\nwhois:        [::1]:43\n",
    "\n\n",
];

/// What a server may send for as long as it likes.
const LONG: &[(&str, &str)] = &[
    (HEAD, "Domain Name: example.com\nRegistrar: X\nName Server: ns1.example.net\n"),
    (HEAD, "example.com "),
    (HEAD, "Name Server:\n  ns1.example.net\n\n"),
    (HEAD, "a: b\n"),
    (HEAD, "[a] "),
    (HEAD, "  "),
    (HEAD, ":"),
    (HEAD, "."),
    (HEAD, "\t:\n"),
    (HEAD, "Registrant:\n  Registrar:\n    Domain:\n"),
    (HEAD, "Status: ok, clientHold / pendingDelete; "),
    (HEAD, "Expiry Date: 01/02/2003 04.05.2006 07-08-2009 "),
    (HEAD, "((((((((("),
    (HEAD, "é\u{a0}。："),
    (HEAD, "nic-hdl: A-B\nholder-c: A-B\n\n"),
];

const HEAD: &str = "example.com\nDomain Name: example.com\n";
