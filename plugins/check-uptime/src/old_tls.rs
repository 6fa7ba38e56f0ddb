//! Servers whose TLS is older than what requests are made with, and which others reach all the
//! same.
//!
//! The host speaks TLS 1.3, and of TLS 1.2 what has ephemeral keys on a curve and authenticated
//! encryption. A server without any of that, such as Windows Server 2012 R2 with a key of RSA, is
//! told by two hellos: it turns down the suites of the host, and takes one that others still have.
//! Whether its pages are up nobody here can see, so that is no failure of the site.
//!
//! *Invariant:* silence is no answer: where a hello is not answered, the failure stands.

use std::time::Duration;

use vedette_sdk::{
    Cx, Job,
    client_hello::{self, Closing, MODERN_GROUPS, Offer, RANDOM, TLS12, TLS13},
    net::{Endpoint, NetError},
    tcp::ExchangeRequest,
};

use crate::config::Config;

/// Why such a site is not checked.
pub(crate) const REASON: &str = "its TLS is older than what this check speaks, though others may \
                                 still connect to it: let it offer ECDHE with AES-GCM, or TLS 1.3";

/// Whether the age of the server's TLS is all that the failure of a request to `url` tells.
pub(crate) fn is_in_the_way(cx: &Cx, job: &Job<Config>, url: &str, failure: &NetError) -> bool {
    may_have_nothing_in_common(url, failure)
        && answer(cx, job, &OF_OTHERS) == Some(Answer::Taken)
        // At the end, so that a server which was away for a moment is not taken for an old one.
        && answer(cx, job, &OURS) == Some(Answer::TurnedDown)
}

/// Some servers hang up on clients that they have nothing in common with. Over http a connection that
/// is reset says nothing of TLS.
fn may_have_nothing_in_common(url: &str, failure: &NetError) -> bool {
    match failure {
        NetError::Reset => url.starts_with("https:"),
        NetError::Tls(reason) => STARTS.iter().any(|start| reason.starts_with(start)),
        _ => false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// A ServerHello of TLS 1.2, or of 1.3, which looks like one.
    Taken,
    /// An alert, or a close without a word.
    TurnedDown,
}

/// What the site's own port says to a hello with these suites; none: nothing that counts.
fn answer(cx: &Cx, job: &Job<Config>, suites: &[u16]) -> Option<Answer> {
    let port = job.port.unwrap_or(HTTPS_PORT);
    let answer = cx.exchange(&ExchangeRequest {
        endpoint: Endpoint { host: job.target.clone(), port, connect_to: None },
        send: client_hello(&job.target, suites, &client_hello::random(cx)),
        max: ENOUGH,
        timeout_ms: cx.timeout_ms(PATIENCE, RESERVE),
    });
    match answer.as_deref() {
        Ok([HANDSHAKE, 3, 3, _, _, SERVER_HELLO, ..]) => Some(Answer::Taken),
        Ok([] | [ALERT, ..]) | Err(NetError::Reset) => Some(Answer::TurnedDown),
        Ok(_) | Err(_) => None,
    }
}

/// As the host's own, and where TLS 1.3 is not among the suites, of TLS 1.2.
fn client_hello(name: &str, suites: &[u16], random: &[u8; RANDOM]) -> Vec<u8> {
    let offer = Offer {
        version: if suites.contains(&TLS13_SUITE) { TLS13 } else { TLS12 },
        below_tls13: true,
        suites: suites.to_vec(),
        groups: MODERN_GROUPS,
    };
    client_hello::write(&offer, name, random, Closing::ByHand)
}

/// How the host tells of a handshake that ended before anything was agreed on.
const STARTS: [&str; 5] = ["alert 40", "alert 70", "alert 71", "closed", "nothing in common"];

/// TLS 1.3, and ECDHE with AES-GCM or ChaCha20-Poly1305: all that the host has.
const OURS: [u16; 9] = [0x1301, 0x1302, 0x1303, 0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9];
/// What browsers have besides, ECDHE with AES-CBC and RSA key exchange with AES; and what OpenSSL,
/// Java and others offer as well, these with SHA-2, and DHE.
const OF_OTHERS: [u16; 21] = [
    0xc013, 0xc014, 0xc009, 0xc00a, 0x009c, 0x009d, 0x002f, 0x0035, //
    0xc027, 0xc028, 0xc023, 0xc024, 0x003c, 0x003d, //
    0x009e, 0x009f, 0xccaa, 0x0033, 0x0039, 0x0067, 0x006b,
];

const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const SERVER_HELLO: u8 = 2;
/// One of them: a client that offers it offers the version.
const TLS13_SUITE: u16 = 0x1301;

const HTTPS_PORT: u16 = 443;
/// Bytes of an answer: a whole alert, and the beginning of a ServerHello.
const ENOUGH: u32 = 7;
/// For each of the two hellos.
const PATIENCE: Duration = Duration::from_secs(3);
/// What a run needs after its last probe.
const RESERVE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use vedette_sdk::{Check, CheckError, Observation};

    use super::*;
    use crate::{Uptime, UptimeResult, config::Scheme, fixture};

    type Seen = Result<Observation<UptimeResult>, CheckError>;

    const REFUSAL: &[u8] = &[ALERT, 3, 3, 0, 2, 2, 40];
    const HELLO: &[u8] = &[HANDSHAKE, 3, 3, 0, 81, SERVER_HELLO, 0];
    const HELLO_OF_TLS10: &[u8] = &[HANDSHAKE, 3, 1, 0, 81, SERVER_HELLO, 0];

    /// A run whose request fails like this, at a server that says `hello` to a client that offers
    /// one of its suites, and `refusal` to others.
    fn run(
        failure: NetError,
        suites: &'static [u16],
        hello: &'static [u8],
        refusal: Result<&'static [u8], NetError>,
    ) -> Seen {
        let (host, _) = fixture::host(move |_| Err(failure.clone()));
        host.tcp(move |request| {
            assert_eq!((request.endpoint.host.as_str(), request.endpoint.port), (DOMAIN, 443));
            let offered = suites_of(&request.send);
            match offered.iter().any(|suite| suites.contains(suite)) {
                true => Ok(hello.to_vec()),
                false => refusal.clone().map(<[u8]>::to_vec),
            }
        });
        Uptime::run(&host.cx(), fixture::job(Config::default()))
    }

    /// Record, message, version, random and the session come before them.
    fn suites_of(hello: &[u8]) -> Vec<u16> {
        let session = usize::from(hello[43]);
        let (length, rest) = hello[44 + session..].split_at(2);
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        rest[..length].chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
    }

    fn tls(reason: &str) -> NetError {
        NetError::Tls(reason.to_owned())
    }

    const DOMAIN: &str = fixture::DOMAIN;

    #[test]
    fn server_of_old_suites_alone_is_not_down() {
        for failure in [
            tls("alert 40 HandshakeFailure"),
            tls("alert 70 ProtocolVersion"),
            tls("alert 71 InsufficientSecurity"),
            tls("closed during the handshake"),
            tls("nothing in common"),
            NetError::Reset,
        ] {
            for refusal in [Ok(REFUSAL), Ok(&[][..]), Err(NetError::Reset)] {
                // CBC with SHA-1 and SHA-2, RSA key exchange, DHE.
                for suites in [&[0xc014][..], &[0xc028], &[0x009c, 0x000a], &[0x009f]] {
                    let seen = run(failure.clone(), suites, HELLO, refusal.clone());
                    assert!(
                        matches!(&seen, Err(CheckError::UnsupportedTarget(said)) if said == REASON),
                        "{failure} {refusal:?}: {seen:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn server_that_redirects_to_its_old_tls_is_not_down() {
        for (url, failure) in [
            ("https://www.example.com/", tls("alert 40 HandshakeFailure")),
            ("HTTPS://www.example.com/", NetError::Reset),
        ] {
            let host = fixture::redirecting(url, failure);
            host.tcp(|request| match suites_of(&request.send).contains(&0xc014) {
                true => Ok(HELLO.to_vec()),
                false => Ok(REFUSAL.to_vec()),
            });
            let config = Config { scheme: Scheme::Http, ..Config::default() };
            let seen = Uptime::run(&host.cx(), fixture::job(config));
            assert!(matches!(seen, Err(CheckError::UnsupportedTarget(_))), "{url}: {seen:?}");
        }
    }

    #[test]
    fn other_servers_that_end_the_handshake_are_down() {
        use NetError::{Refused, Timeout};
        let late = Timeout(vedette_sdk::net::Phase::Receive);
        for (suites, hello, refusal) in [
            // It supports what we do: then something else is wrong.
            (&[0xc02f, 0xc014][..], HELLO, Ok(REFUSAL)),
            (&[0x1301, 0xc014], HELLO, Ok(REFUSAL)),
            // Of no use to others either: 3DES, RC4, TLS 1.0.
            (&[0x000a, 0x0005][..], HELLO, Ok(REFUSAL)),
            (&[0xc014][..], HELLO_OF_TLS10, Ok(REFUSAL)),
            // Nothing is known.
            (&[0xc014][..], HELLO, Err(late)),
            (&[0xc014][..], HELLO, Err(Refused)),
            (&[0xc014][..], HELLO, Ok(&b"HTTP/1."[..])),
        ] {
            let seen = run(tls("alert 40 HandshakeFailure"), suites, hello, refusal.clone());
            let facts = seen.expect("the check works").facts;
            assert_eq!(facts.error.as_deref(), Some("tls_handshake_failed"), "{refusal:?}");
        }
    }

    #[test]
    fn nothing_is_said_to_a_server_that_failed_otherwise() {
        for failure in [
            NetError::Refused,
            tls("not-tls"),
            tls("alert 112 UnrecognisedName"),
            tls("certificate certificate_expired"),
        ] {
            let (host, _) = fixture::host(move |_| Err(failure.clone()));
            host.tcp(|request| panic!("{request:?}"));
            let seen = Uptime::run(&host.cx(), fixture::job(Config::default()));
            assert!(seen.is_ok(), "{seen:?}");
        }
    }

    #[test]
    fn nothing_is_said_to_port_443_where_http_is_reset() {
        let (host, _) = fixture::host(|_| Err(NetError::Reset));
        host.tcp(|request| panic!("{request:?}"));
        let config = Config { scheme: Scheme::Http, ..Config::default() };
        let seen = Uptime::run(&host.cx(), fixture::job(config)).expect("the check works");
        assert_eq!(seen.facts.error.as_deref(), Some("connection_reset"));
    }
}
