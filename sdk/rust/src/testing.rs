//! A native double of the host: the tests of a plugin script what the network answers, and need
//! no WebAssembly. Channels ask the host for nothing; what their tests begin with is in
//! [`channel`].
//!
//! *Invariant:* a call that no script answers panics and says which; nothing is made up.

pub mod channel;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
    rc::Rc,
    time::Duration,
};

use crate::{
    Cx,
    dns::{Answer, Question},
    http::{Arrival, Request, Response},
    log::Level,
    net::{Endpoint, NetError},
    secrets::SecretError,
    state::Scope,
    tcp::ExchangeRequest,
    tls::{InspectRequest, Report},
    x509::Examination,
};

/// The host of one test. Clones are the same host.
#[derive(Clone)]
pub struct Host(Rc<Inner>);

pub(crate) use Host as Double;

/// The chain that [`Cx::examine`] was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<'a> {
    pub certificates: &'a [Vec<u8>],
    pub server_name: &'a str,
    /// Unix seconds.
    pub at: i64,
    pub staple: Option<&'a [u8]>,
    pub complete: bool,
}

/// One step of a dialogue, as its script sees it. A read answers what is there to be read; the
/// bytes that the other steps answer are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Write(&'a [u8]),
    Read { max: u32 },
    StartTls { server_name: &'a str },
}

/// A message that the plugin logged.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    pub level: Level,
    pub message: String,
    pub fields: Vec<(String, String)>,
}

/// The far side of a dialogue.
pub type Dialogue = Box<dyn FnMut(Step<'_>) -> Result<Vec<u8>, NetError>>;

/// What answers one kind of probe.
type Script<Q, A> = RefCell<Option<Box<dyn FnMut(&Q) -> Result<A, NetError>>>>;

/// What answers for the verifier; its chains are borrowed.
type Verifier = Box<dyn FnMut(Chain<'_>) -> Result<Examination, String>>;

struct Inner {
    now_ms: Cell<i64>,
    remaining_ms: Cell<u32>,
    drawn: Cell<u8>,
    logged: RefCell<Vec<Logged>>,
    kept: RefCell<BTreeMap<(bool, String), Kept>>,
    secrets: RefCell<BTreeMap<String, String>>,
    dns: Script<Question, Answer>,
    tls: Script<InspectRequest, Report>,
    x509: RefCell<Option<Verifier>>,
    http: Script<Request, Response>,
    http_partial: Script<Request, Arrival>,
    tcp: Script<ExchangeRequest, Vec<u8>>,
    connection: Script<Endpoint, Dialogue>,
}

struct Kept {
    value: Vec<u8>,
    until_ms: Option<i64>,
}

impl Host {
    /// A host at 2026-01-01T00:00:00Z, with ten seconds to run, that answers nothing yet.
    #[allow(clippy::new_without_default, reason = "a host is set up, not defaulted")]
    pub fn new() -> Self {
        Self(Rc::new(Inner {
            now_ms: Cell::new(1_767_225_600_000),
            remaining_ms: Cell::new(10_000),
            drawn: Cell::new(0),
            logged: RefCell::default(),
            kept: RefCell::default(),
            secrets: RefCell::default(),
            dns: RefCell::default(),
            tls: RefCell::default(),
            x509: RefCell::default(),
            http: RefCell::default(),
            http_partial: RefCell::default(),
            tcp: RefCell::default(),
            connection: RefCell::default(),
        }))
    }

    /// The door to hand to [`Check::run`](crate::Check::run).
    pub fn cx(&self) -> Cx {
        Cx::double(self.clone())
    }

    /// Moves the clock to Unix seconds.
    pub fn set_now(&self, now: i64) {
        self.0.now_ms.set(now * 1_000);
    }

    pub fn set_remaining(&self, remaining: Duration) {
        let ms = u32::try_from(remaining.as_millis()).unwrap_or(u32::MAX);
        self.0.remaining_ms.set(ms);
    }

    pub fn set_secret(&self, name: &str, value: &str) {
        self.0.secrets.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    /// Answers [`Cx::lookup`] and each question of [`Cx::lookup_many`].
    pub fn dns(&self, script: impl FnMut(&Question) -> Result<Answer, NetError> + 'static) {
        self.0.dns.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::inspect`].
    pub fn tls(&self, script: impl FnMut(&InspectRequest) -> Result<Report, NetError> + 'static) {
        self.0.tls.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::examine`].
    pub fn x509(&self, script: impl FnMut(Chain<'_>) -> Result<Examination, String> + 'static) {
        self.0.x509.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::fetch`] and each request of [`Cx::fetch_many`]; [`Cx::fetch_partial`] too,
    /// where no script of its own does, and then nothing breaks off.
    pub fn http(&self, script: impl FnMut(&Request) -> Result<Response, NetError> + 'static) {
        self.0.http.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::fetch_partial`].
    pub fn http_partial(
        &self,
        script: impl FnMut(&Request) -> Result<Arrival, NetError> + 'static,
    ) {
        self.0.http_partial.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::exchange`] and each request of [`Cx::exchange_many`].
    pub fn tcp(&self, script: impl FnMut(&ExchangeRequest) -> Result<Vec<u8>, NetError> + 'static) {
        self.0.tcp.replace(Some(Box::new(script)));
    }

    /// Answers [`Cx::connect`] with the far side of a dialogue.
    pub fn connection(
        &self,
        script: impl FnMut(&Endpoint) -> Result<Dialogue, NetError> + 'static,
    ) {
        self.0.connection.replace(Some(Box::new(script)));
    }

    /// What the plugin logged so far.
    pub fn logged(&self) -> Vec<Logged> {
        self.0.logged.borrow().clone()
    }
}

/// What [`Cx`] asks of the double.
impl Host {
    pub(crate) fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }

    pub(crate) fn remaining_ms(&self) -> u32 {
        self.0.remaining_ms.get()
    }

    pub(crate) fn log(&self, level: Level, message: &str, fields: Vec<(String, String)>) {
        self.0.logged.borrow_mut().push(Logged { level, message: message.to_owned(), fields });
    }

    /// Counts upwards, so that a test knows the bytes and two draws still differ.
    pub(crate) fn random(&self, len: u32) -> Vec<u8> {
        let next = || self.0.drawn.replace(self.0.drawn.get().wrapping_add(1));
        (0..len).map(|_| next()).collect()
    }

    pub(crate) fn secret(&self, name: &str) -> Result<String, SecretError> {
        self.0.secrets.borrow().get(name).cloned().ok_or(SecretError::Unset)
    }

    pub(crate) fn lookup(&self, question: &Question) -> Result<Answer, NetError> {
        answer(&self.0.dns, question)
    }

    pub(crate) fn inspect(&self, request: &InspectRequest) -> Result<Report, NetError> {
        answer(&self.0.tls, request)
    }

    pub(crate) fn examine(&self, chain: Chain<'_>) -> Result<Examination, String> {
        match self.0.x509.borrow_mut().as_mut() {
            Some(script) => script(chain),
            None => panic!("no script answers {chain:?}"),
        }
    }

    pub(crate) fn fetch(&self, request: &Request) -> Result<Response, NetError> {
        answer(&self.0.http, request)
    }

    pub(crate) fn fetch_partial(&self, request: &Request) -> Result<Arrival, NetError> {
        let scripted = self.0.http_partial.borrow().is_some();
        if scripted {
            return answer(&self.0.http_partial, request);
        }
        self.fetch(request).map(|response| Arrival { response, failure: None })
    }

    pub(crate) fn exchange(&self, request: &ExchangeRequest) -> Result<Vec<u8>, NetError> {
        answer(&self.0.tcp, request)
    }

    pub(crate) fn connect(&self, endpoint: &Endpoint) -> Result<Line, NetError> {
        let dialogue = answer(&self.0.connection, endpoint)?;
        Ok(Line(RefCell::new(dialogue)))
    }

    pub(crate) fn get(&self, scope: Scope, key: &str) -> Option<Vec<u8>> {
        let kept = self.0.kept.borrow();
        let entry = kept.get(&slot(scope, key))?;
        let lives = entry.until_ms.is_none_or(|until| self.now_ms() < until);
        lives.then(|| entry.value.clone())
    }

    pub(crate) fn set(&self, scope: Scope, key: &str, value: &[u8], ttl_s: Option<u32>) {
        let until_ms = ttl_s.map(|ttl| self.now_ms() + i64::from(ttl) * 1_000);
        let entry = Kept { value: value.to_vec(), until_ms };
        self.0.kept.borrow_mut().insert(slot(scope, key), entry);
    }

    pub(crate) fn delete(&self, scope: Scope, key: &str) {
        self.0.kept.borrow_mut().remove(&slot(scope, key));
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("now_ms", &self.0.now_ms.get()).finish_non_exhaustive()
    }
}

/// The plugin's side of a scripted dialogue.
pub(crate) struct Line(RefCell<Dialogue>);

impl Line {
    pub(crate) fn write(&self, data: &[u8]) -> Result<(), NetError> {
        self.step(Step::Write(data)).map(drop)
    }

    pub(crate) fn read(&self, max: u32) -> Result<Vec<u8>, NetError> {
        self.step(Step::Read { max })
    }

    pub(crate) fn start_tls(&self, server_name: &str) -> Result<(), NetError> {
        self.step(Step::StartTls { server_name }).map(drop)
    }

    fn step(&self, step: Step<'_>) -> Result<Vec<u8>, NetError> {
        (self.0.borrow_mut())(step)
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

fn answer<Q: fmt::Debug, A>(script: &Script<Q, A>, question: &Q) -> Result<A, NetError> {
    match script.borrow_mut().as_mut() {
        Some(script) => script(question),
        None => panic!("no script answers {question:?}"),
    }
}

fn slot(scope: Scope, key: &str) -> (bool, String) {
    (scope == Scope::Shared, key.to_owned())
}

#[cfg(test)]
mod tests;
