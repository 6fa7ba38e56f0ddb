//! Answers of registries, kept by name for all sites of all accounts: they are public, and a
//! registry is asked about a name once a day however many sites watch it.
//!
//! *Invariant:* a kept answer is used only for the name it is about, and not past the moment at
//! which the registry may have changed it by itself: a registration that ran out meanwhile is asked
//! for again, since most renew themselves at that moment, and one that has lapsed after an hour,
//! since its owner may have renewed it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vedette_sdk::Cx;

use crate::{
    error::Token,
    facts::Standing,
    name::Name,
    result::Source,
    settings::Settings,
    shared::{Shared, key},
};

/// The answers that are kept under the operator's settings.
pub(super) struct Cache<'a> {
    shared: Shared<'a>,
    realm: String,
    now: i64,
}

/// A kept answer.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    name: String,
    /// When the registry said so, in Unix seconds.
    at: i64,
    standing: Standing,
    /// This or an earlier answer showed the name as registered.
    was_registered: bool,
}

impl<'a> Cache<'a> {
    pub(super) fn new(cx: &'a Cx, settings: &Settings, now: i64) -> Self {
        Self { shared: Shared::new(cx), realm: settings.realm(), now }
    }

    pub(super) fn get(&self, name: &Name) -> Option<Entry> {
        let text = self.shared.get(&self.key(name))?;
        let entry: Entry = serde_json::from_str(&text).ok()?;
        (entry.name == name.as_str()).then_some(entry)
    }

    /// Keeps an answer in the place of the one that was kept before, for as long as it counts.
    pub(super) fn keep(&self, name: &Name, standing: &Standing, before: Option<&Entry>) {
        let is_registered = matches!(standing, Standing::Registered(..));
        let entry = Entry {
            name: name.as_str().to_owned(),
            at: self.now,
            standing: standing.clone(),
            was_registered: is_registered || before.is_some_and(|entry| entry.was_registered),
        };
        let ttl = match entry.was_registered {
            true => REMEMBERED,
            false => Duration::from_secs(entry.lifetime().unsigned_abs()),
        };
        if !ttl.is_zero() {
            let text = serde_json::to_string(&entry).expect("an entry has a form in JSON");
            self.shared.set(&self.key(name), &text, ttl);
        }
    }

    fn key(&self, name: &Name) -> String {
        key("answer", &format!("{}/{}", self.realm, name.as_str()))
    }
}

impl Entry {
    /// The answer, while it counts.
    pub(super) fn fresh(&self, now: i64) -> Option<&Standing> {
        let age = now.saturating_sub(self.at);
        let counts = (0..self.lifetime()).contains(&age) && !self.ran_out(now);
        counts.then_some(&self.standing)
    }

    fn ran_out(&self, now: i64) -> bool {
        match &self.standing {
            Standing::Registered(registration, _) => {
                registration.expires_at.is_some_and(|at| self.at <= at && at < now)
            }
            _ => false,
        }
    }

    /// Seconds for which the answer counts.
    fn lifetime(&self) -> i64 {
        match &self.standing {
            standing if standing.is_lapsing(self.at) => HOUR,
            Standing::Registered(..) => LIFETIME,
            // One witness alone is heard again at once where it matters.
            Standing::NotFound(Source::Rdap | Source::Whois) if self.was_registered => 0,
            Standing::NotFound(_) | Standing::Reserved(_) => HOUR,
            Standing::Unknown(Token::TldNotSupported) => HOUR,
            // Remembered by server.
            Standing::Unknown(Token::RateLimited) => 0,
            Standing::Denied | Standing::Unknown(_) => 600,
        }
    }
}

const HOUR: i64 = 3_600;
/// How soon a registration that has lapsed is asked for again.
pub(super) const LAPSED: Duration = Duration::from_secs(HOUR.unsigned_abs());
/// A day, less what lets a daily run find that it is over.
const LIFETIME: i64 = 24 * HOUR - 600;
/// How long a name that was registered is known as one.
const REMEMBERED: Duration = Duration::from_secs(30 * 86_400);

#[cfg(test)]
mod tests {
    use vedette_sdk::{Job, state::Scope, testing::Host};

    use super::*;
    use crate::{config::Config, facts::Registration};

    fn settings() -> Settings {
        Settings::of(&Job::new("example.com", Config::default())).expect("silence fits")
    }

    fn name(text: &str) -> Name {
        Name::of(text).expect("it is a name")
    }

    fn registered(expires_at: Option<i64>) -> Standing {
        Standing::Registered(Registration { expires_at, ..Registration::default() }, Source::Rdap)
    }

    /// Whether an answer that was kept at the double's start still counts after so many seconds.
    fn counts(before: Option<&Standing>, standing: &Standing, seconds: i64) -> bool {
        let host = Host::new();
        let (cx, start, name) = (host.cx(), host.cx().now(), name("example.com"));
        let cache = Cache::new(&cx, &settings(), start);
        if let Some(before) = before {
            cache.keep(&name, before, None);
        }
        cache.keep(&name, standing, cache.get(&name).as_ref());
        host.set_now(start + seconds);
        let entry = Cache::new(&cx, &settings(), start + seconds).get(&name);
        entry.as_ref().and_then(|entry| entry.fresh(start + seconds)).is_some()
    }

    #[test]
    fn answers_count_for_their_time() {
        for (standing, seconds) in [
            (registered(None), LIFETIME),
            (Standing::NotFound(Source::RdapAndWhois), HOUR),
            (Standing::NotFound(Source::Whois), HOUR),
            (Standing::Reserved(Source::Rdap), HOUR),
            (Standing::Unknown(Token::TldNotSupported), HOUR),
            (Standing::Unknown(Token::Timeout), 600),
            (Standing::Unknown(Token::UnparsableResponse), 600),
            (Standing::Denied, 600),
            (Standing::Unknown(Token::RateLimited), 0),
        ] {
            if seconds > 0 {
                assert!(counts(None, &standing, seconds - 1), "{standing:?}");
            }
            assert!(!counts(None, &standing, seconds), "{standing:?}");
        }
    }

    #[test]
    fn single_witness_against_a_known_name_is_heard_again_at_once() {
        let known = registered(None);
        assert!(!counts(Some(&known), &Standing::NotFound(Source::Rdap), 0));
        assert!(!counts(Some(&known), &Standing::NotFound(Source::Whois), 0));
        assert!(counts(Some(&known), &Standing::NotFound(Source::RdapAndWhois), 0));
        assert!(counts(Some(&known), &Standing::Unknown(Token::Timeout), 0));
    }

    #[test]
    fn registration_that_ran_out_meanwhile_is_asked_for_again() {
        let start = Host::new().cx().now();
        assert!(counts(None, &registered(Some(start + 100)), 100));
        assert!(!counts(None, &registered(Some(start + 100)), 101));
        let lapsed = registered(Some(start - 1));
        assert!(counts(None, &lapsed, HOUR - 1), "it had run out before");
        assert!(!counts(None, &lapsed, HOUR));
    }

    #[test]
    fn answer_is_only_given_to_whom_it_is_about() {
        let host = Host::new();
        let (cx, now) = (host.cx(), host.cx().now());
        let cache = Cache::new(&cx, &settings(), now);
        cache.keep(&name("example.com"), &registered(None), None);
        let text = cache.shared.get(&cache.key(&name("example.com"))).expect("it is kept");
        let state = cx.state(Scope::Shared);
        state.set(&cache.key(&name("example.net")), text.as_bytes(), None).expect("it is kept");
        assert_eq!(cache.get(&name("example.net")), None);
        assert!(cache.get(&name("example.com")).is_some());
        let own = Settings { bootstrap_url: "http://own.example/".to_owned(), ..settings() };
        assert_eq!(Cache::new(&cx, &own, now).get(&name("example.com")), None);
    }
}
