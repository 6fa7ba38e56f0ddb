//! Servers that asked to be left alone, remembered for all sites of all accounts.

use std::time::Duration;

use vedette_sdk::Cx;

use crate::shared::{Shared, key};

/// The servers that throttled us, as one run sees it.
pub(super) struct Throttle<'a> {
    shared: Shared<'a>,
    /// The name that the run asks about.
    name: &'a str,
    now: i64,
}

impl<'a> Throttle<'a> {
    pub(super) fn new(cx: &'a Cx, name: &'a str, now: i64) -> Self {
        Self { shared: Shared::new(cx), name, now }
    }

    /// How long the server is still not to be asked for the name; none when it may be.
    pub(super) fn left(&self, server: &str) -> Option<Duration> {
        let about = [key(KIND, server), key(KIND, &self.question(server))];
        about.iter().filter_map(|key| self.until(key)).max()
    }

    fn until(&self, key: &str) -> Option<Duration> {
        let until: i64 = self.shared.get(key)?.parse().ok()?;
        let left = u64::try_from(until.saturating_sub(self.now)).ok().filter(|&left| left > 0)?;
        Some(Duration::from_secs(left).min(LONGEST))
    }

    /// The server throttled a question, and may have said for how long. Answers for how long the
    /// name is not asked for again. A server that does so again and again is left alone altogether:
    /// one name may be throttled for itself, by how often all the world asks for it.
    pub(super) fn begin(&self, server: &str, asked: Option<Duration>) -> Duration {
        let pause = asked.unwrap_or_default().clamp(SHORTEST, LONGEST);
        let strikes = key(STRIKES, server);
        let count = self.shared.get(&strikes).and_then(|count| count.parse().ok()).unwrap_or(0_u32);
        let count = count.saturating_add(1);
        self.shared.set(&strikes, &count.to_string(), STRIKES_LAST);
        let seconds = i64::try_from(pause.as_secs()).unwrap_or(i64::MAX);
        let until = self.now.saturating_add(seconds).to_string();
        self.shared.set(&key(KIND, &self.question(server)), &until, pause);
        if count >= ENOUGH {
            self.shared.set(&key(KIND, server), &until, pause);
        }
        pause
    }

    /// Whether the server denied us the name a while ago.
    pub(super) fn is_denied(&self, server: &str) -> bool {
        self.shared.get(&key(DENIED, &self.question(server))).is_some()
    }

    /// The server denied us the name, and need not be bothered with it before [`SHORTEST`] is over.
    pub(super) fn note_denial(&self, server: &str) {
        self.shared.set(&key(DENIED, &self.question(server)), "-", SHORTEST);
    }

    fn question(&self, server: &str) -> String {
        format!("{server}/{}", self.name)
    }
}

const KIND: &str = "throttled";
const DENIED: &str = "denied";
const STRIKES: &str = "strikes";
/// Throttled questions before a server is left alone, and how long each is remembered after the
/// last.
const ENOUGH: u32 = 5;
const STRIKES_LAST: Duration = Duration::from_secs(3_600);
/// Between two questions about a name that was throttled, or to a server that is left alone.
const SHORTEST: Duration = Duration::from_secs(6 * 3_600);
/// Nobody is left alone for longer, whatever they ask for.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

#[cfg(test)]
mod tests {
    use vedette_sdk::testing::Host;

    use super::*;

    const HOUR: u64 = 3_600;
    const SERVER: &str = "rdap.example:443";

    #[test]
    fn server_is_left_alone_for_six_hours_or_as_long_as_it_asks() {
        for (asked, pause) in [
            (None, 6 * HOUR),
            (Some(30), 6 * HOUR),
            (Some(24 * HOUR), 24 * HOUR),
            (Some(u64::MAX), 7 * 24 * HOUR),
        ] {
            let (host, pause) = (Host::new(), Duration::from_secs(pause));
            let (cx, start) = (host.cx(), host.cx().now());
            let about = |name: &'static str, seconds: u64| {
                Throttle::new(&cx, name, start + i64::try_from(seconds).unwrap())
            };
            let asked = asked.map(Duration::from_secs);
            let names = ["a.example", "b.example", "c.example", "d.example", "e.example"];
            for name in names {
                let untouched = about("other.example", 0).left(SERVER);
                assert_eq!(untouched, None, "the next name may do better");
                assert_eq!(about(name, 0).begin(SERVER, asked), pause);
                assert_eq!(about(name, 0).left(SERVER), Some(pause));
                assert_eq!(about(name, 0).left("rdap.example"), None, "another server");
            }
            let last = about("other.example", pause.as_secs() - 1).left(SERVER);
            assert_eq!(last, Some(Duration::from_secs(1)), "now it is the server's wish");
            assert_eq!(about("a.example", pause.as_secs()).left(SERVER), None);
        }
    }
}
