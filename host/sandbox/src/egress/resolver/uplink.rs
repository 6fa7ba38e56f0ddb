//! Whether our DNS servers still reach others, or live on what they have kept.
//!
//! A recursor that has lost its way out goes on to answer: for the root's name servers for days, and
//! for whatever name it was asked about lately. For the rest it fails, as it does where a name's own
//! servers are broken. What tells the two apart is a name that nobody has, directly beneath a
//! top-level domain: no cache holds it, and so large a zone is not known by the gaps that prove what
//! is not in it (RFC 8198), as a small signed one soon is. Servers that answered such questions and
//! fail them now have lost their way. Those that never did, as in a network without one, say nothing
//! by failing.
//!
//! *Invariant:* strangers are asked seldom: once beneath each of two top-level domains while all is
//! well, and twice in some seconds while something fails.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use hickory_resolver::proto::rr::{Name, RecordType};
use tokio::time::timeout;
use uuid::Uuid;

use super::{Resolver, Validation};
use crate::egress::answer::{is_knowledge, is_refusal};

/// What is known of the way out. Whoever asks holds the lock, and the others wait for the answer.
#[derive(Default)]
pub(super) struct Uplink {
    /// Top-level domains beneath which such a question was answered.
    proven: Vec<Name>,
    /// What was found out last; none where it was refused.
    last: Option<(Instant, Option<bool>)>,
    /// When a top-level domain was tried in vain.
    tried: Option<Instant>,
}

/// What came of such a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// That there is no such name, mostly.
    Something,
    Nothing,
    /// Which is about us, or about the question.
    Refused,
}

impl Uplink {
    /// The first of these that is to be tried.
    fn untried(&self, domains: &VecDeque<Name>) -> Option<Name> {
        let is_due = self.tried.is_none_or(|at| at.elapsed() >= TRY_AGAIN);
        let lacks = |domain: &&Name| !self.proven.contains(domain);
        domains.iter().find(lacks).filter(|_| is_due && self.proven.len() < PLACES).cloned()
    }
}

impl Resolver {
    /// Whether our servers reach others; none where that cannot be told. Asked once in some seconds,
    /// whoever wants to know, and known within some ten.
    pub async fn has_uplink(&self) -> Option<bool> {
        let mut uplink = self.uplink.lock().await;
        if uplink.proven.is_empty() {
            return None;
        }
        if let Some((at, known)) = uplink.last
            && at.elapsed() < LATELY
        {
            return known;
        }
        let has = self.reaches_any(&uplink.proven).await;
        uplink.last = Some((Instant::now(), has));
        if let Some(has) = has {
            self.heard.lock().is_cut_off = !has;
        }
        has
    }

    /// Whether our servers live on what they have kept, as far as is known.
    pub fn is_cut_off(&self) -> bool {
        self.heard.lock().is_cut_off
    }

    /// Asks beneath the top-level domains that names were found in, as long as too few have answered:
    /// later, their failure will say something.
    pub(super) async fn prove_uplink(&self) {
        let domains = self.heard.lock().domains.clone();
        let Ok(mut uplink) = self.uplink.try_lock() else { return };
        let Some(domain) = uplink.untried(&domains) else { return };
        uplink.tried = Some(Instant::now());
        if self.ask_for_nobody(&domain).await != Said::Something {
            // Another one is tried then.
            self.heard.lock().domains.rotate_left(1);
            return;
        }
        tracing::info!(
            %domain,
            "the DNS servers reach others, those of {domain}: once they fail to, nothing that fails \
             here is believed"
        );
        uplink.tried = None;
        uplink.proven.push(domain);
    }

    /// A single domain is asked beneath twice: a datagram may be lost. Who refuses what he answered
    /// before, and the root too, has nobody to ask any more, or answers us no more.
    async fn reaches_any(&self, domains: &[Name]) -> Option<bool> {
        let mut is_refused = false;
        for domain in domains.iter().cycle().take(PLACES) {
            match self.ask_for_nobody(domain).await {
                Said::Something => return Some(true),
                Said::Nothing => {}
                Said::Refused => is_refused = true,
            }
        }
        if is_refused && self.knows_root(Instant::now() + QUESTION).await {
            return None;
        }
        Some(false)
    }

    /// A question of its own kind: neither its answer nor its refusal is about a name that anybody
    /// wants to know.
    async fn ask_for_nobody(&self, domain: &Name) -> Said {
        let label = format!("vedette-{}", Uuid::new_v4().simple());
        let Ok(name) = domain.prepend_label(label) else { return Said::Nothing };
        let asked = self.ask_each(&name, RecordType::A, Validation::Servers, None);
        let Ok(answered) = timeout(QUESTION, asked).await else { return Said::Nothing };
        match &answered.outcome {
            Err(error) if is_refusal(error) => Said::Refused,
            Err(error) if !is_knowledge(error) => Said::Nothing,
            Ok(_) | Err(_) => Said::Something,
        }
    }
}

/// For how long an answer stands.
const LATELY: Duration = Duration::from_secs(5);
/// One question takes no longer: a recursor asks its way down from what it keeps of the domain.
const QUESTION: Duration = Duration::from_secs(4);
/// Top-level domains may be down, too: one is not enough.
const PLACES: usize = 2;
/// After an attempt in vain.
const TRY_AGAIN: Duration = Duration::from_secs(60);
