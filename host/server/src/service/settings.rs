//! How an account is notified: read, changed and tried out.
//!
//! *Invariant:* an address that the egress policy refuses is not stored, and is judged again
//! whenever something is sent there.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    AccountId, DeliveryId, Notice, NotificationSettings, Plan, Severity, SiteId, Timestamp,
    alert::NoticeStatus,
    delivery::Outcome,
    settings::{ChannelPatch, PatchError, is_documented},
};
use vedette_sandbox::egress::{Audience, NetError, Vendor, url as http_url};
use vedette_store::Error as StoreError;

use super::{
    channel::{self, EMAIL, Errand, Message, NO_RELAY, Unwritten},
    letter, plan, plugin_channel, random,
    status_page::{self, domain},
};
use crate::{App, Caller, Error, Result, plugins::channel_fields};

/// The answer of the test call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// Names the channels that failed, and why.
    pub message: String,
    /// The channels that were really tried.
    pub channels: Vec<String>,
}

/// A status page that was enabled before pages had names gets its name when the settings are first
/// read: nobody can have learned of it elsewhere.
pub async fn read(app: &App, caller: &Caller) -> Result<NotificationSettings> {
    let settings = app.store.settings(caller.account.id).await?;
    if !settings.status_page_enabled || settings.status_page_slug.is_some() {
        return Ok(settings);
    }
    let plan = plan::of(&caller.account)?;
    let named = store(app, caller, &settings, |_| Ok(())).await?;
    named.map_err(|refused| refuse(caller, plan, refused))
}

/// Changes what the body names, all or nothing.
///
/// # Errors
/// `Invalid` for a bad field, an address that may not be reached, or what a channel's plugin does
/// not accept; `Forbidden` for a channel or feature that the plan does not include, with the plan
/// that does.
pub async fn update(app: &App, caller: &Caller, body: &Value) -> Result<NotificationSettings> {
    let account = caller.account.id;
    let plan = plan::of(&caller.account)?;
    let mut channels = ChannelPatch::parse(body, &channel_fields(&app.sandbox))?;
    let was = app.store.settings(account).await?;
    let mut next = was.clone();
    change(&mut next, body, &channels, plan).map_err(|refused| refuse(caller, plan, refused))?;
    judge(app, &next, body).await?;
    plugin_channel::judge(app, &mut channels).await?;
    if body.get(DOMAIN).is_some() {
        domain::judge(app, account, &next).await?;
    }
    let patch = |settings: &mut NotificationSettings| change(settings, body, &channels, plan);
    let changed = store(app, caller, &next, patch).await?;
    let changed = changed.map_err(|refused| refuse(caller, plan, refused))?;
    domain::changed(app, &was, &changed).await;
    Ok(changed)
}

/// The plugins' channels as the API shows them.
pub fn shown_channels(app: &App, settings: &NotificationSettings) -> Map<String, Value> {
    settings.shown_channels(&channel_fields(&app.sandbox))
}

fn change(
    settings: &mut NotificationSettings,
    body: &Value,
    channels: &ChannelPatch,
    plan: &Plan,
) -> Patched {
    settings.patch(body, plan)?;
    settings.patch_channels(channels, plan)
}

/// Makes a change, and with it the name of a status page that is enabled and has none. `next` is
/// what the settings would be.
async fn store(
    app: &App,
    caller: &Caller,
    next: &NotificationSettings,
    patch: impl Fn(&mut NotificationSettings) -> Patched,
) -> Result<Patched<NotificationSettings>> {
    let account = caller.account.id;
    let first_domain = first_domain(app, caller, next).await?;
    for attempt in 0..status_page::ATTEMPTS {
        let change = |settings: &mut NotificationSettings| {
            patch(settings)?;
            status_page::name(settings, first_domain.as_deref(), attempt);
            Ok::<(), PatchError>(())
        };
        let changed = match app.store.update_settings(account, change).await {
            // The name of the status page is another account's.
            Err(StoreError::Duplicate) => continue,
            Err(StoreError::DomainTaken) => return Err(domain::taken()),
            changed => changed?,
        };
        status_page::forget(app, account);
        if takes_a_name(next) {
            status_page::named(app);
        }
        return Ok(changed);
    }
    Err(anyhow::anyhow!("no name was free for a status page").into())
}

/// What a page without a title is named after when it gets its name.
async fn first_domain(
    app: &App,
    caller: &Caller,
    next: &NotificationSettings,
) -> Result<Option<String>> {
    if !takes_a_name(next) {
        return Ok(None);
    }
    let (_, sites) = app.store.listed_sites(caller.account.id).await?;
    Ok(sites.first().map(|site| site.domain.as_str().to_owned()))
}

/// Whether a status page is enabled that has no name yet.
fn takes_a_name(next: &NotificationSettings) -> bool {
    next.status_page_enabled && next.status_page_slug.is_none()
}

/// Sends a test to every configured channel of the plan, now and not through the outbox; each is
/// tried once. Mail is counted: nobody has confirmed the addresses it goes to.
///
/// # Errors
/// Where mail is all that is configured: `NotConfigured` when there is no relay, `Limited` when the
/// day's mails are sent.
pub async fn test(app: &App, caller: &Caller) -> Result<Tested> {
    let settings = app.store.settings(caller.account.id).await?;
    let configured = settings.active_channels(plan::of(&caller.account)?);
    let (mut ready, missing): (Vec<&str>, Vec<&str>) =
        configured.into_iter().partition(|channel| lack(app, channel).is_none());
    if ready.is_empty() && missing == [EMAIL] && app.relay.is_none() {
        return Err(Error::NotConfigured(format!("{NO_RELAY}; set smtp.url and smtp.from")));
    }
    let now = app.clock.now();
    let account = caller.account.id;
    let mut failed = Vec::new();
    if ready.contains(&EMAIL) {
        match letter::count(app, account, settings.alert_emails.len().max(1), now).await {
            Err(Error::Limited { message, .. }) if ready.len() + missing.len() > 1 => {
                ready.retain(|channel| *channel != EMAIL);
                failed.push((EMAIL, message));
            }
            counted => counted?,
        }
    }
    let try_out =
        async |channel| Some((channel, try_out(app, account, &settings, channel, now).await?));
    failed.extend(join_all(ready.iter().copied().map(try_out)).await.into_iter().flatten());
    let lacks = |channel| Some((channel, lack(app, channel)?.to_owned()));
    failed.extend(missing.into_iter().filter_map(lacks));
    let message = summary(&settings.channels(), &ready, &failed);
    Ok(Tested { message, channels: ready.into_iter().map(str::to_owned).collect() })
}

/// Judges the addresses that the body sets; `next` is what the settings would be.
async fn judge(app: &App, next: &NotificationSettings, body: &Value) -> Result<()> {
    // One wait for all of them, if nobody answers.
    let deadline = Instant::now() + RESOLVE;
    let named = body.as_object().into_iter().flatten();
    let addresses = named.filter_map(|(field, _)| Some((field, next.referenced(field)?)));
    let vetted = addresses.map(|(field, text)| async move {
        let vetted = vet(app, text, &vendor_of(app, field), deadline).await;
        vetted.map_err(|reason| Error::invalid(field.clone(), reason))
    });
    join_all(vetted).await.into_iter().collect()
}

/// Judges one address of a channel; says what is wrong with it. A name that cannot be resolved by
/// `deadline` is accepted, since it may be tomorrow; one that leads inside is refused.
pub(super) async fn vet(
    app: &App,
    text: &str,
    vendor: &Vendor,
    deadline: Instant,
) -> Result<(), String> {
    let egress = app.sandbox.egress();
    let extra = &app.config.channels.extra_hosts;
    let url = egress.policy().vet_vendor_url(text, vendor, extra)?;
    let target = http_url::target(&url).map_err(|said| format!("is refused: {said}"))?;
    match egress.resolve(&target, Audience::Authenticated, deadline).await {
        Err(NetError::AddressBlocked(_)) => Err(format!("is refused: {LEADS_INSIDE}")),
        _ => Ok(()),
    }
}

/// The URLs that the documented channel with this field accepts; any for one without a vendor. An
/// operator's plugin may have a field of the same name.
fn vendor_of(app: &App, field: &str) -> Vendor {
    let mut channels = app.sandbox.channels();
    channels.retain(|channel| is_documented(channel));
    let mut descriptors = channels.iter().filter_map(|channel| app.sandbox.channel(channel));
    let reads = descriptors.find(|channel| channel.url_field.as_deref() == Some(field));
    reads.map(|channel| channel.vendor.clone()).unwrap_or_default()
}

/// What the operator has to fix before the channel can be tried.
fn lack(app: &App, channel: &str) -> Option<&'static str> {
    match channel {
        EMAIL if app.relay.is_none() => Some(NO_RELAY),
        _ if app.sandbox.channel(channel).is_none() => Some("no plugin for it is installed"),
        _ => None,
    }
}

/// None when the test was delivered, else why it was not.
async fn try_out(
    app: &App,
    account: AccountId,
    settings: &NotificationSettings,
    channel: &str,
    now: Timestamp,
) -> Option<String> {
    let id: DeliveryId = random::id();
    let notices = [notice(now)];
    let Some(config) = settings.config_of(channel) else {
        return Some("it is no longer set".to_owned());
    };
    let message =
        Message { id, channel, notices: &notices, created_at: now, test: true, config: &config };
    let parts = match channel::render(app, &message).await {
        Ok(parts) => parts,
        Err(cause) => {
            tracing::error!(channel, %cause, "channel {channel} could not render a test: {cause}");
            // What broke inside is for the operator alone.
            return Some(match cause {
                Unwritten::Nothing | Unwritten::Unset => cause.to_string(),
                Unwritten::Plugin(_) | Unwritten::Unread(_) => {
                    "the message could not be written".to_owned()
                }
            });
        }
    };
    // The caller waits for it, and a stop gives requests their time.
    let stop = CancellationToken::new();
    let errand =
        Errand { id, account, channel, to: None, thread: None, created_at: now, stop: &stop };
    match channel::attempt(app, settings, &errand, parts).await {
        Outcome::Delivered => None,
        Outcome::Retry { reason, .. } | Outcome::Rejected(reason) | Outcome::Unsent(reason) => {
            Some(reason)
        }
        Outcome::Stopped => Some("the service is shutting down; try again in a moment".to_owned()),
    }
}

/// What a test says (spec: Delivery 7). It is about no site.
fn notice(now: Timestamp) -> Notice {
    Notice {
        alert_id: random::id(),
        site_id: SiteId(uuid::Uuid::nil()),
        event: "ssl.expiring".to_owned(),
        alert_type: "ssl".to_owned(),
        severity: Severity::Info,
        domain: "example.com".to_owned(),
        message: "This is a test notification. No certificate is about to expire.".to_owned(),
        suggestion: Some("Nothing needs to be done.".to_owned()),
        status: NoticeStatus::Raised,
        created_at: now,
        ends: Vec::new(),
    }
}

fn summary(configured: &[&str], tried: &[&str], failed: &[(&str, String)]) -> String {
    match (tried, failed) {
        ([], []) if configured.is_empty() => {
            "no channel is configured, so nothing was sent".to_owned()
        }
        ([], []) => format!(
            "the plan does not include {}, so nothing was sent; upgrade to be notified",
            configured.join(", ")
        ),
        (tried, []) => format!("test notification sent to {}", tried.join(", ")),
        (tried, failed) => {
            let has_failed = |channel: &str| failed.iter().any(|(one, _)| *one == channel);
            let sent: Vec<&str> =
                tried.iter().copied().filter(|channel| !has_failed(channel)).collect();
            let sent = if sent.is_empty() {
                String::new()
            } else {
                format!("sent to {}; ", sent.join(", "))
            };
            let failed: Vec<String> =
                failed.iter().map(|(channel, reason)| format!("{channel}: {reason}")).collect();
            format!("test notification {sent}not delivered: {}", failed.join("; "))
        }
    }
}

fn refuse(caller: &Caller, plan: &Plan, refused: PatchError) -> Error {
    match refused {
        PatchError::Invalid(invalid) => invalid.into(),
        PatchError::Forbidden(feature) => plan::lacking(caller.edition, plan, feature),
    }
}

/// What becomes of settings that are changed as far as the plan allows.
type Patched<T = ()> = Result<T, PatchError>;

const LEADS_INSIDE: &str = "it leads to an address that may not be reached";
const DOMAIN: &str = "status_page_custom_domain";
/// A name that cannot be resolved in this time is accepted, and judged when something is sent
/// there.
pub(super) const RESOLVE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_call_names_what_failed() {
        assert_eq!(summary(&[], &[], &[]), "no channel is configured, so nothing was sent");
        assert_eq!(
            summary(&["slack", "webhook"], &[], &[]),
            "the plan does not include slack, webhook, so nothing was sent; upgrade to be notified"
        );
        let one = summary(&["slack", "webhook"], &["webhook"], &[]);
        assert_eq!(one, "test notification sent to webhook");
        let both = ["slack", "webhook"];
        let webhook = ("webhook", "answered 500".to_owned());
        let said = summary(&both, &both, std::slice::from_ref(&webhook));
        let expected = "test notification sent to slack; not delivered: webhook: answered 500";
        assert_eq!(said, expected);
        let said = summary(&both, &both[..1], &[("slack", "closed".to_owned()), webhook]);
        let expected = "test notification not delivered: slack: closed; webhook: answered 500";
        assert_eq!(said, expected);
    }

    #[test]
    fn test_is_an_info_of_a_documented_type() {
        let now = Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years");
        let notice = notice(now);
        assert_eq!((notice.event.as_str(), notice.severity), ("ssl.expiring", Severity::Info));
        assert!(notice.message.contains("test"));
    }
}
