//! What our DNS servers said last: whether they are there, and whether they answer us at all.
//!
//! *Invariant:* pure: nothing is asked here.

use std::time::{Duration, Instant};

use hickory_resolver::{lookup::Lookup, net, proto::rr::Name};

use super::answer::{is_knowledge, is_refusal};

#[derive(Default)]
pub(super) struct Heard {
    /// When they last said anything of a name.
    answer: Option<Instant>,
    /// When they last refused to. That of the root does not count: servers of zones of their own
    /// refuse it as a matter of course.
    refusal: Option<Instant>,
}

impl Heard {
    pub(super) fn note(
        &mut self,
        name: &Name,
        outcome: &Result<Lookup, net::NetError>,
        now: Instant,
    ) {
        match outcome {
            Err(error) if is_refusal(error) => {
                if !name.is_root() {
                    self.refusal = Some(now);
                }
            }
            Err(error) if !is_knowledge(error) => {}
            Ok(_) | Err(_) => self.answer = Some(now),
        }
    }

    pub(super) fn answered_lately(&self) -> bool {
        self.answer.is_some_and(|at| at.elapsed() < LATELY)
    }

    /// Whether all that was heard since the last answer is refusals.
    pub(super) fn is_refused(&self) -> bool {
        self.refusal > self.answer
    }
}

/// An answer that is no older says that the servers are there.
const LATELY: Duration = Duration::from_secs(5);
