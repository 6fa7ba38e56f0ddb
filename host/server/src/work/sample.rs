//! What the tests of the outbox send.

use serde_json::json;
use uuid::Uuid;
use vedette_model::{
    AccountId, AlertId, CheckRecord, CheckState, Decision, Delivery, DeliveryId, DeliveryState,
    Notice, Severity, SiteId, Timestamp, alert::NoticeStatus,
};
use vedette_store::Commit;

use crate::{App, Caller, service};

/// So many seconds after a moment that is always the same.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
}

/// A batch that nobody has tried to send yet.
pub(super) fn delivery(account: u128, channel: &str, id: u128) -> Delivery {
    Delivery {
        id: DeliveryId(Uuid::from_u128(id)),
        account_id: AccountId(Uuid::from_u128(account)),
        channel: channel.to_owned(),
        to: None,
        notices: Vec::new(),
        own: Vec::new(),
        batch_id: None,
        created_at: at(0),
        gathered_at: None,
        patient_since: None,
        due_at: at(0),
        attempt: 0,
        unsent: 0,
        epoch: 1,
        state: DeliveryState::Pending,
        rendered: None,
        last_error: None,
        finished_at: None,
    }
}

/// One that waits with something to say.
pub(super) fn telling(account: AccountId, channel: &str, id: u128) -> Delivery {
    let notice = Notice {
        alert_id: AlertId(Uuid::from_u128(id)),
        site_id: SiteId(Uuid::from_u128(id)),
        event: "site.down".to_owned(),
        alert_type: "uptime".to_owned(),
        severity: Severity::Critical,
        domain: "shop.example".to_owned(),
        message: "shop.example is down".to_owned(),
        suggestion: None,
        status: NoticeStatus::Raised,
        created_at: at(0),
        ends: Vec::new(),
    };
    Delivery { account_id: account, notices: vec![notice], ..delivery(0, channel, id) }
}

/// Has deliveries wait, and tells nobody. Once in a test: they are what a run of a new site brought.
pub(super) async fn queue(app: &App, owner: &Caller, deliveries: &[Delivery]) {
    let body = json!({ "domain": "shop.example", "monitoring_enabled": false });
    let site = service::site::create(app, owner, &body).await.expect("a good body");
    let account = owner.account.id;
    let record = CheckRecord { site_id: site.id, ..service::sample::record() };
    let context = app.store.check_context(account, site.id, &record.check_type).await;
    let before = context.expect("the store answers").expect("its site").state.version;
    let decision = Decision {
        record,
        turned: false,
        state: CheckState { version: before + 1, ..CheckState::default() },
        raised: Vec::new(),
        updated: Vec::new(),
        resolved: Vec::new(),
        notices: Vec::new(),
        cert_changes: Vec::new(),
        recheck: false,
        at_once: false,
        unconfirmed_runs: 0,
    };
    let commit = Commit {
        account_id: account,
        node: &app.node,
        expected_version: before,
        decision: &decision,
        deliveries,
        settle: None,
        next_due: None,
    };
    app.store.commit(commit).await.expect("it is committed");
}
