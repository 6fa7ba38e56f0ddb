//! One mail as bytes: the headers are ours, the words are the channel's.
//!
//! *Invariant:* the same mail is the same bytes, at every attempt.

use std::time::SystemTime;

use lettre::{
    Address, Message,
    message::{
        Mailbox, MultiPart, SinglePart,
        header::{HeaderName, HeaderValue},
    },
};
use uuid::Uuid;
use vedette_model::{AlertId, DeliveryId, Timestamp, text::misleads};

/// What is sent to one recipient.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    pub to: &'a str,
    pub subject: &'a str,
    pub text: &'a str,
    pub html: Option<&'a str>,
    /// Becomes the `Message-ID`: the same for the same mail at every attempt.
    pub id: Uuid,
    pub delivery: DeliveryId,
    /// The alert that it belongs to: mail programs show what they get of it together.
    pub thread: Option<AlertId>,
    pub created_at: Timestamp,
}

/// Fails only for what is no message at all; lettre says why.
pub(super) fn bytes(from: &Mailbox, to: &Address, mail: &Mail<'_>) -> Result<Vec<u8>, String> {
    let message_id = format!("<{}@{}>", mail.id, from.email.domain());
    let mut builder = Message::builder()
        .from(from.clone())
        // No display name: it would be text of a stranger that looks like a sender's.
        .to(Mailbox::new(None, to.clone()))
        .subject(subject(mail.subject))
        .date(SystemTime::from(mail.created_at))
        .message_id(Some(message_id))
        .raw_header(header("Auto-Submitted", "auto-generated".to_owned()))
        .raw_header(header("X-Vedette-Delivery", mail.delivery.to_string()));
    if let Some(alert) = mail.thread {
        // No mail has this id: it is what all of them refer to (RFC 5322, 3.6.4).
        builder = builder.references(format!("<{alert}.alert@{}>", from.email.domain()));
    }
    let message = match mail.html {
        None => builder.singlepart(SinglePart::plain(mail.text.to_owned())),
        Some(html) => {
            let parts = MultiPart::alternative().boundary(mail.id.simple().to_string());
            builder.multipart(
                parts
                    .singlepart(SinglePart::plain(mail.text.to_owned()))
                    .singlepart(SinglePart::html(html.to_owned())),
            )
        }
    };
    message.map(|message| message.formatted()).map_err(|error| error.to_string())
}

fn header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

/// One line, whatever the plugin wrote. `=?` would begin an encoded word (RFC 2047).
fn subject(text: &str) -> String {
    let line = text.replace(misleads, " ").replace("=?", "= ?");
    line.chars().take(LONGEST_SUBJECT).collect()
}

const LONGEST_SUBJECT: usize = 250;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(subject: &str, text: &str) -> String {
        let from = "Vedette <alerts@watch.example>".parse().expect("a mailbox");
        let to = "ops@example.com".parse().expect("an address");
        let mail = Mail {
            to: "ops@example.com",
            subject,
            text,
            html: Some("<p>ü</p>"),
            id: Uuid::from_u128(7),
            delivery: DeliveryId(Uuid::from_u128(8)),
            thread: Some(AlertId(Uuid::from_u128(9))),
            created_at: Timestamp::from_timestamp(1_795_167_000, 0).expect("within the years"),
        };
        let bytes = bytes(&from, &to, &mail).expect("a message");
        assert!(bytes.is_ascii(), "no relay needs 8BITMIME");
        String::from_utf8(bytes).expect("ASCII")
    }

    #[test]
    fn same_mail_is_the_same_bytes_under_our_headers() {
        let once = written("[critical] example.com", "text");
        assert_eq!(once, written("[critical] example.com", "text"));
        for line in [
            "To: ops@example.com\r\n",
            "Subject: [critical] example.com\r\n",
            "Date: Fri, 20 Nov 2026 09:30:00 +0000\r\n",
            "Message-ID: <00000000-0000-0000-0000-000000000007@watch.example>\r\n",
            "References: <00000000-0000-0000-0000-000000000009.alert@watch.example>\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "X-Vedette-Delivery: 00000000-0000-0000-0000-000000000008\r\n",
            "MIME-Version: 1.0\r\n",
        ] {
            assert_eq!(once.matches(line).count(), 1, "{line}{once}");
        }
    }

    #[test]
    fn no_subject_adds_a_header_or_is_decoded_to_something_else() {
        for hostile in [
            "x\r\nBcc: a@b.example",
            "x\nBcc: a@b.example",
            "x\u{2028}Bcc: a@b.example",
            "\r\n\r\nbody",
            "=?utf-8?q?=0d=0aBcc:_a@b.example?=",
        ] {
            let message = written(hostile, "text");
            let (head, _) = message.split_once("\r\n\r\n").expect("a head");
            let lines: Vec<&str> = head.split("\r\n").collect();
            assert!(!lines.iter().any(|line| line.starts_with("Bcc")), "{head}");
            assert_eq!(lines.iter().filter(|line| line.starts_with("Subject:")).count(), 1);
            assert!(!head.contains("=?utf-8?q?"), "{head}");
        }
    }
}
