//! The ids of rows. An id says who owns the row and where it stands, so that a look-up is also
//! the check of tenancy and a range is also the order.

mod part;

use std::ops::Bound;

use surrealdb::types::{RecordId, SurrealValue};
use uuid::Uuid;
use vedette_model::{
    AccountId, AgentId, Alert, AlertId, ApiKeyId, CheckId, CheckType, DeliveryId, IncidentId,
    IncidentStatus, InvitationId, MaintenanceWindowId, RenewalEntry, RenewalStatus, Site, SiteId,
    Source, Timestamp, site::DEFAULT_PORT, status_page::Slug,
};

use self::part::{counted, key, range};

pub(crate) use self::part::{DAY_MS, first_rev, id, rev, rev_day, text_at, under, uuid_at};

pub(crate) fn account(account: AccountId) -> RecordId {
    id("account", [account.0.into_value()])
}

/// That a database was empty and got its first account.
pub(crate) fn first_account() -> RecordId {
    id("first_account", ["made".into_value()])
}

pub(crate) fn api_key(account: AccountId, key: ApiKeyId) -> RecordId {
    id("api_key", [account.0.into_value(), key.0.into_value()])
}

pub(crate) fn api_keys(account: AccountId) -> RecordId {
    under("api_key", [account.0.into_value()])
}

pub(crate) fn api_key_hash(hash: &str) -> RecordId {
    id("api_key_hash", [hash.into_value()])
}

pub(crate) fn identity(identity: &str) -> RecordId {
    id("identity", [identity.into_value()])
}

/// That an address, which its mark stands for, made an account. Where that was deleted, another number
/// stands in its place.
pub(crate) fn signup(mark: &str, account: AccountId) -> RecordId {
    id("signup", [mark.into_value(), account.0.into_value()])
}

pub(crate) fn signups(mark: &str) -> RecordId {
    under("signup", [mark.into_value()])
}

pub(crate) fn team_member(owner: AccountId, member: AccountId) -> RecordId {
    id("team_member", [owner.0.into_value(), member.0.into_value()])
}

pub(crate) fn team_invitation(owner: AccountId, invitation: InvitationId) -> RecordId {
    id("team_invitation", [owner.0.into_value(), invitation.0.into_value()])
}

/// `hash` is that of the token.
pub(crate) fn team_token(hash: &str) -> RecordId {
    id("team_token", [hash.into_value()])
}

pub(crate) fn usage(account: AccountId, month: &str) -> RecordId {
    id("usage", [account.0.into_value(), month.into_value()])
}

pub(crate) fn settings(account: AccountId) -> RecordId {
    id("settings", [account.0.into_value()])
}

pub(crate) fn billing(account: AccountId) -> RecordId {
    id("billing", [account.0.into_value()])
}

/// `customer` is the payment provider's id.
pub(crate) fn billing_customer(customer: &str) -> RecordId {
    id("billing_customer", [customer.into_value()])
}

/// `event` is the payment provider's id.
pub(crate) fn payment_event(event: &str) -> RecordId {
    id("payment_event", [event.into_value()])
}

pub(crate) fn site(account: AccountId, site: SiteId) -> RecordId {
    id("site", [account.0.into_value(), site.0.into_value()])
}

pub(crate) fn sites(account: AccountId) -> RecordId {
    under("site", [account.0.into_value()])
}

pub(crate) fn agent(account: AccountId, agent: AgentId) -> RecordId {
    id("agent", [account.0.into_value(), agent.0.into_value()])
}

pub(crate) fn agents(account: AccountId) -> RecordId {
    under("agent", [account.0.into_value()])
}

pub(crate) fn agent_key_hash(hash: &str) -> RecordId {
    id("agent_key_hash", [hash.into_value()])
}

/// A place that an agent looks at; it stands where a site stands, under an id of its own.
pub(crate) fn agent_target(account: AccountId, target: SiteId) -> RecordId {
    id("agent_target", [account.0.into_value(), target.0.into_value()])
}

pub(crate) fn agent_targets(account: AccountId) -> RecordId {
    under("agent_target", [account.0.into_value()])
}

/// What a record is about: a site, or what an agent looks at.
pub(crate) fn watched(account: AccountId, id: SiteId, source: Source) -> RecordId {
    match source {
        Source::Agent => agent_target(account, id),
        Source::Scheduler | Source::OnDemand | Source::Api | Source::Cron => site(account, id),
    }
}

/// What makes a site the same site (decisions: duplicates). The usual port stands in it as 0.
pub(crate) fn site_key(site: &Site) -> RecordId {
    let port = site.endpoint().port;
    site_key_at(site, if port == DEFAULT_PORT { 0 } else { port })
}

/// The key that a site has which named the usual port when that made it another one than naming
/// none; for every other port it is [`site_key`].
pub(crate) fn older_site_key(site: &Site) -> RecordId {
    site_key_at(site, site.endpoint().port)
}

fn site_key_at(site: &Site, port: u16) -> RecordId {
    let origin = site.origin_ip.map(|ip| ip.to_string()).unwrap_or_default();
    id(
        "site_key",
        [
            site.account_id.0.into_value(),
            site.domain.as_str().into_value(),
            i64::from(port).into_value(),
            origin.into_value(),
        ],
    )
}

pub(crate) fn site_owner(site: SiteId) -> RecordId {
    id("site_owner", [site.0.into_value()])
}

pub(crate) fn live_node(node: &str) -> RecordId {
    id("live_node", [node.into_value()])
}

pub(crate) fn schedule(site: SiteId, check_type: &CheckType) -> RecordId {
    id("schedule", [site.0.into_value(), check_type.as_str().into_value()])
}

pub(crate) fn check(
    site: SiteId,
    check_type: &CheckType,
    at: Timestamp,
    check: CheckId,
) -> RecordId {
    let key = [
        site.0.into_value(),
        check_type.as_str().into_value(),
        rev(at).into_value(),
        check.0.into_value(),
    ];
    id("check", key)
}

/// The checks whose [`rev`] is `near` or more and less than `far`.
pub(crate) fn checks_between(
    site: SiteId,
    check_type: &CheckType,
    near: i64,
    far: i64,
) -> RecordId {
    let bound =
        |rev: i64| key([site.0.into_value(), check_type.as_str().into_value(), rev.into_value()]);
    range("check", Bound::Included(bound(near)), Bound::Excluded(bound(far)))
}

pub(crate) fn check_state(site: SiteId, check_type: &CheckType) -> RecordId {
    id("check_state", [site.0.into_value(), check_type.as_str().into_value()])
}

pub(crate) fn check_memory(site: SiteId, check_type: &CheckType) -> RecordId {
    id("check_memory", [site.0.into_value(), check_type.as_str().into_value()])
}

/// `day` is a [`rev_day`].
pub(crate) fn check_day(site: SiteId, check_type: &CheckType, day: i64) -> RecordId {
    let key = [site.0.into_value(), check_type.as_str().into_value(), day.into_value()];
    id("check_day", key)
}

/// The roll-ups of the days `near` to `far`, both included.
pub(crate) fn check_days(site: SiteId, check_type: &CheckType, near: i64, far: i64) -> RecordId {
    let bound =
        |day: i64| key([site.0.into_value(), check_type.as_str().into_value(), day.into_value()]);
    range("check_day", Bound::Included(bound(near)), Bound::Included(bound(far)))
}

pub(crate) fn alert(account: AccountId, alert: AlertId) -> RecordId {
    id("alert", [account.0.into_value(), alert.0.into_value()])
}

/// The negated millisecond at which an alert was resolved; 0 while it is open.
pub(crate) fn ended(alert: &Alert) -> i64 {
    if alert.is_resolved { rev(alert.resolved_at.unwrap_or(alert.updated_at)) } else { 0 }
}

/// The counter that an alert is in.
pub(crate) fn alert_count(alert: &Alert) -> RecordId {
    id(
        "alert_count",
        [
            alert.account_id.0.into_value(),
            alert.site_id.0.into_value(),
            alert.alert_type.as_str().into_value(),
            alert.severity.as_str().into_value(),
            alert.is_resolved.into_value(),
        ],
    )
}

/// What makes an alert of a check of a site the same alert.
pub(crate) fn alert_identity(alert: &Alert) -> String {
    vedette_model::alert::tracking_key(&alert.alert_type, &alert.key)
}

pub(crate) fn cert_history(site: SiteId, at: Timestamp, check: CheckId, nth: usize) -> RecordId {
    let nth = i64::try_from(nth).expect("findings are few");
    let key = [site.0.into_value(), rev(at).into_value(), check.0.into_value(), nth.into_value()];
    id("cert_history", key)
}

pub(crate) fn incident(account: AccountId, incident: IncidentId) -> RecordId {
    id("incident", [account.0.into_value(), incident.0.into_value()])
}

/// Names the last incident that was made from the alerts of the moment.
pub(crate) fn incident_auto(account: AccountId) -> RecordId {
    id("incident_auto", [account.0.into_value()])
}

/// The counter that an incident is in.
pub(crate) fn incident_count(account: AccountId, status: IncidentStatus) -> RecordId {
    id("incident_count", [account.0.into_value(), status.as_str().into_value()])
}

pub(crate) fn event_feed(account: AccountId) -> RecordId {
    id("event_feed", [account.0.into_value()])
}

pub(crate) fn event_gate(account: AccountId) -> RecordId {
    id("event_gate", [account.0.into_value()])
}

pub(crate) fn event_new(account: AccountId, order: Uuid) -> RecordId {
    id("event_new", [account.0.into_value(), order.into_value()])
}

pub(crate) fn event(account: AccountId, number: u64) -> RecordId {
    id("event_log", [account.0.into_value(), counted(number)])
}

/// The events from `from` up to but without `end`.
pub(crate) fn events(account: AccountId, from: u64, end: u64) -> RecordId {
    let bound = |number: u64| key([account.0.into_value(), counted(number)]);
    range("event_log", Bound::Included(bound(from)), Bound::Excluded(bound(end)))
}

/// What every transaction that adds a window writes.
pub(crate) fn maintenance(account: AccountId) -> RecordId {
    id("maintenance", [account.0.into_value()])
}

pub(crate) fn maintenance_window(account: AccountId, window: MaintenanceWindowId) -> RecordId {
    id("maintenance_window", [account.0.into_value(), window.0.into_value()])
}

pub(crate) fn maintenance_windows(account: AccountId) -> RecordId {
    under("maintenance_window", [account.0.into_value()])
}

pub(crate) fn delivery(delivery: DeliveryId) -> RecordId {
    id("delivery", [delivery.0.into_value()])
}

/// What every transaction that gathers a lane writes.
pub(crate) fn channel_lane(account: AccountId, channel: &str) -> RecordId {
    id("channel_lane", [account.0.into_value(), channel.into_value()])
}

pub(crate) fn status_page_slug(slug: &Slug) -> RecordId {
    id("status_page_slug", [slug.as_str().into_value()])
}

pub(crate) fn renewal_switch(account: AccountId) -> RecordId {
    id("renewal_switch", [account.0.into_value()])
}

pub(crate) fn renewal_job(site: SiteId) -> RecordId {
    id("renewal_job", [site.0.into_value()])
}

pub(crate) fn renewal_certificate(site: SiteId) -> RecordId {
    id("renewal_certificate", [site.0.into_value()])
}

/// Of one moment the end of a renewal stands before its beginning: newest first.
pub(crate) fn renewal_log(site: SiteId, entry: &RenewalEntry) -> RecordId {
    let place: i64 = match entry.status {
        RenewalStatus::Success | RenewalStatus::Failed => 0,
        RenewalStatus::Pending => 1,
    };
    let key = [site.0.into_value(), rev(entry.created_at).into_value(), place.into_value()];
    id("renewal_log", key)
}

pub(crate) fn acme_account(account: AccountId, directory: &str) -> RecordId {
    id("acme_account", [account.0.into_value(), directory.into_value()])
}

/// The row of the account that has proved that a domain is theirs.
pub(crate) fn status_page_domain(domain: &str) -> RecordId {
    id("status_page_domain", [domain.into_value()])
}

pub(crate) fn status_page_claim(domain: &str, account: AccountId) -> RecordId {
    id("status_page_claim", [domain.into_value(), account.0.into_value()])
}

pub(crate) fn status_page_claims(domain: &str) -> RecordId {
    under("status_page_claim", [domain.into_value()])
}

pub(crate) fn purge(account: AccountId, site: SiteId) -> RecordId {
    id("purge", [account.0.into_value(), site.0.into_value()])
}

pub(crate) fn account_purge(account: AccountId) -> RecordId {
    id("account_purge", [account.0.into_value()])
}

/// The row that tells whether a key is the database's own.
pub(crate) fn seal() -> RecordId {
    id("seal", ["sample".into_value()])
}

/// All rows of `table` that belong to a site and are keyed by it first.
pub(crate) fn of_site(table: &'static str, site: SiteId) -> RecordId {
    under(table, [site.0.into_value()])
}

/// All rows of `table` that belong to an account and are keyed by it first.
pub(crate) fn of_account(table: &'static str, account: AccountId) -> RecordId {
    under(table, [account.0.into_value()])
}

/// All rows of `table` that belong to an account's site and are keyed by both.
pub(crate) fn of_account_site(table: &'static str, account: AccountId, site: SiteId) -> RecordId {
    under(table, [account.0.into_value(), site.0.into_value()])
}
