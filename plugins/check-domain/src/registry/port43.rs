//! WHOIS exchanges (RFC 3912): which server to ask, what it says, and which one it refers to.
//!
//! *Invariant:* what the registry says beats what a registrar says, and a registrar that fails
//! costs nothing that the registry told.

use std::time::Duration;

use vedette_sdk::{CheckError, Cx, log::Level, net::Endpoint, tcp::ExchangeRequest};

use crate::{
    error::{self, Token},
    facts::{Registration, Reply},
    name::Name,
    server::Server,
    settings::{Settings, WHOIS_PORT},
    shared::{Shared, key},
    time,
    whois::{self, Answer, Record, Referral},
};

use super::throttle::Throttle;

/// Port 43, as one run sees it.
pub(super) struct Port43<'a> {
    cx: &'a Cx,
    settings: &'a Settings,
    name: &'a Name,
    shared: Shared<'a>,
    throttle: Throttle<'a>,
}

/// Which server knows the names of a registry.
enum Known {
    At(Server),
    /// The registry has none.
    Nowhere,
    /// The root could not be asked.
    Untold(Token),
    /// The root is to be left alone for so long.
    Throttled(Duration),
}

/// What came over a connection.
struct Received {
    bytes: Vec<u8>,
    /// The time was over before the end of the stream.
    is_cut: bool,
}

impl<'a> Port43<'a> {
    pub(super) fn new(cx: &'a Cx, settings: &'a Settings, name: &'a Name, now: i64) -> Self {
        let (shared, throttle) = (Shared::new(cx), Throttle::new(cx, name.as_str(), now));
        Self { cx, settings, name, shared, throttle }
    }

    /// Asks the registry about the name, and the registrar for what the registry leaves out. None
    /// where the registry has no WHOIS server.
    pub(super) fn ask(&self) -> Result<Option<Reply>, CheckError> {
        let server = match self.server()? {
            Known::At(server) => server,
            Known::Nowhere => return self.ask_root(),
            Known::Untold(token) => return Ok(Some(Reply::Failed(token))),
            Known::Throttled(left) => return Ok(Some(Reply::Throttled(Some(left)))),
        };
        let id = server.to_string();
        if let Some(left) = self.throttle.left(&id) {
            return Ok(Some(Reply::Throttled(Some(left))));
        }
        // A zone of its own is asked for the bare name, whatever its parent wants.
        let form = self.name.zone().map_or(self.name.tld(), |_| "");
        let answer = match self.exchange(&server, form, self.name.tld())? {
            Ok(answer) => answer,
            Err(token) => return Ok(Some(Reply::Failed(token))),
        };
        Ok(Some(match answer {
            Answer::Record(record) => Reply::Registered(self.complete(server, record)),
            Answer::NotFound => Reply::NotFound,
            Answer::Reserved => Reply::Reserved,
            Answer::Throttled => Reply::Throttled(Some(self.throttle.begin(&id, None))),
            Answer::Unparsable => Reply::Failed(Token::UnparsableResponse),
        }))
    }

    /// A root of the operator's own may keep names itself. Where it has no record either, nobody
    /// knows of any: it is not the registry, whose "no match" would say something. One that does
    /// not let itself be asked has not said even that.
    fn ask_root(&self) -> Result<Option<Reply>, CheckError> {
        if self.settings.has_public_root() {
            return Ok(None);
        }
        let root = self.settings.whois_root.clone();
        Ok(match self.exchange(&root, "", self.name.tld())? {
            Ok(Answer::Record(record)) if record.is_expiry_stated || record.registrar.is_some() => {
                Some(Reply::Registered(self.complete(root, record)))
            }
            Ok(Answer::Throttled) => {
                Some(Reply::Throttled(Some(self.throttle.begin(&root.to_string(), None))))
            }
            Ok(_) => None,
            Err(token) => Some(Reply::Failed(token)),
        })
    }

    /// The registry's server: an operator's root is always asked, IANA's only where it knows.
    fn server(&self) -> Result<Known, CheckError> {
        let Some(zone) = self.name.zone() else { return self.server_of(self.name.tld()) };
        if self.settings.has_public_root() {
            return Ok(Known::At(Server::new(zone.whois, self.settings.whois_port())));
        }
        match self.server_of(zone.name)? {
            Known::Nowhere => self.server_of(self.name.tld()),
            told => Ok(told),
        }
    }

    /// What the root says of a domain, asked once a day.
    fn server_of(&self, domain: &str) -> Result<Known, CheckError> {
        let key = key("whois", &format!("{}/{domain}", self.settings.realm()));
        if let Some(kept) = self.shared.get(&key) {
            return Ok(match Server::parse(&kept, self.settings.whois_port()) {
                Some(server) => Known::At(server),
                None => Known::Nowhere,
            });
        }
        let root = &self.settings.whois_root;
        let id = root.to_string();
        if let Some(left) = self.throttle.left(&id) {
            return Ok(Known::Throttled(left));
        }
        let received = match self.receive(root, format!("{domain}\r\n").into_bytes(), ROOT)? {
            Ok(received) => received,
            Err(token) => return Ok(Known::Untold(token)),
        };
        let text = String::from_utf8_lossy(received.whole_lines());
        let port = self.settings.whois_port();
        let told = whois::server_of_tld(&text).and_then(|told| Server::parse(&told, port));
        Ok(match told {
            Some(server) => {
                self.shared.set(&key, &server.to_string(), SERVER_KEPT);
                Known::At(server)
            }
            // Silence does not mean "there is none".
            None if received.is_cut => Known::Untold(Token::Timeout),
            None if text.trim().is_empty() => Known::Untold(Token::RegistryUnavailable),
            None if whois::read(received.whole_lines(), domain, domain) == Answer::Throttled => {
                Known::Throttled(self.throttle.begin(&id, None))
            }
            None => {
                self.shared.set(&key, NOWHERE, NOWHERE_KEPT);
                Known::Nowhere
            }
        })
    }

    /// Follows referrals for what the record does not tell.
    fn complete(&self, registry: Server, record: Record) -> Registration {
        let mut is_expiry_stated = record.is_expiry_stated;
        let mut referral = record.referral.clone();
        let mut known = registration(record);
        let mut asked = vec![registry];
        while let Some(next) = referral.take().and_then(|referral| self.place(&referral)) {
            let is_whole = is_whole(&known, is_expiry_stated);
            if is_whole || asked.len() > MAX_HOPS || asked.contains(&next) {
                break;
            }
            let Some(more) = self.ask_registrar(&next) else { break };
            referral.clone_from(&more.referral);
            let stated = more.is_expiry_stated;
            known = merged(known, is_expiry_stated, registration(more));
            is_expiry_stated |= stated;
            asked.push(next);
        }
        known.bounded()
    }

    /// Where a referral leads, if it is a place that may be asked.
    fn place(&self, referral: &Referral) -> Option<Server> {
        let usual = self.settings.whois_port();
        let port = referral.port.unwrap_or(usual);
        let server = Server::parse(&referral.host, port)?;
        (server.port == usual || server.port == WHOIS_PORT).then_some(server)
    }

    /// The registrar's record; none for whatever reason.
    fn ask_registrar(&self, server: &Server) -> Option<Record> {
        let id = server.to_string();
        if self.throttle.left(&id).is_some() {
            return None;
        }
        match self.exchange(server, "", "") {
            Ok(Ok(Answer::Record(record))) => Some(record),
            Ok(Ok(Answer::Throttled)) => {
                self.throttle.begin(&id, None);
                None
            }
            other => {
                let reason = match other {
                    Ok(Err(token)) => token.as_str().to_owned(),
                    Ok(Ok(_)) => "it has no record of the name".to_owned(),
                    Err(error) => format!("{error:?}"),
                };
                let fields = [("server", id.as_str()), ("reason", reason.as_str())];
                self.cx.log(Level::Debug, "a registrar did not help", &fields);
                None
            }
        }
    }

    /// One question about the name, in the form that registries of a domain want, and the answer
    /// as registries of a domain write.
    fn exchange(
        &self,
        server: &Server,
        form: &str,
        custom: &str,
    ) -> Result<Result<Answer, Token>, CheckError> {
        let name = self.name.as_str();
        let query = whois::query(&server.host, form, name);
        let received = match self.receive(server, query, ANSWER)? {
            Ok(received) => received,
            Err(token) => return Ok(Err(token)),
        };
        Ok(match whois::read(received.whole_lines(), name, custom) {
            // A server that never closes has said all by now; one that drips has not.
            Answer::Unparsable if received.is_cut => Err(Token::Timeout),
            Answer::Throttled if received.is_cut && received.whole_lines().is_empty() => {
                Err(Token::Timeout)
            }
            Answer::Record(record)
                if received.is_cut
                    && (record.registrar.is_none() || record.expires_at.is_none()) =>
            {
                Err(Token::Timeout)
            }
            answer => Ok(answer),
        })
    }

    fn receive(
        &self,
        server: &Server,
        send: Vec<u8>,
        at_most: Duration,
    ) -> Result<Result<Received, Token>, CheckError> {
        let Some(timeout_ms) = time::timeout_ms(self.cx, at_most) else {
            return Ok(Err(Token::Timeout));
        };
        let request = ExchangeRequest {
            endpoint: Endpoint { host: server.host.clone(), port: server.port, connect_to: None },
            send,
            max: MAX_ANSWER,
            timeout_ms,
        };
        let started = self.cx.now_ms();
        match self.cx.exchange(&request) {
            Ok(bytes) => {
                let elapsed = self.cx.now_ms().saturating_sub(started);
                let is_cut = elapsed >= i64::from(timeout_ms);
                Ok(Ok(Received { bytes, is_cut }))
            }
            Err(error) => error::of_exchange(error).map(Err),
        }
    }
}

impl Received {
    /// Without the line that the end of the time cut through.
    fn whole_lines(&self) -> &[u8] {
        let last = self.bytes.iter().rposition(|&b| b == b'\n' || b == b'\r');
        match last.filter(|_| self.is_cut) {
            Some(end) => self.bytes.get(..=end).unwrap_or_default(),
            None if self.is_cut => &[],
            None => &self.bytes,
        }
    }
}

fn registration(record: Record) -> Registration {
    Registration {
        registrar: record.registrar,
        expires_at: record.expires_at,
        name_servers: record.name_servers,
        privacy_protected: record.privacy_protected,
        status: record.statuses,
    }
}

/// Whether a registrar could add nothing.
fn is_whole(known: &Registration, is_expiry_stated: bool) -> bool {
    known.registrar.is_some()
        && is_expiry_stated
        && known.name_servers.is_some()
        && known.privacy_protected.is_some()
}

/// What is known, and for the rest what was told after it. An expiry that was stated and could not
/// be read is not replaced by another's: registrars learn of renewals late.
fn merged(known: Registration, is_expiry_stated: bool, more: Registration) -> Registration {
    Registration {
        registrar: known.registrar.or(more.registrar),
        expires_at: known.expires_at.or(more.expires_at.filter(|_| !is_expiry_stated)),
        name_servers: known.name_servers.or(more.name_servers),
        privacy_protected: known.privacy_protected.or(more.privacy_protected),
        status: if known.status.is_empty() { more.status } else { known.status },
    }
}

/// What the root and the registry together may take.
pub(super) const LONGEST: Duration = ROOT.saturating_add(ANSWER);
/// Beyond the registry.
const MAX_HOPS: usize = 2;
/// Bytes.
const MAX_ANSWER: u32 = 256 << 10;
const ROOT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);
/// In the place of a server.
const NOWHERE: &str = "-/-";
const SERVER_KEPT: Duration = Duration::from_secs(86_400);
const NOWHERE_KEPT: Duration = Duration::from_secs(3_600);
