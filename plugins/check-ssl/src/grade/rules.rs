//! What a server can have at most, and why.

use super::{Facts, Key, Rc4, Trust};
use vedette_sdk::client_hello::{SSL3, TLS11, TLS12, TLS13};

use crate::result::Grade;

/// One condition. All that apply count; the lowest cap wins.
pub(super) struct Rule {
    pub(super) cap: Grade,
    pub(super) applies: fn(&Facts) -> bool,
}

/// In the order of the rating guide, worst first.
pub(super) const CAPS: &[Rule] = &[
    // Not valid: expired, another name, not trusted, revoked, badly signed, another purpose.
    rule(Grade::F, |facts| facts.trust == Trust::Bad),
    rule(Grade::F, |facts| facts.dated_signature),
    rule(Grade::F, |facts| is_broken(facts.weakest_key)),
    rule(Grade::F, |facts| facts.group.is_some_and(|bits| is_broken(Key::Modular(bits)))),
    rule(Grade::F, |facts| facts.worthless_suite),
    rule(Grade::F, |facts| facts.newest <= SSL3),
    rule(Grade::F, |facts| facts.rc4 == Rc4::Only),
    rule(Grade::F, |facts| facts.weakest < 112),
    rule(Grade::C, |facts| facts.newest < TLS12),
    // CRIME.
    rule(Grade::C, |facts| facts.compression),
    // POODLE.
    rule(Grade::C, |facts| facts.ssl3_with_blocks),
    rule(Grade::C, |facts| facts.rc4 == Rc4::Modern),
    // Sweet32.
    rule(Grade::C, |facts| facts.short_blocks_chosen),
    rule(Grade::B, |facts| facts.oldest <= TLS11),
    rule(Grade::B, |facts| facts.rc4 != Rc4::No),
    rule(Grade::B, |facts| facts.trust == Trust::Completable),
    rule(Grade::B, |facts| is_small(facts.weakest_key)),
    rule(Grade::B, |facts| facts.group.is_some_and(|bits| is_small(Key::Modular(bits)))),
    rule(Grade::B, |facts| facts.rsa_exchange_chosen && facts.newest < TLS13),
    rule(Grade::B, |facts| !facts.aead_chosen),
    rule(Grade::A, |facts| facts.newest < TLS13),
    rule(Grade::A, |facts| facts.unsafe_renegotiation),
    rule(Grade::A, |facts| facts.hsts.is_none_or(|seconds| seconds < HALF_A_YEAR)),
];

const fn rule(cap: Grade, applies: fn(&Facts) -> bool) -> Rule {
    Rule { cap, applies }
}

/// Within reach of anyone's computers.
fn is_broken(key: Key) -> bool {
    matches!(key, Key::Modular(0..1024) | Key::Curve(0..123))
}

fn is_small(key: Key) -> bool {
    matches!(key, Key::Modular(0..2048) | Key::Curve(0..163))
}

/// 180 days, in seconds.
const HALF_A_YEAR: u64 = 15_552_000;
