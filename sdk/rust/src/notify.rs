//! A channel: it renders and interprets; the host sends, times and retries.

use serde::Serialize;

use crate::{Config, Problem, http_date, retry_after};

pub use crate::bindings::notifier::exports::vedette::plugin::notifier::{
    Alert, Delivery, EmailDelivery, HttpDelivery, Notification, Receipt, Verdict,
};

/// A notifier plugin. Register it with [`export_notifier!`](crate::export_notifier). A chat is
/// written as a [`Chat`](crate::Chat), which is one of these.
///
/// Every function is pure. A channel sees neither the network nor the address it writes to: the
/// host puts the account's own value in the place of `ref:<field>`.
pub trait Notify {
    type Config: Config;

    /// What the channel is. Called at install, when every import traps. The schema is added from
    /// [`Config`](Notify::Config).
    fn describe() -> ChannelDescriptor;

    /// Answers the normalised settings, or what is wrong with them.
    fn validate(config: Self::Config) -> Result<Self::Config, Vec<Problem>> {
        Ok(config)
    }

    /// The messages to send, usually one. They are kept and repeated byte for byte on a retry.
    /// Times of the notification are Unix milliseconds.
    fn render(notification: Notification, config: Self::Config) -> Result<Vec<Delivery>, String>;

    /// What the reply means. By default 2xx is delivered, what cannot get better by itself (401,
    /// 403, 404, 410) is rejected, and anything else is tried again, when the receiver asks for it
    /// in `Retry-After`, else on the host's own schedule.
    fn interpret(receipt: Receipt) -> Verdict {
        match receipt.status {
            200..=299 => Verdict::Delivered,
            401 | 403 | 404 | 410 => Verdict::Rejected(format!("answered {}", receipt.status)),
            _ => Verdict::Retry(receipt.retry_after()),
        }
    }
}

/// What a channel says of itself. `id` and `version` equal the manifest's.
#[derive(Clone, Debug)]
pub struct ChannelDescriptor {
    pub id: &'static str,
    pub version: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Settings that the plugin never sees; it is given `ref:<field>` in their place. Names of
    /// lower case letters, digits and `_`.
    pub secret_fields: &'static [&'static str],
    /// How many alerts one notification may carry.
    pub batch_max: u32,
}

impl HttpDelivery {
    /// A POST of a JSON body. `url` is `ref:<field>`, with an optional path or query behind it.
    ///
    /// # Errors
    /// When JSON cannot hold the body.
    pub fn post_json<T: Serialize>(url: &str, body: &T) -> Result<Self, String> {
        Ok(Self {
            url: url.to_owned(),
            method: "POST".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: serde_json::to_vec(body).map_err(|error| error.to_string())?,
        })
    }
}

impl Receipt {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// `Retry-After` in seconds (RFC 9110, 10.2.3). A date is held against the reply's own `Date`:
    /// a channel has no clock, and the receiver's is the one that counts.
    pub fn retry_after(&self) -> Option<u32> {
        let now = || http_date::parse(self.header("date")?.trim());
        let seconds = retry_after::seconds(self.header("retry-after")?, now)?;
        u32::try_from(seconds).ok()
    }

    /// What the reply of a chat service means: 2xx is delivered; a full service (429) is asked
    /// again when it says, one that is silent or broken on the host's own schedule; any other 4xx
    /// stays as it is, and `refused` says what to do about it.
    pub fn verdict(&self, refused: impl FnOnce(&Self) -> String) -> Verdict {
        match self.status {
            200..=299 => Verdict::Delivered,
            429 => Verdict::Retry(self.retry_after()),
            408 => Verdict::Retry(None),
            400..=499 => Verdict::Rejected(refused(self)),
            _ => Verdict::Retry(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Notify for Plain {
        type Config = crate::NoConfig;

        fn describe() -> ChannelDescriptor {
            ChannelDescriptor {
                id: "acme.plain",
                version: "1.0.0",
                title: "Plain",
                description: "",
                secret_fields: &[],
                batch_max: 1,
            }
        }

        fn render(_: Notification, _: crate::NoConfig) -> Result<Vec<Delivery>, String> {
            Ok(Vec::new())
        }
    }

    fn answered(status: u16, headers: &[(&str, &str)]) -> Verdict {
        crate::testing::channel::answered::<Plain>(status, headers, "")
    }

    #[test]
    fn reply_is_delivered_rejected_or_tried_again() {
        assert_eq!(answered(204, &[]), Verdict::Delivered);
        assert_eq!(answered(410, &[]), Verdict::Rejected("answered 410".to_owned()));
        assert_eq!(answered(500, &[]), Verdict::Retry(None));
        assert_eq!(answered(0, &[]), Verdict::Retry(None));
        assert_eq!(answered(302, &[]), Verdict::Retry(None));
    }

    #[test]
    fn receiver_that_names_a_time_is_heard() {
        assert_eq!(answered(429, &[("Retry-After", " 7 ")]), Verdict::Retry(Some(7)));
        assert_eq!(answered(429, &[("retry-after", "soon")]), Verdict::Retry(None));
    }

    #[test]
    fn date_of_a_receiver_is_held_against_its_own_clock() {
        let now = ("date", "Sun, 22 Nov 2026 01:58:29 GMT");
        for (at, wait) in [
            ("Sun, 22 Nov 2026 01:58:41 GMT", Some(12)),
            ("Sun, 22 Nov 2026 01:58:29 GMT", Some(0)),
            ("Sat, 21 Nov 2026 01:58:29 GMT", Some(0)),
            ("tomorrow", None),
        ] {
            assert_eq!(answered(429, &[("retry-after", at), now]), Verdict::Retry(wait), "{at}");
        }
        let clockless = answered(429, &[("retry-after", "Sun, 22 Nov 2026 01:58:41 GMT")]);
        assert_eq!(clockless, Verdict::Retry(None));
    }

    #[test]
    fn chat_that_refuses_says_what_to_do() {
        let verdict = |status: u16| {
            let headers = vec![("retry-after".to_owned(), "7".to_owned())];
            let receipt = Receipt { status, headers, body: String::new(), error: None };
            receipt.verdict(|receipt| format!("refused with {}", receipt.status))
        };
        for status in [200, 202, 204] {
            assert_eq!(verdict(status), Verdict::Delivered, "{status}");
        }
        assert_eq!(verdict(429), Verdict::Retry(Some(7)));
        for status in [0, 302, 408, 500, 503] {
            assert_eq!(verdict(status), Verdict::Retry(None), "{status}");
        }
        for status in [400, 401, 403, 404, 410, 413] {
            let said = format!("refused with {status}");
            assert_eq!(verdict(status), Verdict::Rejected(said), "{status}");
        }
    }
}
