//! How an account is notified: read, changed and tried out.
//!
//! *Invariant:* an address that the egress policy refuses is not stored, and is judged again
//! whenever something is sent there.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde::Serialize;
use serde_json::Value;
use url::{Host, Url};
use vedette_model::{
    DeliveryId, Feature, Notice, NotificationSettings, Plan, Severity, SiteId, Timestamp,
    alert::NoticeStatus, delivery::Outcome, settings::PatchError,
};
use vedette_sandbox::{
    ChannelDescriptor,
    egress::{Audience, NetError, Policy, url as http_url},
};

use super::{
    account,
    channel::{self, Message, NO_RELAY},
    random,
};
use crate::{App, Caller, Error, Result};

/// The answer of the test call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// Names the channels that failed, and why.
    pub message: String,
    /// The channels that were really tried.
    pub channels: Vec<&'static str>,
}

pub async fn read(app: &App, caller: &Caller) -> Result<NotificationSettings> {
    Ok(app.store.settings(caller.account.id).await?)
}

/// Changes what the body names, all or nothing.
///
/// # Errors
/// `Invalid` for a bad field or an address that may not be reached, `Forbidden` for a channel or
/// feature that the plan does not include; names the plan that does.
pub async fn update(app: &App, caller: &Caller, body: &Value) -> Result<NotificationSettings> {
    let account = caller.account.id;
    let plan = account::plan(&caller.account)?;
    let patch = |settings: &mut NotificationSettings| settings.patch(body, plan);
    let mut next = app.store.settings(account).await?;
    patch(&mut next).map_err(|refused| refuse(caller, plan, refused))?;
    judge(app, &next, body).await?;
    let changed = app.store.update_settings(account, patch).await?;
    changed.map_err(|refused| refuse(caller, plan, refused))
}

/// Sends a test to every configured channel of the plan, now and not through the outbox; each is
/// tried once.
///
/// # Errors
/// `NotConfigured` when mail is all that is configured and there is no relay.
pub async fn test(app: &App, caller: &Caller) -> Result<Tested> {
    let settings = app.store.settings(caller.account.id).await?;
    let configured = settings.active_channels(account::plan(&caller.account)?);
    let (ready, missing): (Vec<_>, Vec<_>) =
        configured.iter().partition(|channel| app.sandbox.channel(channel).is_some());
    if ready.is_empty() && missing.contains(&EMAIL) {
        return Err(Error::NotConfigured(format!("{NO_RELAY}; set smtp.url and smtp.from")));
    }
    let now = app.clock.now();
    let tries = ready.iter().map(|channel| try_out(app, &settings, channel, now));
    let mut failed = join_all(tries).await;
    failed.extend(missing.iter().map(|channel| match *channel {
        EMAIL => Some(format!("{EMAIL}: {NO_RELAY}")),
        other => Some(format!("{other}: no plugin for it is installed")),
    }));
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    Ok(Tested { message: summary(&ready, &failed), channels: ready })
}

/// Judges the addresses that the body sets; `next` is what the settings would be.
async fn judge(app: &App, next: &NotificationSettings, body: &Value) -> Result<()> {
    let named = body.as_object().into_iter().flatten().map(|(field, _)| field.as_str());
    for field in named {
        let Some(text) = next.referenced(field) else { continue };
        let refused = |reason: &dyn std::fmt::Display| {
            Error::invalid(field.to_owned(), format!("is refused: {reason}"))
        };
        let egress = app.sandbox.egress();
        let audience = Audience::Authenticated;
        let url = egress.policy().vet_url(text, audience).map_err(|refusal| refused(&refusal))?;
        if let Some(channel) = channel_of(app, field) {
            let extra = &app.config.channels.extra_hosts;
            vet_host(&channel, extra, egress.policy(), &url).map_err(|reason| refused(&reason))?;
        }
        let target = http_url::target(&url).map_err(|refusal| refused(&refusal))?;
        let deadline = Instant::now() + RESOLVE;
        // A name that cannot be resolved today may be tomorrow; one that leads inside is refused.
        if let Err(NetError::AddressBlocked(_)) = egress.resolve(&target, audience, deadline).await
        {
            return Err(refused(&"it leads to an address that may not be reached"));
        }
    }
    Ok(())
}

fn channel_of(app: &App, field: &str) -> Option<std::sync::Arc<ChannelDescriptor>> {
    let channels = app.sandbox.channels();
    let mut descriptors = channels.iter().filter_map(|channel| app.sandbox.channel(channel));
    descriptors.find(|channel| channel.url_field.as_deref() == Some(field))
}

/// A vendor's channel takes URLs of the vendor's hosts only, over https on its port; the operator
/// adds hosts of compatible servers, and an address literal that `egress.allow` opens stands in
/// for any (decisions: chat webhooks).
fn vet_host(
    channel: &ChannelDescriptor,
    extra: &[String],
    policy: &Policy,
    url: &Url,
) -> Result<(), String> {
    if channel.hosts.is_empty() {
        return Ok(());
    }
    let name = match url.host() {
        Some(Host::Domain(name)) => name,
        Some(Host::Ipv4(address)) if opened(policy, address.into()) => return Ok(()),
        Some(Host::Ipv6(address)) if opened(policy, address.into()) => return Ok(()),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) | None => "",
    };
    if extra.iter().any(|host| host.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let of_vendor = channel.hosts.iter().any(|host| match host.strip_prefix('*') {
        Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
        None => name == host,
    });
    if of_vendor && url.scheme() == "https" && url.port().is_none() {
        return Ok(());
    }
    Err(format!("it must be an https URL of {}", channel.hosts.join(", ")))
}

fn opened(policy: &Policy, address: std::net::IpAddr) -> bool {
    policy.allow.iter().any(|range| range.contains(&address))
}

/// None when the test was delivered, else the channel and why it was not.
async fn try_out(
    app: &App,
    settings: &NotificationSettings,
    channel: &str,
    now: Timestamp,
) -> Option<String> {
    let id: DeliveryId = random::id();
    let notices = [notice(now)];
    let message = Message { id, channel, notices: &notices, created_at: now, test: true };
    let mut parts = match channel::render(app, &message).await {
        Ok(parts) => parts,
        Err(cause) => {
            tracing::error!(channel, %cause, "channel {channel} could not render a test: {cause}");
            return Some(format!("{channel}: the message could not be written"));
        }
    };
    match channel::attempt(app, settings, id, channel, &mut parts).await {
        Outcome::Delivered => None,
        Outcome::Retry { reason, .. } | Outcome::Rejected(reason) => {
            Some(format!("{channel}: {reason}"))
        }
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
    }
}

fn summary(tried: &[&str], failed: &[String]) -> String {
    match (tried, failed) {
        ([], []) => "no channel is configured, so nothing was sent".to_owned(),
        (tried, []) => format!("test notification sent to {}", tried.join(", ")),
        (_, failed) => format!("test notification not delivered: {}", failed.join("; ")),
    }
}

fn refuse(caller: &Caller, plan: &Plan, refused: PatchError) -> Error {
    match refused {
        PatchError::Invalid(invalid) => invalid.into(),
        PatchError::Forbidden(feature) => not_in(caller, plan, feature),
    }
}

/// What a plan answers to whoever asks for a feature that it lacks.
pub(super) fn not_in(caller: &Caller, plan: &Plan, feature: Feature) -> Error {
    let lacks = format!("the {} plan does not include {}", plan.id, feature.noun());
    Error::forbidden(match caller.edition.lowest_plan_with(feature) {
        Some(other) => format!("{lacks}; the {} plan does", other.id),
        None => lacks,
    })
}

const EMAIL: &str = "email";
const RESOLVE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn slack() -> ChannelDescriptor {
        ChannelDescriptor {
            channel: "slack".to_owned(),
            id: "vedette.notify-slack".to_owned(),
            version: "1.0.0".to_owned(),
            title: "Slack".to_owned(),
            description: String::new(),
            config_schema: json!({}),
            secret_fields: vec!["slack_webhook_url".to_owned()],
            batch_max: 20,
            url_field: Some("slack_webhook_url".to_owned()),
            hosts: vec!["hooks.slack.com".to_owned(), "*.webhook.office.com".to_owned()],
        }
    }

    fn accepted(url: &str) -> bool {
        let policy =
            Policy { allow: vec!["127.0.0.0/8".parse().expect("a range")], ..Policy::default() };
        let extra = ["chat.acme.example".to_owned()];
        vet_host(&slack(), &extra, &policy, &Url::parse(url).expect("a URL")).is_ok()
    }

    #[test]
    fn vendors_channel_takes_the_vendors_hosts_over_https_only() {
        let yes = [
            "https://hooks.slack.com/services/T/B/x",
            "https://acme.webhook.office.com/webhookb2/x",
            "https://chat.acme.example/hooks/x",
            "http://127.0.0.1:4711/services/T/B/x",
        ];
        for url in yes {
            assert!(accepted(url), "{url}");
        }
        let no = [
            "http://hooks.slack.com/services/T/B/x",
            "https://hooks.slack.com:444/services/T/B/x",
            "https://hooks.slack.com.evil.com/services/T/B/x",
            "https://evilhooks.slack.com/services/T/B/x",
            "https://webhook.office.com/x",
            "https://evil-webhook.office.com/x",
            "https://8.8.8.8/services/T/B/x",
        ];
        for url in no {
            assert!(!accepted(url), "{url}");
        }
    }

    #[test]
    fn test_call_names_what_failed() {
        assert_eq!(summary(&[], &[]), "no channel is configured, so nothing was sent");
        assert_eq!(summary(&["webhook"], &[]), "test notification sent to webhook");
        let said = summary(&["slack", "webhook"], &["webhook: answered 500".to_owned()]);
        assert_eq!(said, "test notification not delivered: webhook: answered 500");
    }

    #[test]
    fn test_is_an_info_of_a_documented_type() {
        let now = Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years");
        let notice = notice(now);
        assert_eq!((notice.event.as_str(), notice.severity), ("ssl.expiring", Severity::Info));
        assert!(notice.message.contains("test"));
    }
}
