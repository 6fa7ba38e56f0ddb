//! What each hello offers: a version, and suites that tell one thing about the server.

use vedette_sdk::client_hello::{
    ALL_GROUPS, MODERN_GROUPS, Offer, SSL3, TLS10, TLS11, TLS12, TLS13,
};

use crate::suites::{self, Cipher, Exchange, Suite};

/// One question to the server. The first five ask for versions, those behind them for kinds of
/// suites, the last for whatever is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// TLS 1.3 and nothing else.
    P13,
    /// TLS 1.2 or older, as the server likes.
    P12,
    P11,
    P10,
    /// SSL 3.0.
    P30,
    /// No encryption, nobody's certificate, export ciphers, DES, RC2.
    W1,
    /// RC4.
    W2,
    /// 3DES and IDEA.
    W3,
    /// Diffie-Hellman in a group of primes.
    D1,
    /// Ciphers of 256 bits, TLS 1.3 included.
    S256,
    /// Below TLS 1.3 all that the hellos of versions leave out.
    Rest,
}

impl Hello {
    /// All that a grade needs.
    pub(crate) const ALL: [Self; 10] = [
        Self::P13,
        Self::P12,
        Self::P11,
        Self::P10,
        Self::P30,
        Self::W1,
        Self::W2,
        Self::W3,
        Self::D1,
        Self::S256,
    ];

    pub(super) fn offer(self) -> Offer {
        let below =
            |version, suites| Offer { version, below_tls13: true, suites, groups: ALL_GROUPS };
        match self {
            Self::P13 => Offer {
                version: TLS13,
                below_tls13: false,
                suites: TLS13_SUITES.to_vec(),
                groups: MODERN_GROUPS,
            },
            Self::P12 => below(TLS12, usual(TLS12)),
            Self::P11 => below(TLS11, usual(TLS11)),
            Self::P10 => below(TLS10, usual(TLS10)),
            Self::P30 => below(SSL3, usual(SSL3)),
            Self::W1 => below(TLS12, chosen(is_worthless)),
            Self::W2 => below(TLS12, chosen(|suite| is_usual(suite, Cipher::Rc4))),
            Self::W3 => below(TLS12, chosen(is_dated)),
            Self::D1 => below(TLS12, chosen(is_ephemeral_prime)),
            Self::S256 => below(TLS13, [&[0x1302, 0x1303], chosen(is_strong).as_slice()].concat()),
            Self::Rest => below(TLS12, unusual()),
        }
    }
}

/// What servers are usually set up with, modern first, as far as the version defines it.
fn usual(version: u16) -> Vec<u16> {
    let defined = |id: &u16| suites::suite(*id).is_some_and(|suite| suite.is_defined_at(version));
    USUAL.iter().copied().filter(defined).collect()
}

/// From the whole table below TLS 1.3.
/// What is not in [`USUAL`], what protects anything first.
fn unusual() -> Vec<u16> {
    let left_out = |suite: &Suite| !USUAL.contains(&suite.id);
    let protects = |suite: &Suite| is_usual(suite, Cipher::Modern);
    let sound = chosen(|suite| left_out(suite) && protects(suite));
    [sound, chosen(|suite| left_out(suite) && !protects(suite))].concat()
}

fn chosen(wanted: impl Fn(&Suite) -> bool) -> Vec<u16> {
    let below = suites::all().iter().filter(|suite| suite.is_below_tls13());
    below.filter(|suite| wanted(suite)).map(|suite| suite.id).collect()
}

fn is_worthless(suite: &Suite) -> bool {
    suite.anonymous
        || suite.export
        || matches!(suite.cipher, Cipher::Null | Cipher::Des | Cipher::Rc2)
}

fn is_dated(suite: &Suite) -> bool {
    is_usual(suite, Cipher::TripleDes) || is_usual(suite, Cipher::Idea)
}

fn is_ephemeral_prime(suite: &Suite) -> bool {
    suite.exchange == Exchange::Dhe && is_usual(suite, Cipher::Modern)
}

fn is_strong(suite: &Suite) -> bool {
    suite.bits >= 256 && is_usual(suite, Cipher::Modern)
}

/// With a certificate, and not weakened on purpose.
fn is_usual(suite: &Suite, cipher: Cipher) -> bool {
    suite.cipher == cipher && !suite.anonymous && !suite.export
}

const TLS13_SUITES: &[u16] = &[0x1302, 0x1303, 0x1301, 0x1304, 0x1305];

/// Modern first: a server that lets the client choose shows the best it has.
const USUAL: &[u16] = &[
    0xc030, 0xc02f, 0xcca8, 0xc02c, 0xc02b, 0xcca9, 0xc028, 0xc027, 0xc024, 0xc023, 0xc014, 0xc013,
    0xc00a, 0xc009, 0x009f, 0xccaa, 0x009e, 0x006b, 0x0067, 0x0039, 0x0033, 0x00a3, 0x00a2, 0x0038,
    0x0032, 0x009d, 0x009c, 0x003d, 0x003c, 0x0035, 0x002f, 0xc012, 0x0016, 0x000a, 0x0005, 0x0004,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn suites_of(hello: Hello) -> Vec<Suite> {
        let known = |id| suites::suite(id).expect("only registered suites are offered");
        hello.offer().suites.into_iter().map(known).collect()
    }

    #[test]
    fn order_is_modern_first() {
        let agreed = [
            0xc030, 0xc02f, 0xcca8, 0xc02c, 0xc02b, 0xcca9, 0xc014, 0xc013, 0x009f, 0x009e, 0x0039,
            0x0033, 0x009d, 0x009c, 0x003d, 0x003c, 0x0035, 0x002f, 0x000a, 0x0005, 0x0004,
        ];
        let offered = Hello::P12.offer().suites;
        let kept: Vec<u16> = offered.into_iter().filter(|id| agreed.contains(id)).collect();
        assert_eq!(kept, agreed);
    }

    #[test]
    fn only_suites_of_the_version_are_offered() {
        for (hello, version) in
            [(Hello::P12, TLS12), (Hello::P11, TLS11), (Hello::P10, TLS10), (Hello::P30, SSL3)]
        {
            let suites = suites_of(hello);
            assert!(!suites.is_empty());
            assert!(suites.iter().all(|suite| suite.is_defined_at(version)), "{hello:?}");
        }
        assert!(suites_of(Hello::P13).iter().all(|suite| suite.exchange == Exchange::Separate));
        assert_eq!(
            Hello::P30.offer().suites,
            [0x39, 0x33, 0x38, 0x32, 0x35, 0x2f, 0x16, 0xa, 5, 4]
        );
    }

    #[test]
    fn weak_lists_hold_what_they_are_named_for() {
        let worthless = suites_of(Hello::W1);
        for id in [0x0001, 0x0002, 0x003b, 0xc010, 0x0034, 0xc019, 0x0003, 0x0008, 0x0006, 0x0009] {
            assert!(worthless.iter().any(|suite| suite.id == id), "{id:04x}");
        }
        assert!(worthless.iter().all(|suite| suite.bits < 112 || suite.anonymous));
        for hello in [Hello::W2, Hello::W3, Hello::D1, Hello::S256] {
            assert!(suites_of(hello).iter().all(|suite| !suite.anonymous && !suite.export));
        }
        assert!(suites_of(Hello::W2).iter().all(|suite| suite.cipher == Cipher::Rc4));
        assert!(suites_of(Hello::W3).iter().all(Suite::has_short_blocks));
        assert!(suites_of(Hello::W3).iter().any(|suite| suite.id == 0x0007));
        assert!(suites_of(Hello::D1).iter().all(|suite| suite.exchange == Exchange::Dhe));
        assert!(suites_of(Hello::S256).iter().all(|suite| suite.bits == 256));
        assert!(suites_of(Hello::S256).iter().any(|suite| suite.id == 0x1302));
    }

    #[test]
    fn rest_is_what_the_versions_leave_out_and_the_weak_come_last() {
        let rest = suites_of(Hello::Rest);
        for id in [0x0084, 0x0096, 0xc060, 0xc09c, 0x003b, 0x0007, 0xc018] {
            assert!(rest.iter().any(|suite| suite.id == id), "{id:04x}");
        }
        assert!(rest.iter().all(|suite| !USUAL.contains(&suite.id)));
        let protects = |suite: &Suite| is_usual(suite, Cipher::Modern);
        assert!(rest.is_sorted_by_key(|suite| !protects(suite)));
    }

    #[test]
    fn nothing_that_needs_a_shared_secret_is_offered() {
        for hello in Hello::ALL.into_iter().chain([Hello::Rest]) {
            let suites = suites_of(hello);
            assert!(suites.iter().all(|suite| suite.exchange != Exchange::Other), "{hello:?}");
        }
    }
}
