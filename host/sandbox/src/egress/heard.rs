//! What our DNS servers said last: whether they are there, and whether they answer us at all.
//!
//! *Invariant:* pure: nothing is asked here.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use hickory_resolver::{lookup::Lookup, net, proto::rr::Name};
use vedette_model::DomainName;

use super::answer::{is_knowledge, is_refusal};

#[derive(Default)]
pub(super) struct Heard {
    /// When they last said anything of a name.
    answer: Option<Instant>,
    /// When they last refused to. That of the root does not count: servers of zones of their own
    /// refuse it as a matter of course.
    refusal: Option<Instant>,
    /// Names of which they said something, the newest last.
    known: VecDeque<Name>,
    /// Top-level domains of public names that have records; last is the newest, or the one that was
    /// tried in vain.
    pub(super) domains: VecDeque<Name>,
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
            Err(_) => {
                self.answer = Some(now);
                self.know(name);
            }
            Ok(_) => {
                self.answer = Some(now);
                self.know(name);
                self.know_domain_of(name);
            }
        }
    }

    fn know(&mut self, name: &Name) {
        if name.is_root() {
            return;
        }
        self.known.retain(|known| known != name);
        if self.known.len() == KEPT {
            self.known.pop_front();
        }
        self.known.push_back(name.clone());
    }

    /// Names in private use are not told from far away.
    fn know_domain_of(&mut self, name: &Name) {
        let domain = name.trim_to(1);
        let is_public = || {
            let name = DomainName::parse(&name.to_ascii());
            name.is_ok_and(|name| !name.is_special_use())
        };
        if self.domains.contains(&domain) || !is_public() {
            return;
        }
        if self.domains.len() == KEPT {
            self.domains.pop_front();
        }
        self.domains.push_back(domain);
    }

    pub(super) fn put_last(&mut self, domain: &Name) {
        let place = self.domains.iter().position(|known| known == domain);
        let domain = place.and_then(|place| self.domains.remove(place));
        self.domains.extend(domain);
    }

    /// The newest name that was answered and does not belong to the owner of `name`: a server that
    /// refuses that as well refuses more than one zone.
    pub(super) fn known_beside(&self, name: &Name) -> Option<Name> {
        let is_apart = |known: &&Name| known.trim_to(OWNED) != name.trim_to(OWNED);
        self.known.iter().rev().find(is_apart).cloned()
    }

    pub(super) fn answered_lately(&self) -> bool {
        self.answer.is_some_and(|at| at.elapsed() < LATELY)
    }

    /// Whether all that was heard since the last answer is refusals.
    pub(super) fn is_refused(&self) -> bool {
        self.refusal > self.answer
    }
}

/// So many names, of so many owners that one is left beside any.
const KEPT: usize = 8;
/// Labels that mostly have one owner. Where a registry sells names below two, none may be found.
const OWNED: usize = 2;
/// An answer that is no older says that the servers are there.
const LATELY: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_beside_a_name_is_the_newest_of_another_owner() {
        let name = |text: &str| Name::from_ascii(text).expect("a name");
        let mut heard = Heard::default();
        for known in ["a.one.example.", "two.example.", "one.example.", "."] {
            heard.know(&name(known));
        }
        for (beside, expected) in [
            ("three.example.", "one.example."),
            ("www.one.example.", "two.example."),
            ("two.example.", "one.example."),
        ] {
            assert_eq!(heard.known_beside(&name(beside)), Some(name(expected)), "{beside}");
        }
        heard.know(&name("two.example."));
        assert_eq!(heard.known_beside(&name("three.example.")), Some(name("two.example.")));
        for number in 0..2 * KEPT {
            heard.know(&name(&format!("n{number}.example.")));
        }
        assert_eq!(heard.known.len(), KEPT);
    }

    #[test]
    fn domains_are_those_of_public_names() {
        let mut heard = Heard::default();
        for name in [
            ".",
            "shop.example.",
            "_dmarc.a.test.",
            "printer.lan.",
            "A.EXAMPLE.",
            "b.c.test.",
            "one.",
        ] {
            heard.know_domain_of(&Name::from_ascii(name).expect("a name"));
        }
        let domains = ["example.", "test."].map(|name| Name::from_ascii(name).expect("a name"));
        assert_eq!(heard.domains, domains);
    }
}
