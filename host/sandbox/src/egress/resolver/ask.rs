//! One question to our servers: those that were silent lately are asked after the others, and each
//! is asked twice before it is said that none answers.

use std::time::Instant;

use hickory_resolver::{
    lookup::Lookup,
    net::{self, DnsError},
    proto::rr::{Name, RecordType},
};
use parking_lot::Mutex;

use super::{
    super::{
        answer::{Answered, is_confused, is_silence, referral_is_refusal},
        heard::Heard,
        upstream::Upstream,
    },
    Resolver, Validation,
};

impl Resolver {
    /// Asks each server until one knows: silence and failures send the question to the next.
    pub(crate) async fn lookup(
        &self,
        name: &Name,
        rtype: RecordType,
        validation: Validation,
    ) -> Answered {
        self.ask_each(name, rtype, validation, Some(&self.heard)).await
    }

    /// The same; `noted`: where it is noted what they said.
    pub(super) async fn ask_each(
        &self,
        name: &Name,
        rtype: RecordType,
        validation: Validation,
        noted: Option<&Mutex<Heard>>,
    ) -> Answered {
        let mut last = None;
        let begun = Instant::now();
        let mut in_turn: Vec<&Upstream> = self.servers.iter().collect();
        in_turn.sort_by_key(|server| server.is_silent(begun));
        for round in 0..2 {
            for server in in_turn.iter().copied() {
                let waiting = server.asked(Instant::now());
                let outcome = ask(server, name, rtype, validation).await;
                let is_answered = !outcome.as_ref().err().is_some_and(is_silence);
                waiting.answered(is_answered, Instant::now());
                let outcome = outcome.map_err(referral_is_refusal);
                let answered = Answered { server: server.server.address, outcome };
                if let Some(heard) = noted {
                    heard.lock().note(name, &answered.outcome, Instant::now());
                }
                match &answered.outcome {
                    Err(error) if is_silence(error) => last = last.or(Some(answered)),
                    Err(
                        net::NetError::Dns(DnsError::ResponseCode(_)) | net::NetError::Proto(_),
                    ) => last = Some(answered),
                    Ok(_) | Err(_) => return answered,
                }
            }
            let spoke = last.as_ref().is_some_and(|answered| match &answered.outcome {
                Err(error) => !is_silence(error),
                Ok(_) => true,
            });
            if spoke || round == 1 {
                break;
            }
        }
        last.expect("there is at least one server, and each leaves an answer or returns")
    }
}

/// Asks one server; once more without EDNS where that is what it did not understand. Such an answer
/// carries no signatures: whoever validates finds nothing proven.
async fn ask(
    server: &Upstream,
    name: &Name,
    rtype: RecordType,
    validation: Validation,
) -> Result<Lookup, net::NetError> {
    let outcome = match validation {
        Validation::Servers => server.plain.lookup(name.clone(), rtype).await,
        Validation::Nobodys => server.unchecked.lookup(name.clone(), rtype).await,
        Validation::Ours => server.validating.lookup(name.clone(), rtype).await,
    };
    if !outcome.as_ref().err().is_some_and(is_confused) {
        return outcome;
    }
    let bare = server.bare.lookup(name.clone(), rtype).await;
    match &bare {
        Err(error) if is_confused(error) || is_silence(error) => outcome,
        Ok(_) | Err(_) => bare,
    }
}
