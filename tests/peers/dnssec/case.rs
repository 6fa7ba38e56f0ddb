//! The zones below `example`, and what each of them has to be called.

use std::fmt;

use super::spoil::{self, Spoil};

/// The tri-state of the result's `dnssec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// `{true, true}`
    Secure,
    /// `{false, null}`
    Unsigned,
    /// `{true, null}`: signed, and no chain of trust that has to hold.
    PassedOver,
    /// `{true, false}`
    Bogus,
}

/// What the parent says of the zone's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ds {
    Own,
    None,
    /// Of a key that is not in the zone.
    OtherKey,
    /// With another digest.
    Digest,
    /// Of this algorithm's number.
    Algorithm(&'static str),
    /// Of this digest type's number.
    DigestType(&'static str),
}

/// Where the key set and its signature come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// There are none.
    None,
    /// Signed with everything else.
    Same,
    /// The key that signed the data was taken away.
    Another,
    /// Signed last month, for two weeks.
    Stale,
}

pub(crate) struct Case {
    pub(crate) zone: &'static str,
    pub(crate) about: &'static str,
    pub(crate) algorithm: &'static str,
    pub(crate) options: &'static [&'static str],
    pub(crate) keys: Keys,
    pub(crate) ds: Ds,
    pub(crate) spoil: Spoil,
    /// Labels of the name that is asked for, below the zone.
    pub(crate) below: &'static str,
    pub(crate) state: State,
}

impl Case {
    pub(crate) fn origin(&self) -> String {
        format!("{}.example", self.zone)
    }

    pub(crate) fn target(&self) -> String {
        format!("{}{}", self.below, self.origin())
    }
}

const NSEC3: &[&str] = &["-3", "aabbccdd", "-H", "0"];
const WELL: Case = Case {
    zone: "well-p256",
    about: "ECDSA P-256, NSEC",
    algorithm: "ECDSAP256SHA256",
    options: &[],
    keys: Keys::Same,
    ds: Ds::Own,
    spoil: spoil::nothing,
    below: "",
    state: State::Secure,
};
const BOGUS: Case = Case { state: State::Bogus, ..WELL };

pub(crate) static CASES: &[Case] = &[
    WELL,
    Case { zone: "well-p256-nsec3", about: "ECDSA P-256, NSEC3", options: NSEC3, ..WELL },
    Case { zone: "well-rsa", about: "RSA-SHA256, NSEC", algorithm: "RSASHA256", ..WELL },
    Case {
        zone: "well-rsa-nsec3",
        about: "RSA-SHA256, NSEC3",
        algorithm: "RSASHA256",
        options: NSEC3,
        ..WELL
    },
    Case { zone: "well-ed25519", about: "ED25519, NSEC", algorithm: "ED25519", ..WELL },
    Case {
        zone: "well-ed25519-nsec3",
        about: "ED25519, NSEC3",
        algorithm: "ED25519",
        options: NSEC3,
        ..WELL
    },
    Case { zone: "well-p384", about: "ECDSA P-384", algorithm: "ECDSAP384SHA384", ..WELL },
    Case { zone: "wild", about: "a wildcard answers, NSEC", below: "a.w.", ..WELL },
    Case {
        zone: "wild-nsec3",
        about: "a wildcard answers, NSEC3",
        options: NSEC3,
        below: "a.w.",
        ..WELL
    },
    Case {
        zone: "aliases",
        about: "aliases to a name with an address, NSEC",
        below: "alias.",
        ..WELL
    },
    Case {
        zone: "aliases-nsec3",
        about: "aliases to a name with an address, NSEC3",
        options: NSEC3,
        below: "alias.",
        ..WELL
    },
    Case { zone: "moved", about: "a redirected tree (DNAME)", below: "a.moved.", ..WELL },
    Case { zone: "to-wild", about: "an alias to a wildcard, NSEC", below: "to-wild.", ..WELL },
    Case {
        zone: "to-wild-nsec3",
        about: "an alias to a wildcard, NSEC3",
        options: NSEC3,
        below: "to-wild.",
        ..WELL
    },
    Case {
        zone: "wild-alias",
        about: "a wildcard is an alias of a name that is not, NSEC",
        below: "a.gone.",
        ..WELL
    },
    Case {
        zone: "wild-alias-nsec3",
        about: "a wildcard is an alias of a name that is not, NSEC3",
        options: NSEC3,
        below: "a.gone.",
        ..WELL
    },
    Case {
        zone: "unsigned",
        about: "delegated without keys",
        keys: Keys::None,
        ds: Ds::None,
        state: State::Unsigned,
        ..WELL
    },
    Case {
        zone: "parent",
        about: "an unsigned child of a signed zone",
        below: "child.",
        state: State::Unsigned,
        ..WELL
    },
    Case {
        zone: "parent-nsec3",
        about: "an unsigned child of a signed zone, opt-out",
        options: &["-3", "aabbccdd", "-H", "0", "-A"],
        below: "child.",
        state: State::Unsigned,
        ..WELL
    },
    Case {
        zone: "island",
        about: "signed, and the parent does not know",
        ds: Ds::None,
        state: State::PassedOver,
        ..WELL
    },
    Case {
        zone: "future-algorithm",
        about: "the parent names an algorithm that nobody knows",
        ds: Ds::Algorithm("200"),
        state: State::PassedOver,
        ..WELL
    },
    Case {
        zone: "future-digest",
        about: "the parent names a digest that nobody knows",
        ds: Ds::DigestType("200"),
        state: State::PassedOver,
        ..WELL
    },
    Case {
        zone: "expired",
        about: "signed for last month",
        options: &["-s", "now-60d", "-e", "now-30d"],
        ..BOGUS
    },
    Case {
        zone: "expired-nsec3",
        about: "signed for last month, NSEC3",
        options: &["-s", "now-60d", "-e", "now-30d", "-3", "aabbccdd", "-H", "0"],
        ..BOGUS
    },
    Case {
        zone: "early",
        about: "signed for next month",
        options: &["-s", "now+30d", "-e", "now+60d"],
        ..BOGUS
    },
    Case {
        zone: "stale-keys",
        about: "the key set's signature ran out",
        keys: Keys::Stale,
        ..BOGUS
    },
    Case {
        zone: "key-gone",
        about: "data signed by a key taken away",
        keys: Keys::Another,
        ..BOGUS
    },
    Case { zone: "other-key", about: "the parent names another key", ds: Ds::OtherKey, ..BOGUS },
    Case { zone: "digest", about: "the parent has another digest", ds: Ds::Digest, ..BOGUS },
    Case {
        zone: "algorithm",
        about: "the parent names another known algorithm",
        ds: Ds::Algorithm("8"),
        ..BOGUS
    },
    Case { zone: "no-keys", about: "no DNSKEY", spoil: spoil::no_keys, ..BOGUS },
    Case {
        zone: "addresses",
        about: "one set without signature",
        spoil: spoil::unsigned_addresses,
        ..BOGUS
    },
    Case { zone: "data", about: "no set with signature", spoil: spoil::unsigned_data, ..BOGUS },
    Case { zone: "tampered", about: "a changed address", spoil: spoil::other_address, ..BOGUS },
    Case { zone: "added", about: "an added address", spoil: spoil::one_more_address, ..BOGUS },
    Case { zone: "forged", about: "a forged signature", spoil: spoil::forged_signature, ..BOGUS },
    Case { zone: "signer", about: "a neighbour as signer", spoil: spoil::foreign_signer, ..BOGUS },
    Case { zone: "no-nsec", about: "no denial, NSEC", spoil: spoil::no_denial, ..BOGUS },
    Case {
        zone: "no-nsec3",
        about: "no denial, NSEC3",
        options: NSEC3,
        spoil: spoil::no_denial,
        ..BOGUS
    },
    Case { zone: "bare-nsec", about: "unsigned NSEC", spoil: spoil::unsigned_denial, ..BOGUS },
    Case {
        zone: "bare-nsec3",
        about: "unsigned NSEC3",
        options: NSEC3,
        spoil: spoil::unsigned_denial,
        ..BOGUS
    },
    Case {
        zone: "wild-bare",
        about: "a wildcard answers without proof",
        spoil: spoil::no_denial_at_wildcard,
        below: "a.w.",
        ..BOGUS
    },
    Case {
        zone: "cut",
        about: "a delegation without keys and without proof of it",
        spoil: spoil::no_denial_at_child,
        below: "child.",
        ..BOGUS
    },
    Case {
        zone: "aliases-bare",
        about: "aliases to a name without proof of what it lacks",
        spoil: spoil::no_denial,
        below: "alias.",
        ..BOGUS
    },
    Case { zone: "alias", about: "a sound alias into a tampered zone", below: "www.", ..BOGUS },
];

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Secure => "secure",
            Self::Unsigned => "unsigned",
            Self::PassedOver => "island",
            Self::Bogus => "bogus",
        })
    }
}
