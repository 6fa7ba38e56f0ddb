//! Names (RFC 9525): alternative names alone, whole labels, addresses apart.

use rcgen::{CertificateParams, DnType, SanType};

use super::{Case, Scene};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    let wrong = Some("hostname_mismatch");
    let table: [(&'static str, &[&str], &'static str, Option<&'static str>); 25] = [
        ("equal", &["www.example.com"], "www.example.com", None),
        ("case", &["WWW.Example.COM"], "www.example.com", None),
        ("another", &["www.example.org"], "www.example.com", wrong),
        ("parent", &["example.com"], "www.example.com", wrong),
        ("child", &["www.example.com"], "example.com", wrong),
        (
            "second of three",
            &["a.example", "www.example.com", "b.example"],
            "www.example.com",
            None,
        ),
        ("wildcard", &["*.example.com"], "www.example.com", None),
        ("wildcard for two labels", &["*.example.com"], "a.www.example.com", wrong),
        ("wildcard for none", &["*.example.com"], "example.com", wrong),
        ("wildcard of another", &["*.example.org"], "www.example.com", wrong),
        ("wildcard in part, at the end", &["w*.example.com"], "www.example.com", wrong),
        ("wildcard in part, at the front", &["*w.example.com"], "www.example.com", wrong),
        ("wildcard in the middle", &["www.*.com"], "www.example.com", wrong),
        ("two wildcards", &["*.*.com"], "www.example.com", wrong),
        ("wildcard of a top level", &["*.com"], "example.com", wrong),
        ("trailing dot", &["www.example.com."], "www.example.com", wrong),
        ("A-label", &["xn--bcher-kva.example"], "xn--bcher-kva.example", None),
        ("wildcard for an A-label", &["*.example.com"], "xn--bcher-kva.example.com", None),
        ("IPv4", &["192.0.2.7"], "192.0.2.7", None),
        ("IPv4, another", &["192.0.2.7"], "192.0.2.8", wrong),
        ("IPv6", &["2001:db8::7"], "2001:db8::7", None),
        ("IPv6, another", &["2001:db8::7"], "2001:db8::8", wrong),
        ("address for a name", &["192.0.2.7"], "www.example.com", wrong),
        ("name for an address", &["www.example.com"], "192.0.2.7", wrong),
        ("names and addresses", &["a.example", "192.0.2.7", "b.example"], "192.0.2.7", None),
    ];
    let listed = table.map(|(name, presented, host, expected)| {
        let chain = scene.chain(&|leaf| present(leaf, presented));
        scene.case("names", name, chain).host(host).ends(expected)
    });
    [listed.to_vec(), odd(scene)].concat()
}

fn odd(scene: &Scene) -> Vec<Case> {
    let dns = |text: &str| SanType::DnsName(text.try_into().unwrap());
    let name_it = |leaf: &mut CertificateParams| {
        leaf.distinguished_name.remove(DnType::CommonName);
        leaf.distinguished_name.push(DnType::CommonName, super::HOST);
    };
    let case = |name, chain| scene.case("names", name, chain);
    vec![
        case("common name alone", {
            scene.chain(&|leaf| {
                leaf.subject_alt_names.clear();
                name_it(leaf);
            })
        })
        .fails("hostname_mismatch"),
        case("common name beside another name", {
            scene.chain(&|leaf| {
                leaf.subject_alt_names = vec![dns("www.example.org")];
                name_it(leaf);
            })
        })
        .fails("hostname_mismatch"),
        case("address as a DNS name", {
            scene.chain(&|leaf| leaf.subject_alt_names = vec![dns("192.0.2.7")])
        })
        .host("192.0.2.7")
        .fails("hostname_mismatch"),
        case("mail and URI besides", {
            scene.chain(&|leaf| {
                leaf.subject_alt_names.push(SanType::Rfc822Name("a@b.example".try_into().unwrap()));
                leaf.subject_alt_names.push(SanType::URI("https://b.example/".try_into().unwrap()));
            })
        }),
        case("last of a thousand", {
            scene.chain(&|leaf| {
                let many = (0..999).map(|n| dns(&format!("h{n}.example.com")));
                leaf.subject_alt_names = many.chain([dns(super::HOST)]).collect();
            })
        }),
    ]
}

fn present(leaf: &mut CertificateParams, presented: &[&str]) {
    let names = presented.iter().map(|text| match text.parse() {
        Ok(address) => SanType::IpAddress(address),
        Err(_) => SanType::DnsName((*text).try_into().unwrap()),
    });
    leaf.subject_alt_names = names.collect();
}
