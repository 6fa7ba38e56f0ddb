//! Alerts as they are shown and asked for.

use super::*;

#[test]
fn an_alert_shows_what_is_documented_and_its_domain_event_and_times() {
    let mut past = Past::new();
    let suggestion = Some("renew it".to_owned());
    let decision = past.run(&[Finding { suggestion, ..finding("ssl.expiring", "a") }]);
    assert_eq!(
        serde_json::to_value(decision.raised[0].view()).unwrap(),
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "type": "ssl", "event": "ssl.expiring",
            "severity": "critical", "message": "ssl.expiring on example.com",
            "suggestion": "renew it", "is_resolved": false,
            "site_id": "00000000-0000-0000-0000-000000000001", "domain": "example.com",
            "created_at": "2027-01-15T08:01:00Z", "updated_at": "2027-01-15T08:01:00Z",
            "resolved_at": null,
        })
    );
    let row = serde_json::to_value(&decision.raised[0]).unwrap();
    assert_eq!(serde_json::from_value::<Alert>(row).unwrap(), decision.raised[0]);
}

#[test]
fn the_query_asks_for_open_alerts_unless_told_otherwise() {
    for (text, filter) in [
        (None, Some(Some(false))),
        (Some("false"), Some(Some(false))),
        (Some("true"), Some(Some(true))),
        (Some("all"), Some(None)),
        (Some(""), None),
        (Some("TRUE"), None),
    ] {
        assert_eq!(resolved_filter(text).ok(), filter, "{text:?}");
    }
    assert_eq!("warning".parse(), Ok(Severity::Warning));
    assert!(Severity::WORDS.iter().all(|word| word.parse::<Severity>().is_ok()));
    assert_eq!("fatal".parse::<Severity>().unwrap_err().field, "severity");
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Critical);
}
