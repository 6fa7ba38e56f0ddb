//! What a loop says of a trouble that it meets at every turn: a database that is away for an hour, or
//! descriptors that are used up, are a line or a few a minute in the log, not many a second.

use std::time::Duration;

use tokio::time::Instant;

/// The troubles that a loop told within the last minute, each with when.
#[derive(Default)]
pub(crate) struct Trouble(Vec<(String, Instant)>);

impl Trouble {
    /// Whether this has to be told: it is another trouble than those that were told within a minute,
    /// and they are not many.
    pub(crate) fn is_news(&mut self, trouble: &str, now: Instant) -> bool {
        self.0.retain(|(_, at)| now.duration_since(*at) < REMINDER);
        let is_known = self.0.iter().any(|(told, _)| told == trouble);
        if is_known || self.0.len() >= MOST {
            return false;
        }
        self.0.push((trouble.to_owned(), now));
        true
    }
}

const REMINDER: Duration = Duration::from_secs(60);
/// Lines a minute: one trouble may alternate between several texts, or have another text each time.
const MOST: usize = 4;

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
            (63, "lost", false),
            (64, "refused", false),
            (119, "lost", false),
            (120, "lost", true),
        ] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(trouble.is_news(what, now), is_news, "{what} after {seconds} s");
        }
    }

    #[test]
    fn a_trouble_in_another_text_each_time_does_not_fill_the_log() {
        let start = Instant::now();
        let mut trouble = Trouble::default();
        let told = (0..120_u32).filter(|number| {
            let now = start + Duration::from_millis(500) * *number;
            trouble.is_news(&format!("lost {number}"), now)
        });
        assert_eq!(told.count(), MOST);
    }
}
