use proptest::prelude::*;
use serde_json::{Value, json};
use vedette_sdk::{Settled, Severity};

use super::*;
use crate::fixture::NOW;

const DAY: i64 = crate::date::DAY;

/// A site whose results arrive one after the other; memory and settled result are carried on as
/// the host does.
#[derive(Default)]
struct Site {
    memory: Option<String>,
    settled: Option<Settled<CtResult>>,
    siblings: Vec<(String, String)>,
    now: i64,
}

impl Site {
    fn new() -> Self {
        Self { now: NOW, ..Self::default() }
    }

    fn judge(&mut self, current: CtResult) -> Assessment {
        let assessment = assess(Evidence {
            current: current.clone(),
            current_at: self.now,
            settled: self.settled.clone(),
            siblings: self.siblings.clone(),
            config: Config::default(),
            alert_days: 14,
            memory: self.memory.clone(),
        });
        if assessment.health != Health::Unknown {
            self.memory.clone_from(&assessment.memory);
            self.settled = Some(Settled { facts: current, at: self.now });
        }
        self.now += 3_600;
        assessment
    }

    /// The certificate that the site serves from now on.
    fn serves(&mut self, ssl: Value) {
        self.siblings = vec![("ssl".to_owned(), ssl.to_string())];
    }
}

fn certificate(issuer: &str, serial: &str) -> Certificate {
    Certificate {
        issuer: format!("{issuer} R1"),
        issuer_org: Some(issuer.to_owned()),
        san: vec!["example.com".to_owned()],
        serial_number: serial.to_owned(),
        not_before: Some(date::rfc3339(NOW - DAY)),
        not_after: Some(date::rfc3339(NOW + 60 * DAY)),
        ..Certificate::default()
    }
}

fn result(certificates: Vec<Certificate>) -> CtResult {
    CtResult {
        domain: "example.com".to_owned(),
        total: certificates.len() as u64,
        source: Some("crtsh".to_owned()),
        certificates,
        ..CtResult::default()
    }
}

fn first_run(certificates: Vec<Certificate>) -> CtResult {
    CtResult { baseline: true, ..result(certificates) }
}

fn good(serial: &str) -> Certificate {
    certificate("Lab", serial)
}

fn evil(serial: &str) -> Certificate {
    certificate("Evil CA", serial)
}

fn served(certificate: &Certificate) -> Value {
    json!({
        "valid": true, "issuer": certificate.issuer, "issuer_org": certificate.issuer_org,
        "expires_at": certificate.not_after, "san": certificate.san,
        "chain": [{"serial_number": certificate.serial_number.to_uppercase(), "fingerprint": "ff"}],
    })
}

#[test]
fn first_result_is_a_silent_baseline() {
    let mut site = Site::new();
    let assessment = site.judge(first_run(vec![good("01"), evil("02")]));
    assert_eq!((assessment.health, assessment.findings.len()), (Health::Ok, 0));
    let assessment = site.judge(result(vec![good("01"), evil("02"), good("03"), evil("04")]));
    assert_eq!((assessment.health, assessment.findings.len()), (Health::Ok, 0));
}

#[test]
fn unexpected_certificate_is_told_once_and_stays_visible() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    let assessment = site.judge(result(vec![evil("02"), good("01")]));
    let [finding] = assessment.findings.as_slice() else { panic!("one finding: {assessment:?}") };
    assert_eq!((finding.event.as_str(), finding.severity), ("certificate.changed", None));
    assert_eq!(finding.dedup_key, Seen::of(&evil("02"), "example.com").identity.name);
    for word in ["example.com: ", "Evil CA R1, Evil CA", "2026-03-02", "serial 02"] {
        assert!(finding.message.contains(word), "{word} in {}", finding.message);
    }
    let details = finding.details.as_deref().expect("details");
    let details: Value = serde_json::from_str(details).expect("details are JSON");
    assert_eq!(details["issuer_org"], "Evil CA");
    for _ in 0..3 {
        let assessment = site.judge(result(vec![evil("02"), good("01")]));
        assert_eq!((assessment.health, assessment.findings.len()), (Health::Degraded, 0));
    }
    let gone = site.judge(result(vec![good("01")]));
    assert_eq!((gone.health, gone.findings.len()), (Health::Ok, 0));
    let back = site.judge(result(vec![evil("02")]));
    assert_eq!((back.health, back.findings.len()), (Health::Degraded, 0));
}

#[test]
fn alert_does_not_make_its_issuer_accepted() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    site.judge(result(vec![evil("02")]));
    let assessment = site.judge(result(vec![evil("02"), evil("03")]));
    assert_eq!(assessment.findings.len(), 1);
    // Also where a run that lost its state takes it for a baseline of its own.
    let posted = |serial: &str, baseline| CtResult {
        certificates: vec![Certificate { expected: true, ..evil(serial) }],
        baseline,
        ..result(Vec::new())
    };
    assert_eq!(site.judge(posted("04", true)).findings.len(), 1);
    assert_eq!(site.judge(posted("05", false)).findings.len(), 1);
}

#[test]
fn run_that_knows_more_than_the_memory_is_believed() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    let known = Certificate { expected: true, ..certificate("Second CA", "02") };
    assert!(site.judge(result(vec![known])).findings.is_empty());
}

#[test]
fn caa_decides_between_silence_warning_and_critical() {
    for (caa, findings, severity) in [
        (Some(Caa::Permits), 0, None),
        (None, 1, None),
        (Some(Caa::Forbids), 1, Some(Severity::Critical)),
    ] {
        let mut site = Site::new();
        site.judge(first_run(vec![good("01")]));
        let assessment = site.judge(result(vec![Certificate { caa, ..evil("02") }]));
        assert_eq!(assessment.findings.len(), findings, "{caa:?}");
        let told = assessment.findings.first().and_then(|finding| finding.severity);
        assert_eq!(told, severity, "{caa:?}");
    }
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    site.judge(result(vec![evil("02")]));
    let permitted = Certificate { caa: Some(Caa::Permits), ..evil("02") };
    assert_eq!(site.judge(result(vec![permitted])).health, Health::Ok);
    let forbidden = Certificate { caa: Some(Caa::Forbids), ..evil("02") };
    let later = site.judge(result(vec![forbidden]));
    assert_eq!((later.health, later.findings.len()), (Health::Ok, 0), "it was expected once");
}

#[test]
fn served_certificate_is_expected_and_its_issuer_accepted() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    site.serves(served(&evil("0a")));
    assert!(site.judge(result(vec![evil("0a")])).findings.is_empty());
    // The ssl check fails later on, and another certificate of the issuer appears.
    site.serves(json!({"valid": false, "error": "connection_refused"}));
    assert!(site.judge(result(vec![evil("0b")])).findings.is_empty());
}

#[test]
fn served_certificate_counts_only_where_it_is_proven() {
    let invalid = |certificate: &Certificate| {
        let mut ssl = served(certificate);
        ssl["valid"] = json!(false);
        ssl
    };
    let other = Certificate { issuer_org: Some("Other".to_owned()), ..evil("0a") };
    for ssl in [
        invalid(&evil("0a")),
        served(&other),
        json!({"valid": true}),
        json!({"valid": true, "chain": []}),
        json!({"chain": 7}),
        json!([]),
    ] {
        let mut site = Site::new();
        site.judge(first_run(vec![good("01")]));
        site.serves(ssl.clone());
        assert_eq!(site.judge(result(vec![evil("0a")])).findings.len(), 1, "{ssl}");
    }
    // A fingerprint is proof enough: it is the very same certificate.
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    site.serves(invalid(&evil("0a")));
    let same = Certificate { fingerprint: Some("FF".to_owned()), ..evil("0a") };
    assert!(site.judge(result(vec![same])).findings.is_empty());
}

#[test]
fn certificate_that_another_source_tells_without_its_serial_number_is_not_told_again() {
    let bare = |certificate: Certificate| Certificate {
        serial_number: String::new(),
        fingerprint: Some("ab".repeat(32)),
        // Not every source tells the names of others.
        san: vec!["example.com".to_owned(), "other.net".to_owned()],
        ..certificate
    };
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    for (seen, findings) in [
        (evil("02"), 1),
        (bare(evil("02")), 0),
        (evil("02"), 0),
        (evil("03"), 1),
        (bare(evil("03")), 0),
    ] {
        let assessment = site.judge(result(vec![good("01"), seen.clone()]));
        assert_eq!(assessment.findings.len(), findings, "{seen:?}");
        assert_eq!(assessment.health, Health::Degraded);
    }
}

#[test]
fn copied_serial_number_with_other_names_or_dates_is_not_the_served_one() {
    let served_issuer = |certificate: &Certificate| {
        // An issuer without a family of its own: nothing but the match can make it expected.
        let mut ssl = served(certificate);
        (ssl["issuer"], ssl["issuer_org"]) = (json!(certificate.issuer), Value::Null);
        ssl
    };
    let plain =
        |serial: &str| Certificate { issuer_org: None, issuer: "X".to_owned(), ..evil(serial) };
    let names = Certificate { san: vec!["admin.example.com".to_owned()], ..plain("0a") };
    let dates = Certificate { not_after: Some(date::rfc3339(NOW + 90 * DAY)), ..plain("0a") };
    for copy in [names, dates] {
        let served: Served =
            serde_json::from_value(served_issuer(&plain("0a"))).expect("it can be read");
        let issuer = Issuer::of_result("X", None);
        assert!(served.is(&plain("0a"), &issuer));
        assert!(!served.is(&copy, &issuer));
    }
}

#[test]
fn precertificate_certificate_and_metadata_are_told_once() {
    let mut site = Site::new();
    site.judge(first_run(vec![]));
    let digest = Some("ab".repeat(32));
    let pre = Certificate { tbs_sha256: digest.clone(), ..evil("0a") };
    let assessment = site.judge(result(vec![pre.clone(), pre.clone()]));
    assert_eq!(assessment.findings.len(), 1);
    assert_eq!(Some(&assessment.findings[0].dedup_key), digest.as_ref());
    let metadata = Certificate { issuer: "evil ca  r1".to_owned(), ..evil("00:0A") };
    assert!(site.judge(result(vec![metadata])).findings.is_empty());
    let other = Certificate { tbs_sha256: Some("cd".repeat(32)), ..evil("0a") };
    assert_eq!(site.judge(result(vec![other])).findings.len(), 1, "a copied serial number");
}

#[test]
fn error_keeps_the_old_baseline_and_tells_nothing() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    for error in ["ct_source_unavailable", "rate_limited", "timeout"] {
        let assessment = site.judge(CtResult::failed("example.com", error));
        assert_eq!((assessment.health, assessment.findings.len()), (Health::Unknown, 0));
    }
    assert!(site.judge(result(vec![good("02")])).findings.is_empty());
    assert_eq!(site.judge(result(vec![evil("03")])).findings.len(), 1);
    // A failure before the first answer is no baseline either.
    let mut site = Site::new();
    site.judge(CtResult::failed("example.com", "timeout"));
    assert!(site.judge(first_run(vec![evil("01")])).findings.is_empty());
}

#[test]
fn baseline_grows_over_the_runs_that_read_it() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    assert!(site.judge(first_run(vec![evil("02")])).findings.is_empty());
    assert!(site.judge(result(vec![evil("03")])).findings.is_empty());
    let late = site.judge(first_run(vec![certificate("Third CA", "04")]));
    assert_eq!(late.findings.len(), 1, "a finished baseline is not opened again");
}

#[test]
fn lost_memory_starts_from_the_settled_result() {
    let mut site = Site::new();
    site.judge(first_run(vec![good("01")]));
    site.judge(result(vec![good("01")]));
    for memory in [None, Some("{\"other\":".to_owned()), Some("[]".to_owned())] {
        let mut site = Site { memory, settled: site.settled.clone(), ..Site::new() };
        assert!(site.judge(result(vec![good("02")])).findings.is_empty());
        assert_eq!(site.judge(result(vec![evil("03")])).findings.len(), 1);
    }
}

#[test]
fn expired_certificates_are_nothing() {
    let mut site = Site::new();
    site.judge(first_run(vec![]));
    let expired = Certificate { not_after: Some(date::rfc3339(NOW - 1)), ..evil("01") };
    let assessment = site.judge(result(vec![expired]));
    assert_eq!((assessment.health, assessment.findings.len()), (Health::Ok, 0));
    assert_eq!(site.judge(result(vec![evil("02")])).health, Health::Degraded);
    site.now = NOW + 61 * DAY;
    assert_eq!(site.judge(result(vec![evil("02")])).health, Health::Ok);
}

#[test]
fn more_than_fit_are_told_in_turn_and_none_is_lost() {
    let mut site = Site::new();
    site.judge(first_run(vec![]));
    let all: Vec<Certificate> = (1..=80).map(|n| evil(&format!("{n:02x}"))).collect();
    let told: Vec<usize> = (0..4).map(|_| site.judge(result(all.clone())).findings.len()).collect();
    assert_eq!(told, [32, 32, 16, 0]);
}

#[test]
fn texts_of_strangers_are_kept_to_a_length() {
    let mut site = Site::new();
    site.judge(first_run(vec![]));
    let long = "ü\"\n".repeat(5_000);
    let certificate = Certificate {
        issuer: long.clone(),
        issuer_org: Some(long.clone()),
        san: vec![long.clone(); 100],
        serial_number: long.clone(),
        fingerprint: Some(long.clone()),
        tbs_sha256: Some(long.clone()),
        not_after: Some(long.clone()),
        ..Certificate::default()
    };
    let current = CtResult { source: Some(long.clone()), ..result(vec![certificate]) };
    let assessment = site.judge(CtResult { domain: long, ..current });
    let finding = &assessment.findings[0];
    assert!(finding.message.len() <= 1_024 && finding.dedup_key.len() <= 256);
    assert!(finding.suggestion.as_ref().is_some_and(|text| text.len() <= 2_048));
    assert!(finding.details.as_ref().is_some_and(|text| text.len() <= 16 << 10));
}

fn any_certificate() -> impl Strategy<Value = Certificate> {
    let text = prop::sample::select(vec!["", "Lab", "Evil CA", "O=Lab, CN=X", "\u{0}ü", "0a"]);
    let date = prop::option::of(prop::sample::select(vec![
        "2026-03-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "never",
    ]));
    let caa = prop::sample::select(vec![None, Some(Caa::Permits), Some(Caa::Forbids)]);
    let optional = prop::option::of(text.clone());
    (text.clone(), optional.clone(), text, date, optional, any::<bool>(), caa).prop_map(
        |(issuer, organisation, serial, date, tbs, expected, caa)| Certificate {
            issuer: issuer.to_owned(),
            issuer_org: organisation.map(str::to_owned),
            serial_number: serial.to_owned(),
            not_after: date.map(str::to_owned),
            tbs_sha256: tbs.map(str::to_owned),
            expected,
            caa,
            ..Certificate::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_history_is_told_at_most_once_and_the_same_way(
        history in prop::collection::vec(
            (prop::collection::vec(any_certificate(), 0..6), any::<bool>(), any::<bool>()), 1..6,
        ),
    ) {
        let (mut site, mut again) = (Site::new(), Site::new());
        let mut told = std::collections::BTreeSet::new();
        for (index, (certificates, baseline, fails)) in history.into_iter().enumerate() {
            let error = fails.then(|| "timeout".to_owned());
            let current = CtResult { baseline, error, ..result(certificates) };
            let assessment = site.judge(current.clone());
            prop_assert_eq!(&assessment, &again.judge(current));
            prop_assert!(index > 0 || assessment.findings.is_empty());
            for finding in assessment.findings {
                prop_assert!(told.insert(finding.dedup_key));
            }
        }
    }
}
