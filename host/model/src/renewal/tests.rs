use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::domain_name::Target;
use crate::{AccountId, NewSite};

fn noon() -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000, 0).unwrap()
}

fn site(members: &Value) -> Site {
    let mut body = json!({"domain": "www.example.com"});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    let new = NewSite::parse(&body, &[]).unwrap();
    new.into_site(SiteId(Uuid::nil()), AccountId(Uuid::nil()), noon())
}

fn with_config(config: &Value) -> Site {
    site(&json!({"dns_provider": "rfc2136", "dns_provider_config": config}))
}

fn config() -> Value {
    json!({
        "server": "ns1.example.com:5353",
        "zone": "Example.com.",
        "key_name": "renewal-key.",
        "key_secret": "c2VjcmV0IGtleSBieXRlcw==",
    })
}

#[test]
fn a_complete_provider_is_read() {
    let provider = Rfc2136::of(&with_config(&config())).unwrap();
    assert_eq!(provider.server, Target::parse("ns1.example.com").unwrap());
    assert_eq!(provider.port, 5353);
    assert_eq!((&*provider.zone, &*provider.key_name), ("example.com", "renewal-key"));
    assert_eq!(provider.key_secret.expose(), b"secret key bytes");
    assert_eq!(provider.algorithm, Algorithm::HmacSha256);
    assert!(!format!("{provider:?}").contains("115, 101"), "the key is not printed");
}

#[test]
fn servers_are_hosts_or_addresses_with_a_port_or_without() {
    for (text, host, port) in [
        ("ns1.example.com", "ns1.example.com", 53),
        ("192.0.2.1:5353", "192.0.2.1", 5353),
        ("192.0.2.1", "192.0.2.1", 53),
        ("2001:db8::1", "2001:db8::1", 53),
        ("[2001:db8::1]:54", "2001:db8::1", 54),
    ] {
        let mut config = config();
        config["server"] = text.into();
        let provider = Rfc2136::of(&with_config(&config)).unwrap();
        assert_eq!(
            (provider.server, provider.port),
            (Target::parse(host).unwrap(), port),
            "{text}"
        );
    }
}

#[test]
fn the_record_of_the_proof_must_be_in_the_zone() {
    for (zone, fits) in [
        ("com", true),
        ("example.com", true),
        ("www.example.com", true),
        ("_acme-challenge.www.example.com", true),
        ("ample.com", false),
        ("example.org", false),
        ("a._acme-challenge.www.example.com", false),
        ("challenge.www.example.com", false),
    ] {
        let mut config = config();
        config["zone"] = zone.into();
        let read = Rfc2136::of(&with_config(&config));
        assert_eq!(read.is_ok(), fits, "{zone}: {read:?}");
        if let Err(invalid) = read {
            assert_eq!(invalid.field, "dns_provider_config.zone");
        }
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let unset = Rfc2136::of(&site(&json!({}))).unwrap_err();
    assert_eq!(unset.field, "dns_provider");
    let other = Rfc2136::of(&site(&json!({"dns_provider": "cloudflare"}))).unwrap_err();
    assert_eq!(other.field, "dns_provider");
    assert!(other.reason.contains("rfc2136"));
    let bare = Rfc2136::of(&site(&json!({"dns_provider": "rfc2136"}))).unwrap_err();
    assert_eq!(bare.field, "dns_provider_config");
    for (field, value) in [
        ("server", Value::Null),
        ("server", json!("ns1.example.com:0")),
        ("server", json!("ns1.example.com:x")),
        ("server", json!("https://ns1.example.com")),
        ("server", json!(53)),
        ("zone", json!("")),
        ("zone", json!("no spaces.example")),
        ("key_name", json!("-")),
        ("key_secret", json!("")),
        ("key_secret", json!("s3cr3t!")),
        ("algorithm", json!("hmac-md5")),
        ("algorithm", Value::Null),
    ] {
        let mut config = config();
        config[field] = value.clone();
        let invalid = Rfc2136::of(&with_config(&config)).unwrap_err();
        assert_eq!(invalid.field, format!("dns_provider_config.{field}"), "{value}");
        assert!(!invalid.reason.contains("s3cr3t"), "{invalid}");
    }
}

#[test]
fn a_certificate_is_kept_for_download_and_brought_nowhere() {
    assert!(deployable(&site(&json!({}))).is_ok());
    assert!(deployable(&site(&json!({"deploy_target": "download"}))).is_ok());
    let other = deployable(&site(&json!({"deploy_target": "nginx"}))).unwrap_err();
    assert_eq!(other.field, "deploy_target");
    assert!(other.reason.contains("download"));
}

#[test]
fn the_body_names_a_site() {
    let id = Uuid::from_u128(7);
    assert_eq!(parse_site(&json!({"site_id": id, "more": 1})), Ok(SiteId(id)));
    for body in
        [json!({}), json!({"site_id": null}), json!({"site_id": 7}), json!({"site_id": "x"})]
    {
        assert_eq!(parse_site(&body).unwrap_err().field, "site_id", "{body}");
    }
}

#[test]
fn what_others_said_is_one_bounded_line() {
    let entry = RenewalEntry::failed("no\n\u{1b}[31m  such\tname ", noon());
    assert_eq!(entry.message, "no [31m such name");
    let long = RenewalEntry::failed(&"ü".repeat(2000), noon());
    assert_eq!(long.message.chars().count(), LONGEST_MESSAGE + 1);
}

#[test]
fn an_entry_is_written_as_documented() {
    let domain = DomainName::parse("www.example.com").unwrap();
    let entry = serde_json::to_value(RenewalEntry::pending(&domain, noon())).unwrap();
    assert_eq!(entry["status"], "pending");
    assert_eq!(entry["created_at"], "2026-09-21T14:13:20Z");
    let renewed = RenewedCertificate {
        certificate: "chain".to_owned(),
        private_key: Secret::new("hunter2".to_owned()),
        expires_at: noon(),
    };
    let success = RenewalEntry::success(&domain, &renewed, noon());
    assert!(success.message.contains("2026-09-21") && !success.message.contains("hunter2"));
}
