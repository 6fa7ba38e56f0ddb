//! What most tests begin with: a lab, a running service, an owner and a stranger.

use std::{fmt::Debug, time::Duration};

use chrono::{DateTime, SecondsFormat, TimeDelta, Timelike, Utc};
use serde_json::{Value, json};
use tokio::time::Instant;
use vedette_tests::{Account, Lab, Service, Settings, Site};

/// Longer than a check takes that a busy machine has to try again twice, the second time after 80 s at
/// most; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(180);
/// Between two looks at a state that only the API shows.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// What a busy machine may add to a timer.
const LATE: Duration = Duration::from_secs(30);
/// How often a test may try to do within a span what an idle machine does in a fraction of it.
pub(crate) const ROUNDS: usize = 5;

pub(crate) struct World {
    pub(crate) lab: Lab,
    pub(crate) service: Service,
    pub(crate) owner: Account,
}

impl World {
    /// An owner on the plan `pro`.
    pub(crate) async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// The same, after a change of what the program is told.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        away_from_midnight().await;
        let lab = Lab::start().await.expect("loopback has free ports");
        let mut settings = lab.settings();
        change(&mut settings);
        let service = Service::start(settings).await.expect("the service starts");
        let owner =
            service.account("owner@example.com", "pro").await.expect("accounts can be made");
        Self { lab, service, owner }
    }

    pub(crate) async fn account(&self, plan: &str) -> Account {
        let email = format!("{plan}-{}@example.com", uuid::Uuid::new_v4());
        self.service.account(&email, plan).await.expect("accounts can be made")
    }

    /// A site of the lab whose certificate has this many days left.
    pub(crate) async fn site(&self, domain: &str, days: i64) -> Site {
        let certificate = self.lab.certificate(domain, days).expect("the authority signs");
        self.lab.site(domain, certificate).await.expect("loopback has free ports")
    }

    /// Registers it for the ssl check; returns the id.
    pub(crate) async fn watch(&self, domain: &str, site: &Site) -> String {
        let body = json!({"domain": domain, "custom_port": site.port(), "check_types": ["ssl"]});
        let created = self.owner.client.post("/sites", body).await.expect(200);
        text(&created["site"]["id"])
    }

    /// Registers a site that nothing runs for but what the test asks for; returns the id.
    pub(crate) async fn quiet(&self, domain: &str) -> String {
        self.quiet_with(domain, json!({})).await
    }

    /// The same, with further members of the body.
    pub(crate) async fn quiet_with(&self, domain: &str, members: Value) -> String {
        let mut body = json!({"domain": domain, "monitoring_enabled": false});
        for (name, value) in members.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let created = self.owner.client.post("/sites", body).await.expect(200);
        text(&created["site"]["id"])
    }

    /// Waits until the service has seen its DNS server answer for a name that nobody has: that it fails
    /// to says something from then on.
    pub(crate) async fn knows_a_way_out(&self) {
        let said = "the DNS servers reach others";
        until(said, async || self.service.output().contains(said).then_some(())).await;
    }

    /// One on-demand check of a domain that is no site.
    pub(crate) async fn look(&self, check_type: &str, domain: &str) -> Value {
        let path = format!("/check-{check_type}");
        self.owner.client.post(&path, json!({"domain": domain})).await.expect(200)
    }

    /// Runs a check of a registered site now, through the API.
    pub(crate) async fn run(&self, check_type: &str, domain: &str, site_id: &str) -> Value {
        let body = json!({"domain": domain, "site_id": site_id});
        self.owner.client.post(&format!("/check-{check_type}"), body).await.expect(200)
    }

    /// The owner's alerts go to the lab's receiver.
    pub(crate) async fn hook(&self) {
        let body = json!({"custom_webhook_url": self.lab.receiver.url("/hook")});
        self.owner.client.patch("/settings/notifications", body).await.expect(200);
    }

    /// The test call of the owner's notification settings.
    pub(crate) async fn send_test(&self) -> Value {
        let path = "/settings/notifications";
        self.owner.client.send(reqwest::Method::POST, path, None).await.expect(200)
    }

    /// The latest ssl record of a site, as soon as there is one that `accepts`.
    pub(crate) async fn latest_ssl(
        &self,
        site_id: &str,
        accepts: impl Fn(&Value) -> bool,
    ) -> Value {
        self.latest("ssl", site_id, accepts).await
    }

    /// The latest record of one type, as soon as there is one that `accepts`.
    pub(crate) async fn latest(
        &self,
        check_type: &str,
        site_id: &str,
        accepts: impl Fn(&Value) -> bool,
    ) -> Value {
        let path = format!("/checks?site_id={site_id}");
        until(&format!("a record of {check_type}"), async || {
            let record = self.owner.client.get(&path).await.expect(200)[check_type].clone();
            (record.is_object() && accepts(&record)).then_some(record)
        })
        .await
    }

    /// How many records of one type there are.
    pub(crate) async fn count(&self, check_type: &str, site_id: &str) -> u64 {
        let path = format!("/checks?site_id={site_id}&check_type={check_type}");
        let page = self.owner.client.get(&path).await.expect(200);
        page["total"].as_u64().expect("a count")
    }

    /// Brings a result that somebody else measured; returns the record.
    pub(crate) async fn bring(&self, check_type: &str, site_id: &str, result: Value) -> Value {
        let body = json!({"site_id": site_id, "check_type": check_type, "result": result});
        self.owner.client.post("/checks", body).await.expect(200)["check"].clone()
    }

    /// Runs the ssl check of a registered site now, through the API.
    pub(crate) async fn check_now(&self, domain: &str, site: &Site, site_id: &str) -> Value {
        let body = json!({"domain": domain, "port": site.port(), "site_id": site_id});
        self.owner.client.post("/check-ssl", body).await.expect(200)
    }

    /// The owner's unresolved alerts, as soon as there are `count`.
    pub(crate) async fn open_alerts(&self, count: usize) -> Vec<Value> {
        until(&format!("{count} open alerts"), async || {
            let page = self.owner.client.get("/alerts").await.expect(200);
            let alerts = page["alerts"].as_array().cloned().unwrap_or_default();
            (alerts.len() == count).then_some(alerts)
        })
        .await
    }

    /// The owner's unresolved alerts of one type, as they stand.
    pub(crate) async fn alerts_now(&self, kind: &str) -> Vec<Value> {
        let page = self.owner.client.get("/alerts?limit=200").await.expect(200);
        let mut alerts = page["alerts"].as_array().cloned().unwrap_or_default();
        alerts.retain(|alert| alert["type"] == kind);
        alerts
    }

    /// The owner's unresolved alerts of one type, as soon as there are `count`.
    pub(crate) async fn alerts(&self, kind: &str, count: usize) -> Vec<Value> {
        until(&format!("{count} open alerts of type {kind}"), async || {
            let alerts = self.alerts_now(kind).await;
            (alerts.len() == count).then_some(alerts)
        })
        .await
    }

    /// What the receiver was told so far whose event `accepts`: entries of `alerts[]`, oldest
    /// first.
    pub(crate) fn told(&self, accepts: impl Fn(&str) -> bool) -> Vec<Value> {
        let received = self.lab.receiver.received().into_iter();
        let payloads = received.map(|hook| hook.json().expect("the payload is JSON"));
        let entries =
            payloads.flat_map(|payload| payload["alerts"].as_array().cloned().unwrap_or_default());
        entries.filter(|entry| accepts(entry["type"].as_str().unwrap_or_default())).collect()
    }

    /// The same, as soon as there are `count` of one event.
    pub(crate) async fn told_of(&self, event: &str, count: usize) -> Vec<Value> {
        until(&format!("{count} deliveries of {event}"), async || {
            let told = self.told(|name| name == event);
            (told.len() >= count).then_some(told)
        })
        .await
    }

    /// All that was committed before this call has been delivered after it: the logs of all
    /// alerts say so, and a test call has arrived since.
    pub(crate) async fn all_delivered(&self) {
        let page = self.owner.client.get("/alerts?resolved=all&limit=200").await.expect(200);
        for alert in page["alerts"].as_array().into_iter().flatten() {
            self.log(&text(&alert["id"]), |log| {
                log.iter().all(|delivery| !delivery["finished_at"].is_null())
            })
            .await;
        }
        let before = self.tests_delivered();
        self.send_test().await;
        until("the test call to arrive", async || (self.tests_delivered() > before).then_some(()))
            .await;
    }

    /// The log of an alert's deliveries, as soon as there is one that `accepts`.
    pub(crate) async fn log(
        &self,
        alert_id: &str,
        accepts: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        let path = format!("/alerts/{alert_id}/deliveries");
        until("the log of an alert", async || {
            let log = self.owner.client.get(&path).await.expect(200)["deliveries"].clone();
            let log = log.as_array().expect("a list").clone();
            accepts(&log).then_some(log)
        })
        .await
    }

    /// The registration of a quiet site ends in so many days, somebody reports.
    pub(crate) async fn report_days(&self, site_id: &str, days: i64) {
        let result = registration(days);
        self.bring("domain", site_id, result).await;
    }

    fn tests_delivered(&self) -> usize {
        let told = self.told(|event| event == "ssl.expiring");
        let is_test = |entry: &&Value| entry["severity"] == "info";
        told.iter().filter(is_test).count()
    }
}

/// A result of the domain check: 3 days raise a condition that 300 end.
pub(crate) fn registration(days: i64) -> Value {
    json!({
        "registrar": "Lab Registrar", "expires_at": rfc3339(in_days(days)),
        "days_remaining": days, "name_servers": ["ns1.example"], "privacy_protected": true,
        "error": null,
    })
}

/// `days` whole days and a half from now: half a day keeps the whole number the same for as long
/// as a test takes.
pub(crate) fn in_days(days: i64) -> DateTime<Utc> {
    (Utc::now() + TimeDelta::days(days) + TimeDelta::hours(12))
        .with_nanosecond(0)
        .expect("every second has a beginning")
}

/// The next moment that a busy machine can still be told of before it has been.
pub(crate) fn soon() -> DateTime<Utc> {
    Utc::now() + TimeDelta::seconds(8)
}

/// As the API writes times.
pub(crate) fn rfc3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A member that must be a time in UTC.
#[track_caller]
pub(crate) fn time(value: &Value) -> DateTime<Utc> {
    let written = text(value);
    assert!(written.ends_with('Z'), "not in UTC: {written}");
    written.parse().unwrap_or_else(|_| panic!("not a time: {written}"))
}

/// Looks until there is an answer; fails the test when there is none in time.
pub(crate) async fn until<T: Debug>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Tries to do within a span what a busy machine may be too late for, until one round was in time.
pub(crate) async fn in_some_round(what: &str, once: impl AsyncFn(usize) -> bool) {
    for round in 0..ROUNDS {
        if once(round).await {
            return;
        }
    }
    panic!("in {ROUNDS} rounds it never came to this: {what}");
}

/// What is counted by day or month begins anew at midnight (UTC): whoever begins a moment before waits
/// for it.
async fn away_from_midnight() {
    const MOMENT: u64 = 120;
    let second = u64::from(Utc::now().num_seconds_from_midnight());
    let left = 86_400_u64.saturating_sub(second);
    if left < MOMENT {
        tokio::time::sleep(Duration::from_secs(left)).await;
    }
}

/// How many a window of ten seconds admits at most, since it `begun`: as many again where a busy
/// machine takes longer than that.
pub(crate) fn most_since(begun: Instant, in_ten_seconds: u64) -> u64 {
    in_ten_seconds * (begun.elapsed().as_secs() / 10 + 1)
}

/// Whether a timer of `expected` made this pause. A busy machine adds to it, nothing takes away from
/// it; what takes much longer was waited for until something else, such as the end of a lease.
pub(crate) fn waited(pause: Duration, expected: Duration) -> bool {
    (expected..expected + LATE).contains(&pause)
}

/// A member that must be a string.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}
