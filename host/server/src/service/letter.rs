//! Letters: mail to one person that tells of no alert. They go through the outbox like everything
//! that is sent; what happened and the letter about it are one transaction.

use askama::Template;
use chrono::SecondsFormat;
use vedette_model::{
    AccountId, Delivery, DeliveryId, Role, Timestamp,
    delivery::{LETTERS_A_DAY, Rendered, letter},
    quota,
    text::turns_direction,
};
use vedette_store::Error as StoreError;

use crate::{App, Error, Result};

/// What there is to say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Letter<'a> {
    /// To a new account.
    Welcome,
    /// To somebody who is invited to a team; they accept with the token.
    Invitation {
        /// What whoever invites calls themselves.
        name: Option<&'a str>,
        address: &'a str,
        role: Role,
        token: &'a str,
        expires_at: Timestamp,
    },
    /// The plan was bought.
    Purchased {
        plan: &'a str,
    },
    /// The subscription runs.
    Activated {
        plan: &'a str,
    },
    Canceled,
    Paused,
    Expired,
    /// The payment was taken back.
    Revoked,
}

/// One letter as its reader sees it.
#[derive(Template)]
#[template(path = "letter.html")]
struct Page<'a> {
    subject: &'a str,
    paragraphs: &'a [String],
    /// To be copied as it is.
    token: Option<&'a str>,
}

impl Letter<'_> {
    /// Writes the letter, if there is a relay to carry it, or may be at another node. Queueing it twice
    /// with one `id` is the same as once.
    pub(crate) fn to(
        self,
        app: &App,
        account: AccountId,
        address: &str,
        id: DeliveryId,
        now: Timestamp,
    ) -> Option<Delivery> {
        if app.relay.is_none() && app.store.embedded() {
            return None;
        }
        Some(letter(id, account, address, self.words(&app.origin), now))
    }

    fn words(self, origin: &str) -> Rendered {
        let subject = self.subject();
        let paragraphs = self.paragraphs(origin);
        let token = match self {
            Self::Invitation { token, .. } => Some(token),
            _ => None,
        };
        let mut text = paragraphs.join("\n\n");
        if let Some(token) = token {
            text.push_str("\n\n    ");
            text.push_str(token);
        }
        text.push('\n');
        // Without a page the text says it all.
        let html = Page { subject: &subject, paragraphs: &paragraphs, token }.render().ok();
        Rendered::Email { subject, text, html, told: Vec::new() }
    }

    fn subject(self) -> String {
        match self {
            Self::Welcome => "Welcome to Vedette".to_owned(),
            Self::Invitation { .. } => "You are invited to a team on Vedette".to_owned(),
            Self::Purchased { plan } => format!("Thank you for buying the {plan} plan of Vedette"),
            Self::Activated { plan } => format!("Your {plan} plan of Vedette is active"),
            Self::Canceled => "Your Vedette subscription was cancelled".to_owned(),
            Self::Paused => "Your Vedette subscription is paused".to_owned(),
            Self::Expired => "Your Vedette subscription has expired".to_owned(),
            Self::Revoked => "Access to your paid Vedette plan has ended".to_owned(),
        }
    }

    fn paragraphs(self, origin: &str) -> Vec<String> {
        let free = || {
            "Your account is on the free plan now. Sites above its limit stay visible but are no \
             longer checked; nothing was deleted."
                .to_owned()
        };
        match self {
            Self::Welcome => vec![
                "Your account is ready. Add a site, and its certificate, DNS, registration and \
                 uptime are watched from then on."
                    .to_owned(),
                format!("What it can do is described at {origin}/api/docs."),
            ],
            Self::Invitation { name, address, role, expires_at, .. } => vec![
                format!(
                    "{} invites you to work on their sites as {}.",
                    introduced(name, address),
                    role.as_str()
                ),
                format!(
                    "Sign in with this e-mail address and accept with the token below: \
                     POST {origin}/api/team/accept with {{\"token\": \"…\"}}. It is valid until {} \
                     and works once.",
                    expires_at.to_rfc3339_opts(SecondsFormat::Secs, true)
                ),
                "If you do not know them, ignore this mail.".to_owned(),
            ],
            Self::Purchased { plan } => {
                vec![format!("Your payment has arrived: your account is now on the {plan} plan.")]
            }
            Self::Activated { plan } => {
                vec![format!("Your subscription is active: your account is on the {plan} plan.")]
            }
            Self::Canceled => vec!["Your subscription was cancelled.".to_owned(), free()],
            Self::Paused => vec!["Your subscription is paused.".to_owned(), free()],
            Self::Expired => vec!["Your subscription has expired.".to_owned(), free()],
            Self::Revoked => {
                vec!["The payment for your plan was refunded or disputed.".to_owned(), free()]
            }
        }
    }
}

/// Counts mails that somebody has us send, before they are sent.
///
/// # Errors
/// `Limited` when the day has no room for them.
pub(super) async fn count(
    app: &App,
    account: AccountId,
    mails: usize,
    now: Timestamp,
) -> Result<()> {
    match app.store.count_letters(account, mails, LETTERS_A_DAY, now).await {
        Err(StoreError::LetterLimit) => Err(none_left(now)),
        counted => Ok(counted?),
    }
}

/// The account has sent all mails that it may send that day.
pub(super) fn none_left(now: Timestamp) -> Error {
    let retry_after = quota::whole_seconds(quota::until_next_day(now));
    let message = format!(
        "an account can send at most {LETTERS_A_DAY} invitations and tests by mail a day (UTC), \
         each recipient counted, and this would be more; try again in {retry_after} s"
    );
    Error::Limited { retry_after, message }
}

/// A stranger in a mail of ours: `Ann (ann@example.com)`. What may be more than a name is left out,
/// since the mail goes wherever they want: a link, of which mail programs make one, and a whole
/// sentence. Characters that change the reading direction would rearrange the words after it.
fn introduced(name: Option<&str>, address: &str) -> String {
    let name = name.unwrap_or_default().replace(turns_direction, "");
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().count() <= LONGEST_NAME && !may_be_link(name);
    if is_name { format!("{name} ({address})") } else { address.to_owned() }
}

/// Whether some mail program may make a link of it: a dot before a letter, as in `shop.example`.
fn may_be_link(text: &str) -> bool {
    let dot_before = |(dot, after): (char, char)| dot == '.' && after.is_alphanumeric();
    text.contains("://") || text.chars().zip(text.chars().skip(1)).any(dot_before)
}

/// Of a name that is told, in characters.
const LONGEST_NAME: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sent_all_mails_of_a_day_waits_for_the_next() {
        let now = Timestamp::UNIX_EPOCH + std::time::Duration::from_secs(23 * 3600);
        let refused = none_left(now);
        assert!(matches!(refused, Error::Limited { retry_after: 3600, .. }), "{refused}");
        assert!(refused.to_string().contains("50 invitations and tests"), "{refused}");
    }

    #[test]
    fn name_of_whoever_invites_turns_no_words_around() {
        let expires_at = Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years");
        let letter = Letter::Invitation {
            name: Some("\u{202e}Ops\u{2067}"),
            address: "ops@acme.example",
            role: Role::Editor,
            token: "t0ken",
            expires_at,
        };
        let Rendered::Email { text, html, .. } = letter.words("https://v.example") else {
            panic!("a letter is a mail");
        };
        assert!(text.starts_with("Ops (ops@acme.example) invites you"), "{text}");
        assert!(html.is_some_and(|html| html.contains("Ops (ops@acme.example) invites you")));
    }

    #[test]
    fn what_may_be_more_than_a_name_is_not_told() {
        let long = "Anna ".repeat(13);
        for (name, told) in [
            (Some("Ann B. Example"), "Ann B. Example (a@b.example)"),
            (Some("Dr. Ann"), "Dr. Ann (a@b.example)"),
            (Some("Log in at phish.test/login"), "a@b.example"),
            (Some("http://phish"), "a@b.example"),
            (Some(long.as_str()), "a@b.example"),
            (Some(" \u{200f}"), "a@b.example"),
            (None, "a@b.example"),
        ] {
            assert_eq!(introduced(name, "a@b.example"), told, "{name:?}");
        }
    }

    #[test]
    fn an_invitation_says_who_as_what_until_when_and_with_what() {
        let expires_at = Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years");
        let team = "<b>Ops</b>";
        let letter = Letter::Invitation {
            name: Some(team),
            address: "ops@acme.example",
            role: Role::Editor,
            token: "t0ken",
            expires_at,
        };
        let Rendered::Email { subject, text, html, .. } = letter.words("https://v.example") else {
            panic!("a letter is a mail");
        };
        assert!(!subject.contains(team), "a stranger's words are no subject");
        for part in [team, "editor", "2026-09-21T14:13:20Z", "t0ken", "https://v.example"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let html = html.expect("the page can be written");
        assert!(html.contains("t0ken") && !html.contains(team), "{html}");
    }
}
