//! Sends hellos and says what became of each.

use std::time::Duration;

use vedette_sdk::{
    Cx,
    client_hello::{self, Closing, Offer, SSL3, TLS13},
    net::{Endpoint, NetError, Phase},
    tcp::ExchangeRequest,
    tls::Starttls,
};

use super::{
    Hello, Outcome,
    flight::{self, Answer},
    records::MAX_ANSWER,
    starttls,
};

/// Sends hellos to one endpoint until a moment.
pub(crate) struct Prober<'a> {
    cx: &'a Cx,
    endpoint: &'a Endpoint,
    starttls: Option<Starttls>,
    /// Unix milliseconds.
    until_ms: i64,
}

impl<'a> Prober<'a> {
    /// All hellos together may take as long as `at_most`.
    pub(crate) fn new(
        cx: &'a Cx,
        endpoint: &'a Endpoint,
        starttls: Option<Starttls>,
        at_most: Duration,
    ) -> Self {
        let at_most = i64::try_from(at_most.as_millis()).unwrap_or(i64::MAX);
        Self { cx, endpoint, starttls, until_ms: cx.now_ms().saturating_add(at_most) }
    }

    /// At most sixteen hellos, four at a time; behind STARTTLS one after the other. Outcomes keep
    /// their order.
    pub(crate) fn ask(&self, hellos: &[Hello]) -> Vec<Outcome> {
        if self.starttls.is_some() {
            return hellos.iter().map(|hello| self.talk(&hello.offer())).collect();
        }
        let waves = u32::try_from(hellos.len().div_ceil(IN_FLIGHT)).unwrap_or(u32::MAX).max(1);
        let Some(left) = self.left_ms() else {
            return vec![Outcome::Unknown; hellos.len()];
        };
        let offers: Vec<Offer> = hellos.iter().map(|hello| hello.offer()).collect();
        let request = |offer: &Offer| ExchangeRequest {
            endpoint: self.endpoint.clone(),
            send: self.client_hello(offer, Closing::AtOnce),
            max: MAX_ANSWER as u32,
            timeout_ms: (left / waves).max(1),
        };
        let requests: Vec<ExchangeRequest> = offers.iter().map(request).collect();
        let answers = self.cx.exchange_many(&requests);
        offers.iter().zip(answers).map(|(offer, answer)| self.settle(offer, answer)).collect()
    }

    /// Some servers say nothing when hello and alert come together: they are asked once more.
    fn settle(&self, offer: &Offer, answer: Result<Vec<u8>, NetError>) -> Outcome {
        let answer = match answer {
            Ok(bytes) => flight::read(&bytes),
            Err(NetError::Reset | NetError::Timeout(Phase::Send | Phase::Receive)) => {
                Answer::Silence
            }
            Err(_) => return Outcome::Unknown,
        };
        match answer {
            Answer::Silence | Answer::Nonsense => self.talk(offer),
            told => outcome(offer, told),
        }
    }

    /// A hello without the alert behind it, listened to as it is answered.
    fn talk(&self, offer: &Offer) -> Outcome {
        self.answer(offer).map_or(Outcome::Unknown, |answer| outcome(offer, answer))
    }

    /// None when no answer was to be had, or when the server hangs on without one.
    fn answer(&self, offer: &Offer) -> Option<Answer> {
        let left = || self.left_ms().map(|left| left.min(PATIENCE_MS));
        let line = self.cx.connect(self.endpoint, left()?).ok()?;
        if let Some(protocol) = self.starttls {
            starttls::begin(&line, protocol, &self.endpoint.host, left)?;
        }
        line.write(&self.client_hello(offer, Closing::ByHand), left()?).ok()?;
        let mut heard = Vec::new();
        for _ in 0..MAX_READS {
            match left().map(|left| line.read(CHUNK, left)) {
                // A clean close: without a word it is a refusal.
                Some(Ok(bytes)) if bytes.is_empty() => return Some(flight::read(&heard)),
                Some(Ok(bytes)) => heard.extend(bytes),
                Some(Err(_)) | None => break,
            }
            let answer = flight::read(&heard);
            if answer.is_final() || heard.len() >= MAX_ANSWER {
                return Some(answer);
            }
        }
        // What came before a reset or a timeout counts, and nothing is no refusal.
        Some(flight::read(&heard)).filter(|answer| matches!(answer, Answer::Hello(_)))
    }

    fn client_hello(&self, offer: &Offer, closing: Closing) -> Vec<u8> {
        let random = client_hello::random(self.cx);
        client_hello::write(offer, &self.endpoint.host, &random, closing)
    }

    /// None when time is up.
    fn left_ms(&self) -> Option<u32> {
        let own = self.until_ms.saturating_sub(self.cx.now_ms());
        let run = i64::try_from(self.cx.remaining().saturating_sub(RESERVE).as_millis());
        u32::try_from(own.min(run.unwrap_or(i64::MAX))).ok().filter(|left| *left > 0)
    }
}

/// What an answer means for what was offered. `Silence` is the end of a conversation here.
fn outcome(offer: &Offer, answer: Answer) -> Outcome {
    match answer {
        Answer::Hello(flight) => {
            let newest = flight.version <= offer.version && flight.version >= SSL3;
            let version = newest && (offer.below_tls13 || flight.version == TLS13);
            if version && offer.suites.contains(&flight.cipher) {
                Outcome::Answered(flight)
            } else {
                Outcome::Unknown
            }
        }
        Answer::Alert(alert) if flight::is_refusal(alert) => Outcome::Refused,
        Answer::Alert(flight::UNRECOGNIZED_NAME) => Outcome::UnknownName,
        Answer::Silence => Outcome::Refused,
        Answer::Other => Outcome::NotTls,
        Answer::Alert(_) | Answer::Nonsense => Outcome::Unknown,
    }
}

/// The host's own number for one call.
const IN_FLIGHT: usize = 4;
/// For each step of a conversation.
const PATIENCE_MS: u32 = 2_500;
/// Of one conversation: a server that sends less at a time is not waited for.
const MAX_READS: usize = 16;
const CHUNK: u32 = 64 << 10;
/// What a run needs after its last probe.
const RESERVE: Duration = Duration::from_millis(500);
