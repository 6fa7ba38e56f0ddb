use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::edition::STANDARD;
use crate::{Invalid, Patch};

fn now() -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
}

fn types(names: &[&str]) -> Vec<CheckType> {
    names.iter().map(|name| name.parse().expect("a well-formed name")).collect()
}

fn site(body: &Value) -> Result<Site, Invalid> {
    let new = NewSite::parse(body, &types(&["ssl", "uptime"]))?;
    Ok(new.into_site(Uuid::from_u128(1).into(), Uuid::from_u128(2).into(), now()))
}

fn patch(site: &mut Site, body: &Value) -> Result<(), Invalid> {
    SitePatch::parse(body, &types(&["ssl", "uptime"]))?.apply(site);
    Ok(())
}

#[test]
fn a_site_needs_no_more_than_a_domain() {
    let site = site(&json!({"domain": "Example.COM.", "id": "x", "plan": "pro"})).unwrap();
    assert_eq!(
        serde_json::to_value(site.view()).unwrap(),
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "domain": "example.com",
            "check_types": ["ssl", "dns", "domain", "ct"], "custom_port": null, "origin_ip": null,
            "alert_days": 14, "monitoring_enabled": true, "check_config": {},
            "created_at": "2027-01-15T08:00:00Z",
        })
    );
}

#[test]
fn every_field_is_read_and_only_what_is_public_shown() {
    let site = site(&json!({
        "domain": "example.com", "custom_port": 8443, "origin_ip": "2001:DB8::1", "alert_days": 30,
        "check_types": ["uptime", "ssl", "uptime"], "monitoring_enabled": false,
        "check_config": {"uptime": {"path": "/health"}},
        "dns_provider": "example-dns", "dns_provider_config": {"token": "hunter2"},
        "deploy_target": "download", "deploy_config": {"key": "hunter2"},
    }))
    .unwrap();
    let expected = json!({
        "id": site.id, "domain": "example.com", "check_types": ["uptime", "ssl"],
        "custom_port": 8443, "origin_ip": "2001:db8::1", "alert_days": 30,
        "monitoring_enabled": false, "check_config": {"uptime": {"path": "/health"}},
        "created_at": "2027-01-15T08:00:00Z",
    });
    assert_eq!(serde_json::to_value(site.view()).unwrap(), expected);
    assert_eq!(site.config_of(&types(&["uptime"])[0]), json!({"path": "/health"}));
    assert_eq!(site.config_of(&types(&["ssl"])[0]), json!({}));
    assert!(!format!("{site:?}").contains("hunter2"), "logs print sites");
    let stored = crate::secret::revealed(|| serde_json::to_value(&site)).unwrap();
    assert_eq!(stored["dns_provider_config"], json!({"token": "hunter2"}));
    assert_eq!(serde_json::from_value::<Site>(stored).unwrap(), site);
}

#[test]
fn what_is_out_of_bounds_names_its_field() {
    for (field, values) in [
        ("domain", vec![json!(null), json!(""), json!(7), json!("127.0.0.1"), json!("a.com:443")]),
        ("custom_port", vec![json!(0), json!(65_536), json!("443"), json!(443.5), json!(-1)]),
        ("origin_ip", vec![json!("127.1"), json!("example.com"), json!(1), json!("")]),
        ("alert_days", vec![json!(0), json!(366), json!(null), json!("14"), json!(1.5)]),
        (
            "check_types",
            vec![json!([]), json!(null), json!("ssl"), json!(["ftp"]), json!([1]), json!(["SSL"])],
        ),
        ("monitoring_enabled", vec![json!("true"), json!(1), json!(null)]),
        ("check_config", vec![json!([]), json!({"ftp": {}})]),
        ("check_config.uptime", vec![json!(1)]),
        ("dns_provider", vec![json!(1), json!("a\nb"), json!("a".repeat(501))]),
        ("dns_provider_config", vec![json!("x"), json!([])]),
        ("deploy_target", vec![json!({})]),
        ("deploy_config", vec![json!(true)]),
    ] {
        for value in values {
            let (member, value) = match field.split_once('.') {
                Some((member, inner)) => (member, json!({ inner: value })),
                None => (field, value),
            };
            let mut body = json!({"domain": "example.com"});
            body[member] = value;
            assert_eq!(site(&body).map(|_| body.clone()).unwrap_err().field, field, "{body}");
        }
    }
    assert_eq!(
        site(&json!({"domain": "a.example", "check_types": ["ftp"]})).unwrap_err().to_string(),
        "check_types must name one or more of ssl, dns, domain, ct, uptime; \"ftp\" is none of them"
    );
}

#[test]
fn bounds_are_inclusive() {
    for body in [
        json!({"domain": "a.example", "custom_port": 1, "alert_days": 1}),
        json!({"domain": "a.example", "custom_port": 65_535, "alert_days": 365}),
        json!({"domain": "a.example", "custom_port": null, "origin_ip": null, "check_config": null}),
    ] {
        assert!(site(&body).is_ok(), "{body}");
    }
}

#[test]
fn a_patch_changes_what_it_names_and_nothing_else() {
    let body = json!({"domain": "example.com", "custom_port": 8443, "origin_ip": "192.0.2.7",
        "dns_provider_config": {"a": 1}, "check_config": {"uptime": {"path": "/"}}});
    let before = site(&body).unwrap();

    let mut same = before.clone();
    patch(&mut same, &json!({})).unwrap();
    let read_only = json!({"id": "x", "userId": "y", "plan": "pro", "created_at": 0, "domain": 7});
    patch(&mut same, &read_only).unwrap();
    assert_eq!(same, before);

    let mut changed = before.clone();
    patch(&mut changed, &json!({"custom_port": null, "alert_days": 7, "check_types": ["ct"]}))
        .unwrap();
    let expected =
        Site { custom_port: None, alert_days: 7, check_types: types(&["ct"]), ..before.clone() };
    assert_eq!(changed, expected);

    patch(
        &mut changed,
        &json!({"check_config": null, "dns_provider_config": null, "origin_ip": null}),
    )
    .unwrap();
    assert!(changed.check_config.is_empty());
    assert_eq!((changed.dns_provider_config, changed.origin_ip), (None, None));
}

#[test]
fn one_bad_field_refuses_the_whole_patch() {
    let mut site = site(&json!({"domain": "example.com"})).unwrap();
    let before = site.clone();
    assert!(patch(&mut site, &json!({"alert_days": 7, "custom_port": 0})).is_err());
    assert_eq!(site, before);
    assert_eq!(
        SitePatch::parse(&json!({"custom_port": null}), &[]).unwrap().custom_port,
        Patch::Clear
    );
}

#[test]
fn installed_checks_run_as_listed_and_uptime_always() {
    let mut site = site(&json!({"domain": "example.com"})).unwrap();
    let installed = types(&["ssl", "uptime", "smtp"]);
    assert_eq!(site.checks(), types(&["ssl", "dns", "domain", "ct", "uptime"]));
    assert_eq!(site.scheduled(&installed), types(&["ssl", "uptime"]));
    assert_eq!(site.scheduled(&types(&["ssl"])), types(&["ssl"]));
    site.check_types = types(&["uptime", "ct"]);
    assert_eq!(site.checks(), types(&["uptime", "ct"]), "listed, it is not there twice");
    site.monitoring_enabled = false;
    assert_eq!(site.scheduled(&installed), []);
}

#[test]
fn what_is_listed_no_more_is_dropped_and_uptime_never_is() {
    let before = site(&json!({"domain": "example.com", "check_types": ["ssl", "uptime"]})).unwrap();
    let after = |patched: Value| {
        let mut after = before.clone();
        patch(&mut after, &patched).unwrap();
        before.dropped(&after)
    };
    assert_eq!(after(json!({"check_types": ["ssl"]})), []);
    assert_eq!(after(json!({"check_types": ["uptime"]})), types(&["ssl"]));
    assert_eq!(after(json!({"monitoring_enabled": false, "alert_days": 7})), [], "a pause");
}

#[test]
fn after_a_downgrade_the_oldest_sites_go_on() {
    let site = site(&json!({"domain": "example.com"})).unwrap();
    let off = Site { monitoring_enabled: false, ..site.clone() };
    let sites = [site.clone(), off, site];
    let in_effect = |plan| -> Vec<bool> { monitored(&sites, plan).map(|(_, on)| on).collect() };
    assert_eq!(in_effect(STANDARD.plan("free").unwrap()), [true, false, false]);
    assert_eq!(in_effect(STANDARD.plan("starter").unwrap()), [true, false, true]);
}

#[test]
fn a_result_is_one_of_the_site_where_it_was_looked_at_in_its_place() {
    let shop = site(&json!({"domain": "shop.example"})).unwrap();
    let own = json!({"domain": "shop.example", "custom_port": 8443, "origin_ip": "192.0.2.1"});
    let own = site(&own).unwrap();
    let address = own.origin_ip;
    let endpoint = |port, address| Some(Endpoint { port, address });
    for (site, domain, endpoint, refused) in [
        (&shop, "shop.example", endpoint(443, None), None),
        (&shop, "shop.example", None, None),
        (&shop, "blog.example", None, Some("domain")),
        (&shop, "blog.example", endpoint(8443, address), Some("domain")),
        (&shop, "shop.example", endpoint(8443, None), Some("port")),
        (&shop, "shop.example", endpoint(443, address), Some("origin_ip")),
        (&own, "shop.example", endpoint(8443, address), None),
        (&own, "shop.example", endpoint(443, address), Some("port")),
        (&own, "shop.example", endpoint(8443, None), Some("origin_ip")),
        (&own, "shop.example", None, None),
    ] {
        let looked_at = LookedAt { domain: DomainName::parse(domain).unwrap(), endpoint };
        let said = looked_at.must_be_of(site).err();
        assert_eq!(said.as_ref().map(|said| &*said.field), refused, "{looked_at:?}");
    }
}

#[test]
fn who_was_overtaken_is_told_what_to_do() {
    let bare = site(&json!({"domain": "shop.example"})).unwrap();
    let body = json!({"domain": "shop.example", "custom_port": 8443, "origin_ip": "192.0.2.1"});
    let own = site(&body).unwrap();
    let said = |domain: &str, endpoint, site: &Site| {
        let domain = DomainName::parse(domain).unwrap();
        LookedAt { domain, endpoint }.must_be_of(site).unwrap_err().to_string()
    };
    assert_eq!(
        said("shop.example", Some(bare.endpoint()), &own),
        "port must be the site's to store the result for it, and the site was changed meanwhile \
         (now: 8443): nothing was stored; send the request again without port"
    );
    let endpoint = Endpoint { port: 443, address: own.origin_ip };
    assert_eq!(
        said("shop.example", Some(endpoint), &bare),
        "origin_ip must be the site's to store the result for it, and the site was changed \
         meanwhile (now: none): nothing was stored; send the request again without origin_ip"
    );
    assert_eq!(
        said("blog.example", None, &own),
        "domain must be the site's, shop.example, to store the result for it; name that, or leave \
         site_id out to look at another"
    );
}

#[test]
fn no_port_and_the_usual_one_are_the_same_place() {
    let usual = site(&json!({"domain": "shop.example"})).unwrap();
    let named = site(&json!({"domain": "shop.example", "custom_port": 443})).unwrap();
    assert_eq!(usual.endpoint(), named.endpoint());
    assert_eq!(named.view().custom_port, Some(443), "what was said is shown");
}
