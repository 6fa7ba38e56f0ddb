//! The only door to the host. In a component its methods are the imports; with the feature
//! `testing` it can be a native double instead.

use std::time::Duration;

#[cfg(feature = "testing")]
use crate::testing::Double;
use crate::{
    bindings::check::vedette::{
        env::{clock, log as env_log, random, secrets as env_secrets, state as env_state},
        net::{dns as net_dns, http as net_http, tcp as net_tcp, tls as net_tls, x509 as net_x509},
    },
    dns::{Answer, Question},
    http::{Arrival, Request, Response},
    log::Level,
    net::{Endpoint, NetError},
    secrets::SecretError,
    state::{Scope, StateError},
    tcp::ExchangeRequest,
    tls::{InspectRequest, Report},
    x509::Examination,
};

/// What a run may ask of the host. Each method needs the capability of the same name in
/// `plugin.toml`; the log and the clock are always granted. Errors are facts about the target or
/// about a limit, and belong into the observation.
#[derive(Debug)]
pub struct Cx(Door);

/// A dialogue over TCP, made by [`Cx::connect`]; dropping it closes it.
#[derive(Debug)]
pub struct Connection(Line);

/// What the plugin keeps between runs, in one scope. Made by [`Cx::state`].
#[derive(Debug)]
pub struct State<'a> {
    door: &'a Door,
    scope: Scope,
}

#[derive(Debug)]
enum Door {
    Host,
    #[cfg(feature = "testing")]
    Double(Double),
}

#[derive(Debug)]
enum Line {
    Host(net_tcp::Connection),
    #[cfg(feature = "testing")]
    Double(crate::testing::Line),
}

/// Calls the import, or the double's method of the same name.
macro_rules! ask {
    ($door:expr, $host:expr, $double:ident => $answer:expr) => {
        match $door {
            Door::Host => $host,
            #[cfg(feature = "testing")]
            Door::Double($double) => $answer,
        }
    };
}

impl Cx {
    /// The door of a component. Outside of one every method panics.
    #[doc(hidden)]
    pub fn host() -> Self {
        Self(Door::Host)
    }

    #[cfg(feature = "testing")]
    pub(crate) fn double(double: Double) -> Self {
        Self(Door::Double(double))
    }

    /// Unix seconds.
    pub fn now(&self) -> i64 {
        self.now_ms().div_euclid(1_000)
    }

    /// Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        ask!(&self.0, clock::now(), double => double.now_ms())
    }

    /// How long until the host ends this run.
    pub fn remaining(&self) -> Duration {
        let ms = ask!(&self.0, clock::remaining(), double => double.remaining_ms());
        Duration::from_millis(ms.into())
    }

    /// The timeout of a probe: `at_most`, or what is left of the run but for `reserve`, which the
    /// run needs after it. Never 0, which would stand for all the time that is left.
    pub fn timeout_ms(&self, at_most: Duration, reserve: Duration) -> u32 {
        let time = self.remaining().saturating_sub(reserve).min(at_most);
        u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
    }

    /// Tells the operator. At most 32 messages of 1 KiB a run; never put secrets into one.
    pub fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        let fields: Vec<(String, String)> =
            fields.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        ask!(&self.0, env_log::write(level, message, &fields),
            double => double.log(level, message, fields));
    }

    /// Random bytes, at most 1024 a call.
    pub fn random(&self, len: u32) -> Vec<u8> {
        ask!(&self.0, random::bytes(len), double => double.random(len))
    }

    /// What the plugin keeps for this site, or for all sites of all accounts.
    pub fn state(&self, scope: Scope) -> State<'_> {
        State { door: &self.0, scope }
    }

    /// A value that the operator set. Prefer `secret_headers` of a request, which keeps the value
    /// out of the plugin.
    pub fn secret(&self, name: &str) -> Result<String, SecretError> {
        ask!(&self.0, env_secrets::get(name), double => double.secret(name))
    }

    pub fn lookup(&self, question: &Question) -> Result<Answer, NetError> {
        ask!(&self.0, net_dns::lookup(question), double => double.lookup(question))
    }

    /// Concurrent in the host; answers keep the order of the questions, at most 16.
    pub fn lookup_many(&self, questions: &[Question]) -> Vec<Result<Answer, NetError>> {
        ask!(&self.0, net_dns::lookup_many(questions),
            double => questions.iter().map(|question| double.lookup(question)).collect())
    }

    /// Makes a TLS handshake to its end, even when the chain is bad, and judges the chain.
    pub fn inspect(&self, request: &InspectRequest) -> Result<Report, NetError> {
        ask!(&self.0, net_tls::inspect(request), double => double.inspect(request))
    }

    /// Reads and judges a chain of DER certificates, leaf first as served. `at` is Unix seconds;
    /// `complete` lets the host fetch a missing issuer.
    pub fn examine(
        &self,
        chain: &[Vec<u8>],
        server_name: &str,
        at: i64,
        staple: Option<&[u8]>,
        complete: bool,
    ) -> Result<Examination, String> {
        ask!(&self.0, net_x509::examine(chain, server_name, at, staple, complete),
        double => double.examine(crate::testing::Chain {
            certificates: chain, server_name, at, staple, complete
        }))
    }

    pub fn fetch(&self, request: &Request) -> Result<Response, NetError> {
        ask!(&self.0, net_http::fetch(request), double => double.fetch(request))
    }

    /// Accepts an answer as soon as there is its head: that the body did not come whole, or that a
    /// redirect was not followed or led where nobody answers, is told beside it. Such a failure may
    /// be the host's own trouble, as an error may: judge both alike.
    pub fn fetch_partial(&self, request: &Request) -> Result<Arrival, NetError> {
        ask!(&self.0, net_http::fetch_partial(request), double => double.fetch_partial(request))
    }

    /// Concurrent in the host; answers keep the order of the requests, at most 16.
    pub fn fetch_many(&self, requests: &[Request]) -> Vec<Result<Response, NetError>> {
        ask!(&self.0, net_http::fetch_many(requests),
            double => requests.iter().map(|request| double.fetch(request)).collect())
    }

    /// Connects, sends, reads to the end of the stream or `max`, closes. What was read before a
    /// reset or a timeout is the answer.
    pub fn exchange(&self, request: &ExchangeRequest) -> Result<Vec<u8>, NetError> {
        ask!(&self.0, net_tcp::exchange(request), double => double.exchange(request))
    }

    /// Concurrent in the host; answers keep the order of the requests, at most 16.
    pub fn exchange_many(&self, requests: &[ExchangeRequest]) -> Vec<Result<Vec<u8>, NetError>> {
        ask!(&self.0, net_tcp::exchange_many(requests),
            double => requests.iter().map(|request| double.exchange(request)).collect())
    }

    /// Opens a dialogue.
    pub fn connect(&self, endpoint: &Endpoint, timeout_ms: u32) -> Result<Connection, NetError> {
        ask!(&self.0,
            net_tcp::Connection::connect(endpoint, timeout_ms).map(Line::Host).map(Connection),
            double => double.connect(endpoint).map(Line::Double).map(Connection))
    }
}

impl Connection {
    pub fn write(&self, data: &[u8], timeout_ms: u32) -> Result<(), NetError> {
        match &self.0 {
            Line::Host(line) => line.write(data, timeout_ms),
            #[cfg(feature = "testing")]
            Line::Double(line) => line.write(data),
        }
    }

    /// At most `max` bytes; none is the end of the stream.
    pub fn read(&self, max: u32, timeout_ms: u32) -> Result<Vec<u8>, NetError> {
        match &self.0 {
            Line::Host(line) => line.read(max, timeout_ms),
            #[cfg(feature = "testing")]
            Line::Double(line) => line.read(max),
        }
    }

    /// Goes on with TLS; certificates are not judged here.
    pub fn start_tls(&self, server_name: &str, timeout_ms: u32) -> Result<(), NetError> {
        match &self.0 {
            Line::Host(line) => line.start_tls(server_name, timeout_ms),
            #[cfg(feature = "testing")]
            Line::Double(line) => line.start_tls(server_name),
        }
    }
}

impl State<'_> {
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StateError> {
        ask!(self.door, env_state::get(self.scope, key), double => Ok(double.get(self.scope, key)))
    }

    /// Values of at most 16 KiB under keys of at most 128 bytes; `ttl` is rounded down to seconds.
    pub fn set(&self, key: &str, value: &[u8], ttl: Option<Duration>) -> Result<(), StateError> {
        let ttl_s = ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX));
        ask!(self.door, env_state::set(self.scope, key, value, ttl_s), double => {
            double.set(self.scope, key, value, ttl_s);
            Ok(())
        })
    }

    pub fn delete(&self, key: &str) -> Result<(), StateError> {
        ask!(self.door, env_state::delete(self.scope, key), double => {
            double.delete(self.scope, key);
            Ok(())
        })
    }
}
