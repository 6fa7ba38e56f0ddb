//! `subscriptions/listen`: an assistant is told when what it has read is no longer so.
//!
//! The account's events, followed as `GET /events` follows them, become the names of the resources
//! that they change. A client that is told reads again: nothing of an event itself is passed on.
//!
//! *Invariant:* the first message says what was accepted; nothing else is told after it.
//! *Invariant:* a resource is told at most once a second, and again after its last change.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use vedette_model::{
    EventFilter,
    event::{CheckChange, Kind, Part},
};

use super::{
    refusal::Refusal,
    request::Request,
    resource::{ALERTS, SITES},
};
use crate::service::event::{HEARTBEAT, SitesChange, Told, Wanted};

/// A stream that was accepted.
pub(crate) struct Subscription {
    /// The request's, which everything that is said repeats.
    id: Value,
    told: mpsc::Receiver<Told>,
    watched: Vec<Watched>,
    spoke: Instant,
    state: State,
}

/// What goes to the client.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Message(Value),
    /// Nothing happened for a while, and the connection is to stay open.
    Heartbeat,
}

enum State {
    New,
    Open,
    Over,
}

/// One resource that was asked for.
#[derive(Debug)]
struct Watched {
    uri: &'static str,
    changed: bool,
    /// A change is not told before that.
    not_before: Instant,
}

/// The resources that a request wants to be told of. The lists of tools, prompts and resources
/// change only with the operator's plugins: who asks for them is not refused, and told nothing.
pub(super) fn resources(request: &Request) -> Result<Vec<&'static str>, Refusal> {
    let asked = request.param("notifications").and_then(Value::as_object);
    let asked = asked.ok_or_else(|| Refusal::params(NOTIFICATIONS))?;
    for name in LISTS {
        if asked.get(name).is_some_and(|value| !value.is_boolean() && !value.is_null()) {
            return Err(Refusal::params(format!("notifications.{name} must be true or false")));
        }
    }
    let mut resources = Vec::new();
    let uris = match asked.get(RESOURCES) {
        None | Some(Value::Null) => return Ok(resources),
        Some(Value::Array(uris)) => uris,
        Some(_) => return Err(Refusal::params(URIS)),
    };
    for uri in uris {
        let uri = match uri.as_str() {
            Some(SITES) => SITES,
            Some(ALERTS) => ALERTS,
            Some(_) => return Err(Refusal::params(UNKNOWN)),
            None => return Err(Refusal::params(URIS)),
        };
        if !resources.contains(&uri) {
            resources.push(uri);
        }
    }
    Ok(resources)
}

/// What has to be followed for them.
pub(super) fn wanted(resources: &[&'static str]) -> Wanted {
    // An empty filter would let all pass.
    let mut kinds = vec![Kind::Alert];
    if resources.contains(&SITES) {
        kinds.push(Kind::Check);
    }
    let filter = EventFilter { kinds, site: None };
    // A site that is removed takes its alerts with it.
    Wanted { filter, after: None, sites: !resources.is_empty() }
}

impl Subscription {
    pub(super) fn new(id: Value, resources: Vec<&'static str>, told: mpsc::Receiver<Told>) -> Self {
        let now = Instant::now();
        let watch = |uri| Watched { uri, changed: false, not_before: now };
        let watched = resources.into_iter().map(watch).collect();
        Self { id, told, watched, spoke: now, state: State::New }
    }

    /// What is to be said next; none after the answer, which is the last. Nothing is lost when
    /// the future is dropped.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        let message = match self.state {
            State::New => {
                self.state = State::Open;
                Some(self.acknowledgement())
            }
            State::Open => self.change_or_end().await,
            State::Over => return None,
        };
        self.spoke = Instant::now();
        Some(message.map_or(Said::Heartbeat, Said::Message))
    }

    /// None when there was nothing to say for too long.
    async fn change_or_end(&mut self) -> Option<Value> {
        loop {
            let now = Instant::now();
            if let Some(uri) = self.change(now) {
                return Some(self.notification(UPDATED, json!({ "uri": uri })));
            }
            let silent = self.spoke + HEARTBEAT;
            if silent <= now {
                return None;
            }
            let next = self.watched.iter().filter_map(Watched::due).fold(silent, Instant::min);
            tokio::select! {
                told = self.told.recv() => match told {
                    Some(told) => self.note(&told),
                    None => {
                        self.state = State::Over;
                        return Some(self.answer());
                    }
                },
                () = sleep_until(next) => {}
            }
        }
    }

    /// A resource that is to be told now, and then not for a while.
    fn change(&mut self, now: Instant) -> Option<&'static str> {
        let is_due = |watched: &&mut Watched| watched.due().is_some_and(|due| due <= now);
        let watched = self.watched.iter_mut().find(is_due)?;
        watched.changed = false;
        watched.not_before = now + PACE;
        Some(watched.uri)
    }

    fn note(&mut self, told: &Told) {
        let (sites, alerts) = match told {
            Told::Quiet(_) => (false, false),
            Told::Lost | Told::Sites(SitesChange::Removed) => (true, true),
            Told::Sites(SitesChange::Changed) => (true, false),
            Told::Event(_, part) => match part.as_ref() {
                Part::Check(change, _) => (*change == CheckChange::Turned, false),
                Part::Alert(_) => (false, true),
                Part::Incident(..) | Part::Gone => (false, false),
            },
        };
        for watched in &mut self.watched {
            watched.changed |= if watched.uri == SITES { sites } else { alerts };
        }
    }

    fn acknowledgement(&self) -> Value {
        let uris: Vec<&str> = self.watched.iter().map(|watched| watched.uri).collect();
        let accepted = if uris.is_empty() { json!({}) } else { json!({ RESOURCES: uris }) };
        self.notification(ACKNOWLEDGED, json!({ "notifications": accepted }))
    }

    fn notification(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({ SUBSCRIPTION: self.id });
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    }

    /// Of the request, which says that no more will come.
    fn answer(&self) -> Value {
        let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: self.id } });
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }
}

impl Watched {
    /// When its change is to be told; none when it has not changed.
    fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.not_before)
    }
}

/// Between two changes of one resource that are told.
const PACE: Duration = Duration::from_secs(1);

const RESOURCES: &str = "resourceSubscriptions";
const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";

const NOTIFICATIONS: &str = "subscriptions/listen takes params with notifications, such as \
     {\"resourceSubscriptions\": [\"vedette://alerts\"]}";
const URIS: &str = "notifications.resourceSubscriptions must be a list of URIs of resources";
const UNKNOWN: &str = "notifications.resourceSubscriptions names a resource that does not exist; \
     resources/list names those that do";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::envelope::Asked;

    fn asked(notifications: &Value) -> Result<Vec<&'static str>, i32> {
        let params = json!({ "notifications": notifications });
        let value =
            json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
        match Asked::of(Some(value)) {
            Asked::Request(request) => resources(&request).map_err(|refusal| refusal.code),
            Asked::Refused(refusal) => Err(refusal.code),
            Asked::Notification => panic!("it has an id"),
        }
    }

    fn subscription(resources: &[&'static str]) -> (mpsc::Sender<Told>, Subscription) {
        let (sender, told) = mpsc::channel(4);
        (sender, Subscription::new(json!("s"), resources.to_vec(), told))
    }

    #[test]
    fn what_can_be_told_is_accepted_and_what_is_unknown_refused() {
        for (notifications, expected) in [
            (json!({}), Ok(vec![])),
            (json!({"toolsListChanged": true, "other": 5}), Ok(vec![])),
            (json!({"resourceSubscriptions": null, "toolsListChanged": null}), Ok(vec![])),
            (json!({"resourceSubscriptions": [ALERTS]}), Ok(vec![ALERTS])),
            (json!({"resourceSubscriptions": [ALERTS, SITES, ALERTS]}), Ok(vec![ALERTS, SITES])),
            (json!({"resourceSubscriptions": ["vedette://site"]}), Err(-32602)),
            (json!({"resourceSubscriptions": [ALERTS, 5]}), Err(-32602)),
            (json!({"resourceSubscriptions": ALERTS}), Err(-32602)),
            (json!({"promptsListChanged": "yes"}), Err(-32602)),
        ] {
            assert_eq!(asked(&notifications), expected, "{notifications}");
        }
    }

    #[test]
    fn a_resource_is_told_once_a_second_however_often_it_changes() {
        let (_sender, mut subscription) = subscription(&[SITES, ALERTS]);
        let begun = Instant::now();
        assert_eq!(subscription.change(begun), None);
        for _ in 0..3 {
            subscription.note(&Told::Lost);
        }
        let told: Vec<_> = (0..3).map(|_| subscription.change(begun)).collect();
        assert_eq!(told, [Some(SITES), Some(ALERTS), None]);
        subscription.note(&Told::Sites(SitesChange::Changed));
        assert_eq!(subscription.change(begun + PACE / 2), None);
        assert_eq!(subscription.change(begun + PACE), Some(SITES));
        assert_eq!(subscription.change(begun + 5 * PACE), None);
        subscription.note(&Told::Sites(SitesChange::Removed));
        assert_eq!(subscription.change(begun + 6 * PACE), Some(SITES));
        assert_eq!(subscription.change(begun + 6 * PACE), Some(ALERTS));
    }

    #[tokio::test]
    async fn it_says_what_it_accepted_then_what_changed_and_at_last_that_it_ends() {
        let (sender, mut subscription) = subscription(&[ALERTS]);
        sender.send(Told::Lost).await.expect("it listens");
        drop(sender);
        let meta = json!({ SUBSCRIPTION: "s" });
        let accepted = json!({ RESOURCES: [ALERTS] });
        for expected in [
            json!({"jsonrpc": "2.0", "method": ACKNOWLEDGED,
                "params": {"_meta": meta, "notifications": accepted}}),
            json!({"jsonrpc": "2.0", "method": UPDATED,
                "params": {"_meta": meta, "uri": ALERTS}}),
            json!({"jsonrpc": "2.0", "id": "s",
                "result": {"resultType": "complete", "_meta": meta}}),
        ] {
            assert_eq!(subscription.next().await, Some(Said::Message(expected)));
        }
        assert_eq!(subscription.next().await, None);
    }
}
