//! A chat: a service that takes messages for people at a webhook.
//!
//! notification → an [`Entry`] per alert → the chat's own messages → each a POST of JSON to the
//! URL that the account has set.
//!
//! *Invariant:* the URL never enters the plugin; the host puts it in the place of `ref:<field>`.

use serde::Serialize;

use crate::{
    ChannelDescriptor, Delivery, HttpDelivery, NoConfig, Notification, Notify, Receipt, Verdict,
    message::{Entry, entries},
};

/// What one chat says and hears differently from the others. Whatever implements it is a
/// [`Notify`], and is registered with [`export_notifier!`](crate::export_notifier). A channel
/// with settings of its own, or one that is not read by people, implements [`Notify`] itself.
///
/// ```
/// use serde::Serialize;
/// use vedette_sdk::{
///     ChannelDescriptor, Chat, Receipt,
///     message::{Entry, fit, headline, verbatim},
/// };
///
/// struct Board;
///
/// #[derive(Serialize)]
/// struct Line {
///     line: String,
/// }
///
/// impl Chat for Board {
///     const URL_FIELD: &'static str = "board_url";
///
///     fn describe() -> ChannelDescriptor {
///         ChannelDescriptor {
///             id: "acme.board",
///             version: env!("CARGO_PKG_VERSION"),
///             title: "Board",
///             description: "Shows how many alerts there are on the board in the hall.",
///             secret_fields: &[Self::URL_FIELD],
///             batch_max: 100,
///         }
///     }
///
///     fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String> {
///         Ok(vec![Line { line: fit(&headline(entries), 80, verbatim) }])
///     }
///
///     fn refused(receipt: &Receipt) -> String {
///         format!("the board is not at this URL; save its new one (answered {})", receipt.status)
///     }
/// }
///
/// vedette_sdk::export_notifier!(Board);
///
/// // With the feature `testing`, what holds of every chat is there to be claimed of this one.
/// use vedette_sdk::testing::channel;
/// channel::assert_posts_json::<Board>("board_url");
/// channel::assert_pure::<Board>();
/// channel::assert_clean::<Board>();
/// channel::assert_asks_again::<Board>();
/// ```
pub trait Chat {
    /// The settings field that holds the webhook's URL, one of the descriptor's secret fields.
    const URL_FIELD: &'static str;

    /// As in [`Notify::describe`].
    fn describe() -> ChannelDescriptor;

    /// The bodies to post, in this order: usually one, more where the chat's limits ask for it.
    fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String>;

    /// Says to people what to do about a reply that is final.
    fn refused(receipt: &Receipt) -> String;

    /// What the reply means, by default as in [`Receipt::verdict`].
    fn interpret(receipt: Receipt) -> Verdict {
        receipt.verdict(Self::refused)
    }
}

impl<C: Chat> Notify for C {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        <C as Chat>::describe()
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let url = format!("ref:{}", C::URL_FIELD);
        let entries = entries(&notification);
        let messages = C::messages(&entries)?;
        let posted = messages.iter().map(|message| HttpDelivery::post_json(&url, message));
        posted.map(|request| request.map(Delivery::Http)).collect()
    }

    fn interpret(receipt: Receipt) -> Verdict {
        <C as Chat>::interpret(receipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::channel::{
        alert, assert_asks_again, assert_posts_json, assert_pure, bodies, notification, refusal,
    };

    struct Ticker;

    impl Chat for Ticker {
        const URL_FIELD: &'static str = "ticker_url";

        fn describe() -> ChannelDescriptor {
            ChannelDescriptor {
                id: "acme.ticker",
                version: "1.0.0",
                title: "Ticker",
                description: "",
                secret_fields: &[Self::URL_FIELD],
                batch_max: 2,
            }
        }

        fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String> {
            Ok(entries.iter().map(Entry::title).collect::<Vec<String>>())
        }

        fn refused(receipt: &Receipt) -> String {
            format!("refused with {}", receipt.status)
        }
    }

    #[test]
    fn each_message_is_a_post_to_the_url_that_the_host_puts_in() {
        assert_posts_json::<Ticker>("ticker_url");
        assert_pure::<Ticker>();
        let mut second = alert();
        second.resolved = true;
        let bodies = bodies::<Ticker>(notification(vec![alert(), second]));
        assert_eq!(bodies, ["Critical: example.com", "Resolved: example.com"]);
    }

    #[test]
    fn reply_is_read_as_a_chats_unless_it_says_otherwise() {
        assert_asks_again::<Ticker>();
        assert_eq!(refusal::<Ticker>(404, ""), "refused with 404");
    }
}
