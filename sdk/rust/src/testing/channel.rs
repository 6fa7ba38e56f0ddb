//! What the tests of channels begin with: a sample notification, the calls that the host makes,
//! and claims that hold of every channel. A channel's own tests then say only what its receiver
//! is told, and what its replies mean.
//!
//! *Invariant:* more deliveries, or larger ones, than the host takes fail the test.

mod hostile;

use serde_json::Value;

use crate::{
    Alert, Chat, Delivery, HttpDelivery, Notification, Notify, Receipt, Severity, Verdict, config,
};

pub use hostile::{HOSTILE, assert_clean, hostile};

/// A critical alert about `example.com`.
pub fn alert() -> Alert {
    Alert {
        id: "0199b1a4-7c1e-7d30-8f3e-2f6d0c0c9f11".to_owned(),
        site_id: Some("0199b1a4-0000-7d30-8f3e-2f6d0c0c9f11".to_owned()),
        event: "ssl.expiring".to_owned(),
        alert_type: "ssl".to_owned(),
        severity: Severity::Critical,
        domain: "example.com".to_owned(),
        message: "the certificate expires in 5 days".to_owned(),
        suggestion: Some("renew the certificate".to_owned()),
        resolved: false,
        created_at: 1_795_167_000_000,
        url: None,
    }
}

/// A notification of these alerts, made at 2026-11-20T09:30:00Z.
pub fn notification(alerts: Vec<Alert>) -> Notification {
    Notification {
        id: "b3e0c4c8-5a0e-5b0b-8f7e-0f3c1d9f2a10".to_owned(),
        source: "vedette".to_owned(),
        timestamp: 1_795_167_000_000,
        test: false,
        alerts,
    }
}

/// What the channel sends, its settings at their defaults.
pub fn rendered<N: Notify>(notification: Notification) -> Vec<Delivery> {
    let settings = config::read::<N::Config>("").expect("settings with defaults");
    let deliveries = N::render(notification, settings).expect("deliveries");
    assert!(deliveries.len() <= MOST, "{} deliveries", deliveries.len());
    let bytes: usize = deliveries.iter().map(size).sum();
    assert!(bytes <= LARGEST, "{bytes} bytes");
    deliveries
}

/// The requests that the channel sends.
pub fn requests<N: Notify>(notification: Notification) -> Vec<HttpDelivery> {
    let request = |delivery: Delivery| match delivery {
        Delivery::Http(request) => request,
        Delivery::Email(mail) => panic!("expected requests, got {mail:?}"),
    };
    rendered::<N>(notification).into_iter().map(request).collect()
}

/// The bodies of the requests.
pub fn bodies<N: Notify>(notification: Notification) -> Vec<Value> {
    requests::<N>(notification).iter().map(json).collect()
}

/// The body of the only request.
pub fn body<N: Notify>(notification: Notification) -> Value {
    let [body] = <[Value; 1]>::try_from(bodies::<N>(notification)).expect("one request");
    body
}

/// What the channel makes of a reply.
pub fn answered<N: Notify>(status: u16, headers: &[(&str, &str)], body: &str) -> Verdict {
    let headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    N::interpret(Receipt { status, headers, body: body.to_owned(), error: None })
}

/// The sentence with which the channel gives up on such a reply. People read it, so that a page
/// of some proxy must not stand in it.
pub fn refusal<N: Notify>(status: u16, body: &str) -> String {
    match answered::<N>(status, &[], body) {
        Verdict::Rejected(reason) => {
            assert!(!reason.contains('<'), "{status} {body}: {reason}");
            reason
        }
        other => panic!("{status} {body}: {other:?}"),
    }
}

/// Claims that the same notification is the same bytes, whatever it says.
pub fn assert_pure<N: Notify>() {
    let plain = notification(vec![alert(), alert()]);
    assert_eq!(rendered::<N>(plain.clone()), rendered::<N>(plain));
    for (words, told) in hostile() {
        assert_eq!(rendered::<N>(told.clone()), rendered::<N>(told), "{words:?}");
    }
}

/// Claims that one alert is one POST of JSON, to an address that the channel does not know: the
/// host puts in what that settings field holds.
pub fn assert_posts_json<N: Notify>(field: &str) {
    let requests = requests::<N>(notification(vec![alert()]));
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.method, "POST");
    assert_eq!(request.url, format!("ref:{field}"));
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
    assert!(N::describe().secret_fields.contains(&field), "{field} is no secret field");
    json(request);
}

/// Claims that as many alerts as the channel takes at a time fit into one notification, whatever
/// they say: what does not fit would reach nobody.
pub fn assert_fits<N: Notify>() {
    let most = usize::try_from(N::describe().batch_max).expect("a small number");
    for word in ["x", "\"", "<", "&", "'", "\\", "*", "\u{1f525}"] {
        let long = |bytes: usize| word.repeat(bytes / word.len());
        let largest = Alert {
            domain: "x".repeat(253),
            message: long(1 << 10),
            suggestion: Some(long(2 << 10)),
            ..alert()
        };
        rendered::<N>(notification(vec![largest; most]));
    }
}

/// Claims that success is success, and that a chat which is full, silent or broken is asked again.
pub fn assert_asks_again<C: Chat>() {
    for status in [200, 202, 204] {
        assert_eq!(answered::<C>(status, &[], ""), Verdict::Delivered, "{status}");
    }
    assert_eq!(answered::<C>(429, &[("Retry-After", "20")], ""), Verdict::Retry(Some(20)));
    for status in [0, 408, 429, 500, 502, 503] {
        assert_eq!(answered::<C>(status, &[], ""), Verdict::Retry(None), "{status}");
    }
}

fn json(request: &HttpDelivery) -> Value {
    serde_json::from_slice(&request.body).expect("a body of JSON")
}

/// What the host counts.
fn size(delivery: &Delivery) -> usize {
    match delivery {
        Delivery::Http(request) => {
            let headers = request.headers.iter().map(|(name, value)| name.len() + value.len());
            request.body.len() + request.url.len() + headers.sum::<usize>()
        }
        Delivery::Email(mail) => {
            mail.subject.len() + mail.text.len() + mail.html.as_ref().map_or(0, String::len)
        }
    }
}

/// The contract's limits (`render` of the notifier), in deliveries and in bytes of all of them.
const MOST: usize = 32;
const LARGEST: usize = 1 << 20;

#[cfg(test)]
mod tests;
