//! What a loop says of a trouble that it meets at every turn: a database that is away for an hour, or
//! descriptors that are used up, are one line a minute in the log, not many a second.

use std::time::Duration;

use tokio::time::Instant;

/// The trouble that a loop told last, and when.
#[derive(Default)]
pub(crate) struct Trouble(Option<(String, Instant)>);

impl Trouble {
    /// Whether this has to be told: it is another trouble than the last one, or that was told a while
    /// ago.
    pub(crate) fn is_news(&mut self, trouble: &str, now: Instant) -> bool {
        let is_known = self
            .0
            .as_ref()
            .is_some_and(|(told, at)| told == trouble && now.duration_since(*at) < REMINDER);
        if !is_known {
            self.0 = Some((trouble.to_owned(), now));
        }
        !is_known
    }
}

const REMINDER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_that_lasts_is_told_once_a_minute_and_another_one_at_once() {
        let start = Instant::now();
        let mut trouble = Trouble::default();
        for (seconds, what, is_news) in [
            (0, "lost", true),
            (1, "lost", false),
            (59, "lost", false),
            (60, "lost", true),
            (61, "refused", true),
            (62, "refused", false),
            (63, "lost", true),
        ] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(trouble.is_news(what, now), is_news, "{what} after {seconds} s");
        }
    }
}
