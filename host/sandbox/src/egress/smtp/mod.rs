//! Mail through the operator's relay: egress dials and encrypts, lettre writes and speaks SMTP.
//!
//! *Invariant:* a mail has one recipient, so nobody learns of the others, and a refusal concerns
//! that recipient alone.
//! *Invariant:* neither the URL nor what it holds is in an error.

mod message;
mod server;
mod wire;

use std::{
    error::Error as _,
    fmt,
    time::{Duration, Instant},
};

use lettre::{
    Address,
    message::Mailbox,
    transport::smtp::{
        self,
        authentication::DEFAULT_MECHANISMS,
        client::AsyncSmtpConnection,
        commands::{Data, Mail as MailFrom, Rcpt, Rset},
        extension::ClientId,
    },
};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{timeout, timeout_at},
};
use vedette_model::DomainName;

use super::{Egress, NetError};
use server::Server;
use wire::Hello;

pub use message::Mail;

/// The relay, with the connections to it that are open. One per process.
pub struct Relay {
    egress: Egress,
    server: Server,
    from: Mailbox,
    hello: ClientId,
    /// Connections that wait for the next mail, and since when.
    idle: Mutex<Vec<(AsyncSmtpConnection, Instant)>>,
    /// Why the last connection that was tried was not let in, and since when.
    shut: Mutex<Option<(String, Instant)>>,
    /// Lets one caller at a time try whether it is open again.
    door: Semaphore,
    /// How many mails may be on their way at a time.
    turns: Semaphore,
}

/// Why a relay cannot be used as it is configured.
#[derive(Debug, Error)]
#[error("{key} {reason}")]
pub struct BadRelay {
    key: &'static str,
    reason: String,
}

/// Why a mail was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The relay asked for patience (4xx), was silent for too long, or hung up in the middle.
    Later(String),
    /// The relay let nobody in: it could not be reached, was silent, or turned us away before a
    /// sender was named, or at that, as it wants a login. Beside another mail that may mean that it
    /// takes one connection at a time.
    TurnedAway(String),
    /// The relay hung up on the sender, which may mean the same.
    HungUp(String),
    /// The relay refused it (5xx); carries its words.
    Never(String),
    /// Nobody could be reached: our own trouble, which says nothing of the relay.
    Ours(String),
}

/// The right to have mail on its way, one at a time; given back with the value.
pub struct Turn<'a> {
    _permit: SemaphorePermit<'a>,
}

/// A step of the exchange for one mail, and what went wrong in it.
struct Failed(&'static str, smtp::Error);

impl Relay {
    /// Reads what is configured; opens no socket. `from` is an address, or a name and an address.
    ///
    /// # Errors
    /// When one of the two cannot be used; names the key.
    pub fn new(egress: Egress, url: &str, from: &str) -> Result<Self, BadRelay> {
        let server = Server::parse(url)?;
        let from = sender(from)?;
        let hello = client_id(ClientId::default(), from.email.domain());
        Ok(Self {
            egress,
            server,
            from,
            hello,
            idle: Mutex::default(),
            shut: Mutex::default(),
            door: Semaphore::new(1),
            turns: Semaphore::new(MOST_AT_A_TIME),
        })
    }

    /// Waits until fewer than twenty mails are on their way; none when that takes
    /// longer than `deadline`. Our own congestion is no relay's fault: the time that a mail may
    /// take begins after it.
    pub async fn turn(&self, deadline: Instant) -> Option<Turn<'_>> {
        let turn = timeout_at(deadline.into(), self.turns.acquire()).await.ok()?;
        Some(Turn { _permit: turn.expect("the semaphore is never closed") })
    }

    /// Hands one mail to the relay. Once it has been accepted, `Ok`; a mail whose acceptance was
    /// not heard by the deadline may have been taken all the same.
    pub async fn send(
        &self,
        _turn: &Turn<'_>,
        mail: &Mail<'_>,
        deadline: Instant,
    ) -> Result<(), NotSent> {
        let never = |reason: &str| NotSent::Never(reason.to_owned());
        let to: Address = mail.to.parse().map_err(|_| never("is not an address for mail"))?;
        let bytes = message::bytes(&self.from, &to, mail).map_err(|reason| never(&reason))?;
        let connection = self.connection(deadline).await?;
        let sent = timeout_at(deadline.into(), self.hand_over(connection, to, &bytes)).await;
        sent.unwrap_or_else(|_| Err(NotSent::Later(SILENT.to_owned())))
    }

    async fn hand_over(
        &self,
        mut connection: AsyncSmtpConnection,
        to: Address,
        message: &[u8],
    ) -> Result<(), NotSent> {
        let sent = self.exchange(&mut connection, to, message).await;
        if sent.is_ok() {
            // A mail that was turned away meanwhile was one beside it.
            *self.shut.lock() = None;
        }
        if !sent.as_ref().is_err_and(|Failed(_, cause)| has_hung_up(cause)) {
            self.keep(connection);
        }
        sent.map_err(|failed| self.refusal(&failed))
    }

    /// One that is open and answers, else a new one. After one was not let in, none for a moment, and
    /// then one at a time until one is: all that waits for a relay would else knock at its door, which
    /// may keep us out for that.
    async fn connection(&self, deadline: Instant) -> Result<AsyncSmtpConnection, NotSent> {
        if let Some(connection) = self.still_there().await {
            return Ok(connection);
        }
        let _knock = self.knock()?;
        let let_in = timeout_at(deadline.into(), self.let_in(deadline)).await;
        let let_in = let_in.unwrap_or_else(|_| Err(away(SILENT)));
        *self.shut.lock() = match &let_in {
            Err(NotSent::TurnedAway(reason)) => Some((reason.clone(), Instant::now())),
            Ok(_)
            | Err(NotSent::Later(_) | NotSent::HungUp(_) | NotSent::Never(_) | NotSent::Ours(_)) => {
                None
            }
        };
        let_in
    }

    /// The turn to try a relay that was shut; none where it was not.
    fn knock(&self) -> Result<Option<SemaphorePermit<'_>>, NotSent> {
        let Some((reason, since)) = self.shut.lock().clone() else { return Ok(None) };
        if since.elapsed() >= STAYS_SHUT
            && let Ok(turn) = self.door.try_acquire()
        {
            return Ok(Some(turn));
        }
        Err(NotSent::TurnedAway(reason))
    }

    /// A new one that takes mail.
    async fn let_in(&self, deadline: Instant) -> Result<AsyncSmtpConnection, NotSent> {
        let mut connection = self.greeted(deadline).await?;
        if let Some(credentials) = self.server.credentials() {
            let known = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
            // In our own words: relays quote the user they do not know.
            known.map_err(|_| away("the mail relay did not accept the configured login"))?;
        }
        Ok(connection)
    }

    /// The connection that waits since the shortest time, if it still answers. What ended it has
    /// mostly ended the others too, and a mail has not the time to ask each.
    async fn still_there(&self) -> Option<AsyncSmtpConnection> {
        let (mut connection, since) = self.idle.lock().pop()?;
        if since.elapsed() < LONGEST_IDLE {
            // It also forgets what was begun and refused.
            let answer = timeout(ANSWERS_WITHIN, connection.command(Rset)).await;
            if answer.is_ok_and(|answer| answer.is_ok()) {
                return Some(connection);
            }
        }
        self.idle.lock().clear();
        None
    }

    /// One that was greeted, with HELO where the relay knows no EHLO (RFC 5321 section 3.2). A login is
    /// an extension, and there are none without EHLO.
    async fn greeted(&self, deadline: Instant) -> Result<AsyncSmtpConnection, NotSent> {
        let refused = match self.greet(Hello::Extended, deadline).await? {
            Ok(connection) => return Ok(connection),
            Err(cause) => cause,
        };
        if !knows_no_extensions(&refused) {
            return Err(self.turned_away(&refused));
        }
        if self.server.credentials().is_some() {
            return Err(away("the mail relay refuses EHLO, and so accepts no login"));
        }
        self.greet(Hello::Plain, deadline).await?.map_err(|cause| self.turned_away(&cause))
    }

    /// Dials and greets; the relay's own answer is the inner one.
    async fn greet(
        &self,
        hello: Hello,
        deadline: Instant,
    ) -> Result<Result<AsyncSmtpConnection, smtp::Error>, NotSent> {
        let stream = wire::open(&self.egress, &self.server, hello, deadline).await;
        let stream = stream.map_err(|cause| match cause.own_trouble() {
            Some(trouble) => NotSent::Ours(trouble.to_owned()),
            None => unreached(&cause),
        })?;
        Ok(AsyncSmtpConnection::connect_with_transport(stream, &self.hello).await)
    }

    fn turned_away(&self, cause: &smtp::Error) -> NotSent {
        match self.words(cause) {
            Some(words) => NotSent::TurnedAway(format!("the mail relay turned us away: {words}")),
            None => away("the mail relay does not speak SMTP, or hung up"),
        }
    }

    async fn exchange(
        &self,
        connection: &mut AsyncSmtpConnection,
        to: Address,
        message: &[u8],
    ) -> Result<(), Failed> {
        let at = |step| move |cause| Failed(step, cause);
        let sender = MailFrom::new(Some(self.from.email.clone()), Vec::new());
        connection.command(sender).await.map_err(at(SENDER))?;
        connection.command(Rcpt::new(to, Vec::new())).await.map_err(at("the recipient"))?;
        connection.command(Data).await.map_err(at("the message"))?;
        connection.message(message).await.map_err(at("the message"))?;
        Ok(())
    }

    fn keep(&self, connection: AsyncSmtpConnection) {
        let mut idle = self.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push((connection, Instant::now()));
        }
    }

    fn refusal(&self, Failed(step, cause): &Failed) -> NotSent {
        let reason = match self.words(cause) {
            Some(words) if *step == SENDER && wants_login(cause) => {
                return NotSent::TurnedAway(format!("the mail relay turned us away: {words}"));
            }
            Some(words) if cause.is_permanent() => {
                return NotSent::Never(format!("the mail relay refused {step}: {words}"));
            }
            Some(words) => format!("the mail relay refused {step} for now: {words}"),
            None => "the connection to the mail relay broke".to_owned(),
        };
        if *step == SENDER && has_hung_up(cause) {
            NotSent::HungUp(reason)
        } else {
            NotSent::Later(reason)
        }
    }

    /// The code and the words of a relay that refused; none when it did not answer.
    fn words(&self, cause: &smtp::Error) -> Option<String> {
        let code = cause.status()?;
        let said = cause.source().map(ToString::to_string).unwrap_or_default();
        Some(self.server.quoted(&format!("{code} {said}")))
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("from", &self.from).finish_non_exhaustive()
    }
}

/// What EHLO says of us: the name of the machine, or where that has no domain, as in a container, the
/// domain that mail is from. Many relays turn away a name without a dot (RFC 5321, 4.1.1.1).
fn client_id(machine: ClientId, domain: &str) -> ClientId {
    match machine {
        ClientId::Domain(name) if !name.contains('.') && domain.contains('.') => {
            ClientId::Domain(domain.to_owned())
        }
        machine => machine,
    }
}

/// The sender as every relay takes it: what is not ASCII would need SMTPUTF8 (RFC 6531) of each
/// server that the mail passes, and is no `Message-ID` of the others.
fn sender(text: &str) -> Result<Mailbox, BadRelay> {
    let bad = |reason: &str| BadRelay { key: "smtp.from", reason: reason.to_owned() };
    let no_address = || bad("is not a mail address, as in alerts@example.com");
    let mailbox: Mailbox = text.parse().map_err(|_| no_address())?;
    let (user, domain) = (mailbox.email.user(), mailbox.email.domain());
    if !user.is_ascii() {
        return Err(bad("must be ASCII before the @: not every mail server takes more"));
    }
    if domain.is_ascii() {
        return Ok(mailbox);
    }
    let domain = DomainName::parse(domain).map_err(|_| no_address())?;
    let email = Address::new(user, domain.as_str()).map_err(|_| no_address())?;
    Ok(Mailbox::new(mailbox.name, email))
}

fn away(reason: &str) -> NotSent {
    NotSent::TurnedAway(reason.to_owned())
}

/// A relay that refuses with a code is still there; one code says that the connection ends (RFC
/// 5321 section 3.8).
fn has_hung_up(cause: &smtp::Error) -> bool {
    cause.status().map(u16::from).is_none_or(|code| code == 421)
}

/// Whether EHLO itself was refused; two codes turn away anybody who connects (RFC 5321 section 3.1,
/// RFC 7504).
fn knows_no_extensions(refused: &smtp::Error) -> bool {
    let code = refused.status().map(u16::from);
    code.is_some_and(|code| (500..600).contains(&code) && !matches!(code, 521 | 554))
}

/// Why there is no connection, without the address.
fn unreached(cause: &NetError) -> NotSent {
    away(match cause {
        NetError::Timeout(_) => SILENT,
        NetError::AddressBlocked(_) | NetError::NotPermitted(_) => {
            "the mail relay's address is this service's own or in egress.deny"
        }
        NetError::NameNotFound => "the mail relay's name was not found",
        NetError::Refused => "the mail relay refused the connection",
        NetError::Tls(_) => "the mail relay's TLS could not be trusted",
        NetError::Protocol(_) => "the mail relay did not agree to TLS",
        NetError::Reset
        | NetError::TooLarge(_)
        | NetError::BudgetExhausted
        | NetError::Other(..) => "the mail relay could not be reached",
    })
}

/// Whether a relay accepts no mail without a login, or not with this one (RFC 4954, 6): that is not
/// the mail's fault.
fn wants_login(cause: &smtp::Error) -> bool {
    let code = cause.status().map(|code| code.to_string()).unwrap_or_default();
    ["530", "534", "535", "538"].contains(&code.as_str())
}

/// The step before which the relay has taken on nothing.
const SENDER: &str = "the sender";
const SILENT: &str = "the mail relay did not answer in time";
const MOST_AT_A_TIME: usize = 20;
const MOST_IDLE: usize = 10;
/// Relays end idle connections after minutes, and what stands between ends them sooner.
const LONGEST_IDLE: Duration = Duration::from_secs(30);
/// Less than the shortest pause between two attempts of one mail.
const STAYS_SHUT: Duration = Duration::from_millis(800);
/// What stands between may also forget a connection and drop what comes on it: then nobody answers.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_without_a_domain_is_not_what_we_greet_with() {
        let named = |name: &str| ClientId::Domain(name.to_owned());
        let literal = ClientId::Ipv4([192, 0, 2, 1].into());
        for (machine, domain, said) in [
            (named("a1b2c3"), "watch.example", named("watch.example")),
            (named("a1b2c3"), "localhost", named("a1b2c3")),
            (named("mx.watch.example"), "other.example", named("mx.watch.example")),
            (literal.clone(), "watch.example", literal),
        ] {
            assert_eq!(client_id(machine, domain), said);
        }
    }

    #[test]
    fn sender_is_ascii_whatever_stands_before_it() {
        for (text, read) in [
            ("alerts@watch.example", "alerts@watch.example"),
            ("Vedette <alerts@watch.example>", "Vedette <alerts@watch.example>"),
            ("alerts@localhost", "alerts@localhost"),
            ("alerts@bücher.example", "alerts@xn--bcher-kva.example"),
            ("Wächter <alerts@Bücher.example>", "Wächter <alerts@xn--bcher-kva.example>"),
        ] {
            assert_eq!(sender(text).unwrap(), read.parse::<Mailbox>().unwrap(), "{text}");
        }
        for text in ["", "alerts", "wächter@watch.example", "alerts@ü", "alerts@ü.127"] {
            let refused = sender(text).expect_err(text).to_string();
            assert!(refused.starts_with("smtp.from "), "{refused}");
        }
    }
}
