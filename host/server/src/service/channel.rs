//! Sends one notification on one channel: the plugin renders, the host puts in the address, signs,
//! sends and times, the plugin reads the reply.
//!
//! *Invariant:* a plugin names the settings field that holds an address, and only one of its own,
//! of its own channel; the value is put in for each attempt anew, vetted by the egress policy, and
//! never logged.
//! *Invariant:* no redirect is followed, and a receiver has ten seconds for each part of an attempt.
//! *Invariant:* a receiver that was not reached is blamed only while we are not known to be offline
//! ourselves.

mod address;
mod email;
mod part;
mod sending;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    AccountId, AlertId, DeliveryId, Notice, NotificationSettings, Timestamp,
    delivery::{ATTEMPT_TIMEOUT, LETTER, Outcome, Rendered},
    settings::{self, is_documented},
};
use vedette_sandbox::{
    Notification, PluginError, Receipt, Verdict,
    egress::{Audience, HttpRequest, HttpResponse, NetError, code},
};
use vedette_store::Error as StoreError;

use super::{plan, signature, veil::veiled};
use crate::App;

pub(crate) use email::{EMAIL, NO_RELAY};
pub(crate) use sending::Sending;

/// What is to be said on a channel.
pub(crate) struct Message<'a> {
    /// Stable over all attempts.
    pub(crate) id: DeliveryId,
    pub(crate) channel: &'a str,
    pub(crate) notices: &'a [Notice],
    pub(crate) created_at: Timestamp,
    /// Sent by hand to try the channel.
    pub(crate) test: bool,
    /// What the channel's plugin is configured with.
    pub(crate) config: &'a Value,
}

/// Why there is nothing to send.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritten {
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// Otherwise what was to be told would be taken for delivered.
    #[error("the plugin wrote nothing to send")]
    Nothing,
    /// The account took the channel out of its settings meanwhile.
    #[error("the channel is no longer set")]
    Unset,
    #[error("the settings could not be read")]
    Unread(#[from] StoreError),
}

/// Which delivery is attempted.
pub(crate) struct Errand<'a> {
    pub(crate) id: DeliveryId,
    pub(crate) account: AccountId,
    pub(crate) channel: &'a str,
    /// Whom a letter is for; none for notifications.
    pub(crate) to: Option<&'a str>,
    /// The alert that it belongs to, if it speaks of one site.
    pub(crate) thread: Option<AlertId>,
    pub(crate) created_at: Timestamp,
    /// Once cancelled, nothing more is begun: no further part, and no mail to a further recipient.
    pub(crate) stop: &'a CancellationToken,
}

/// What the plugin of an account's channel is configured with. The plugins of the documented
/// channels are given nothing, so nothing has to be read for them.
pub(crate) async fn config(
    app: &App,
    account: AccountId,
    channel: &str,
) -> Result<Value, Unwritten> {
    if is_documented(channel) {
        return Ok(json!({}));
    }
    app.store.settings(account).await?.config_of(channel).ok_or(Unwritten::Unset)
}

/// Whether the account's plan still has the channel: maintenance may have held back for days what
/// was queued. A letter needs no plan, and a plan that this build does not know takes nothing away.
pub(crate) async fn is_in_plan(
    app: &App,
    account: AccountId,
    channel: &str,
) -> Result<bool, StoreError> {
    if channel == LETTER {
        return Ok(true);
    }
    let found = app.store.account(account).await?;
    let plan = found.as_ref().and_then(|account| plan::of(account).ok());
    Ok(plan.is_none_or(|plan| plan.includes(settings::needed_by(channel))))
}

/// Has the channel's plugin write the messages: several if the channel carries fewer alerts in one.
/// The same words come out every time.
pub(crate) async fn render(app: &App, message: &Message<'_>) -> Result<Vec<Rendered>, Unwritten> {
    let descriptor = app.sandbox.channel(message.channel).ok_or(PluginError::NotInstalled)?;
    let batch = usize::try_from(descriptor.batch_max).unwrap_or(usize::MAX).max(1);
    let mut parts = Vec::new();
    for notices in message.notices.chunks(batch) {
        let notification = Notification {
            id: message.id,
            source: SOURCE.to_owned(),
            timestamp: message.created_at,
            test: message.test,
            alerts: notices.to_vec(),
        };
        parts.extend(app.sandbox.render(message.channel, notification, message.config).await?);
    }
    if parts.is_empty() {
        return Err(Unwritten::Nothing);
    }
    Ok(part::named(message.id, parts))
}

/// Why a notification waits: a plugin that is not here may be here soon, or on another node.
pub(crate) fn not_installed(channel: &str) -> String {
    format!("no plugin for the channel {channel} is installed")
}

/// Sends what was rendered, part by part, and says what became of it.
pub(crate) async fn attempt(
    app: &App,
    settings: &NotificationSettings,
    errand: &Errand<'_>,
    parts: Vec<Rendered>,
) -> Outcome {
    let mut sending = Sending::of(parts);
    loop {
        if let Some(outcome) = sending.part(app, settings, errand, |_| {}).await {
            return outcome;
        }
    }
}

/// One request, and what the plugin makes of its reply. Adds the receiver's time for this part to
/// `took`.
async fn send(
    app: &App,
    settings: &NotificationSettings,
    id: DeliveryId,
    channel: &str,
    part: &Rendered,
    took: &mut Option<Duration>,
) -> Outcome {
    let Rendered::Http { url, method, headers, body } = part else {
        return Outcome::Rejected("a mail is not sent over HTTP".to_owned());
    };
    let Some(descriptor) = app.sandbox.channel(channel) else {
        return Outcome::Unsent(not_installed(channel));
    };
    let url = match address::address(url, channel, &descriptor.secret_fields, settings) {
        Ok(url) => url,
        Err(reason) => return Outcome::Rejected(reason),
    };
    let (id, mut headers) = part::addressed(headers, id);
    if let Some(key) = settings.signing_key().filter(|_| channel == SIGNED) {
        headers.extend(signature::headers(key.expose(), id, app.clock.now(), body));
    }
    let began = Instant::now();
    let request = HttpRequest {
        headers,
        body: Some(body.clone().into_bytes()),
        ..HttpRequest::new(method, &url, began + ATTEMPT_TIMEOUT, LONGEST_REPLY)
    };
    let answer = app.sandbox.egress().send_for_status(request, Audience::Authenticated).await;
    *took = Some(took.unwrap_or_default() + began.elapsed());
    if let Some(trouble) = own_trouble(app, &answer).await {
        return Outcome::Unsent(trouble);
    }
    match interpret(app, channel, &host(&url), receipt(answer)).await {
        Outcome::Rejected(reason) => Outcome::Rejected(veiled(&reason, &url)),
        // Their reasons are our own words.
        kept @ (Outcome::Delivered
        | Outcome::Retry { .. }
        | Outcome::Unsent(_)
        | Outcome::Stopped) => kept,
    }
}

/// Why nothing came back, if that is our own trouble. Behind a network that is gone every receiver
/// is silent, even those whose names our DNS servers have cached: so the servers are asked whether
/// they reach others.
async fn own_trouble(app: &App, answer: &Result<HttpResponse, NetError>) -> Option<String> {
    let cause = answer.as_ref().err()?;
    if let Some(trouble) = cause.own_trouble() {
        return Some(trouble.to_owned());
    }
    if !may_be_ours(cause) {
        return None;
    }
    let has_uplink = app.sandbox.egress().resolver().has_uplink().await;
    (has_uplink == Some(false)).then(|| NO_WAY_OUT.to_owned())
}

/// Whether the failure would look the same if nothing of ours got out: silence, a name that is not
/// found, or a refusal by somebody on the way. A receiver that said more was reached, and what
/// never left was stopped by us.
fn may_be_ours(cause: &NetError) -> bool {
    match cause {
        NetError::Timeout(_) | NetError::NameNotFound | NetError::Refused | NetError::Reset => true,
        NetError::Other(kind, _) => [code::UNREACHABLE, code::DNS_FAILED].contains(&kind.as_str()),
        NetError::NotPermitted(_)
        | NetError::AddressBlocked(_)
        | NetError::Tls(_)
        | NetError::Protocol(_)
        | NetError::TooLarge(_)
        | NetError::BudgetExhausted => false,
    }
}

/// What came back, as the plugin reads it.
fn receipt(answer: Result<HttpResponse, NetError>) -> Receipt {
    match answer {
        Ok(answer) => Receipt {
            status: answer.status,
            headers: answer.headers,
            body: String::from_utf8_lossy(&answer.body).into_owned(),
            error: None,
        },
        Err(cause) => Receipt { error: Some(token(&cause).to_owned()), ..Receipt::default() },
    }
}

fn host(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    url.as_ref().and_then(|url| url.host_str()).unwrap_or_default().to_owned()
}

/// What the plugin makes of the reply. A plugin that breaks does not lose a delivery: then the
/// contract's own rule holds, that 2xx is delivered and anything else is tried again.
async fn interpret(app: &App, channel: &str, receiver: &str, receipt: Receipt) -> Outcome {
    let said = said(&receipt);
    let accepted = (200..300).contains(&receipt.status);
    match app.sandbox.interpret(channel, receiver, receipt).await {
        Ok(Verdict::Delivered) => Outcome::Delivered,
        Ok(Verdict::Retry(seconds)) => Outcome::Retry {
            reason: said,
            after: seconds.map(|seconds| Duration::from_secs(seconds.into())),
        },
        Ok(Verdict::Rejected(reason)) => Outcome::Rejected(reason),
        Err(_) if accepted => Outcome::Delivered,
        Err(_) => Outcome::Retry { reason: said, after: None },
    }
}

/// For the sentence in settings and logs; never includes an address, which may hold a token.
fn said(receipt: &Receipt) -> String {
    match receipt.error.as_deref() {
        None => format!("answered {}", receipt.status),
        Some("timeout") => format!("no answer within {} s", ATTEMPT_TIMEOUT.as_secs()),
        Some(token) => token.replace('_', " "),
    }
}

/// Why there was no answer, for the plugin.
fn token(cause: &NetError) -> &'static str {
    match cause {
        NetError::NotPermitted(_) | NetError::AddressBlocked(_) => "blocked_address",
        NetError::NameNotFound => "name_not_found",
        NetError::Refused => "connection_refused",
        NetError::Reset => "connection_reset",
        NetError::Timeout(_) => "timeout",
        NetError::Tls(_) => "tls_handshake_failed",
        NetError::Protocol(_) | NetError::TooLarge(_) => "not_http",
        NetError::BudgetExhausted | NetError::Other(..) => "unreachable",
    }
}

/// Constant in every payload; receivers check it (spec: Payload).
const SOURCE: &str = "vedette";

const NO_WAY_OUT: &str = "we are offline ourselves: our DNS servers reach nobody";

/// The channel whose receiver has the account's signing secret.
const SIGNED: &str = "webhook";

/// Bytes of a reply that a plugin gets to read.
const LONGEST_REPLY: u32 = 16 << 10;

#[cfg(test)]
mod tests {
    use vedette_sandbox::egress::Phase;

    use super::*;

    #[test]
    fn failure_is_told_without_the_address() {
        let failed = |cause: &NetError| {
            said(&Receipt { error: Some(token(cause).to_owned()), ..Receipt::default() })
        };
        assert_eq!(failed(&NetError::AddressBlocked("169.254.169.254".into())), "blocked address");
        assert_eq!(failed(&NetError::Timeout(Phase::Receive)), "no answer within 10 s");
        assert_eq!(said(&Receipt { status: 302, ..Receipt::default() }), "answered 302");
    }

    #[test]
    fn our_own_way_out_is_asked_for_only_where_nobody_answered() {
        let text = || "x".to_owned();
        for (cause, expected) in [
            (NetError::Timeout(Phase::Connect), true),
            (NetError::NameNotFound, true),
            (NetError::Refused, true),
            (NetError::other(code::UNREACHABLE, "x"), true),
            (NetError::other(code::DNS_FAILED, "x"), true),
            (NetError::AddressBlocked(text()), false),
            (NetError::NotPermitted(text()), false),
            (NetError::Tls(text()), false),
            (NetError::Protocol(text()), false),
            (NetError::TooLarge(9), false),
        ] {
            assert_eq!(may_be_ours(&cause), expected, "{cause}");
        }
    }
}
