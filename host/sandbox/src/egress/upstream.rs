//! One of the DNS servers, and the ways in which it is asked.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hickory_resolver::{
    ConnectionProvider, TokioResolver,
    config::{ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy},
    net::{self, runtime::TokioRuntimeProvider},
    proto::dnssec::TrustAnchors,
};
use parking_lot::Mutex;

use super::{DnsServer, Transport, Trust, unchecked::Unchecked, validating::Validating};

/// A server with a client for each kind of validation, and one for what it does not understand.
pub(super) struct Upstream {
    pub(super) server: DnsServer,
    /// As a visitor asks.
    pub(super) plain: TokioResolver,
    pub(super) unchecked: hickory_resolver::Resolver<Unchecked>,
    pub(super) validating: Validating,
    /// Without EDNS, which servers from before it take for an error.
    pub(super) bare: TokioResolver,
    /// When a question was left unanswered, if none was answered since.
    silent_at: Mutex<Option<Instant>>,
}

/// A question that waits for its answer. A caller that gives up leaves it unanswered.
pub(super) struct Waiting<'a> {
    upstream: &'a Upstream,
    since: Instant,
    is_over: bool,
}

impl Upstream {
    /// `attempt`: how long one question to it may take.
    pub(super) fn new(
        server: DnsServer,
        trust: &Trust,
        attempt: Duration,
        anchors: &Arc<TrustAnchors>,
    ) -> Result<Self, net::NetError> {
        let options = options(attempt);
        let plain = build(&server, trust, options.clone(), TokioRuntimeProvider::default())?;
        let unchecked = build(&server, trust, options.clone(), Unchecked::default())?;
        let mut without_edns = options.clone();
        without_edns.edns0 = false;
        let bare = build(&server, trust, without_edns, TokioRuntimeProvider::default())?;
        let validating = Validating::new(&server, verifying(trust), options, Arc::clone(anchors));
        let silent_at = Mutex::default();
        Ok(Self { server, plain, unchecked, validating, bare, silent_at })
    }

    /// Whether it was silent lately: then it is asked after others, or each name would take the time
    /// that one server is waited for.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        let silent_at = *self.silent_at.lock();
        silent_at.is_some_and(|at| now.saturating_duration_since(at) < ASKED_LAST_FOR)
    }

    pub(super) fn asked(&self, now: Instant) -> Waiting<'_> {
        Waiting { upstream: self, since: now, is_over: false }
    }
}

impl Waiting<'_> {
    pub(super) fn answered(mut self, is_answered: bool, now: Instant) {
        self.is_over = true;
        *self.upstream.silent_at.lock() = (!is_answered).then_some(now);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let now = Instant::now();
        if !self.is_over && now.saturating_duration_since(self.since) >= LATE {
            *self.upstream.silent_at.lock() = Some(now);
        }
    }
}

fn build<P: ConnectionProvider>(
    server: &DnsServer,
    trust: &Trust,
    options: ResolverOpts,
    provider: P,
) -> Result<hickory_resolver::Resolver<P>, net::NetError> {
    let config = ResolverConfig::from_name_servers(vec![server.config()]);
    let builder = hickory_resolver::Resolver::builder_with_config(config, provider);
    let mut builder = builder.with_options(options);
    if matches!(server.transport, Transport::Tls { .. } | Transport::Https { .. }) {
        builder = builder.with_tls_config(verifying(trust));
    }
    builder.build()
}

/// Servers are judged by the same roots as everybody.
fn verifying(trust: &Trust) -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider speaks TLS 1.2 and 1.3")
        .with_root_certificates(Arc::clone(trust.store()))
        .with_no_client_auth()
}

fn options(attempt: Duration) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = 0;
    options.timeout = attempt;
    options.attempts = 0; // the rounds over the servers are the retries
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.num_concurrent_reqs = 1;
    options.max_active_requests = MOST_ON_A_CONNECTION;
    options.edns_payload_len = 1232;
    options.try_tcp_on_error = false;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}

/// Then it is tried again: one name takes its time.
const ASKED_LAST_FOR: Duration = Duration::from_secs(60);
/// A server that is given up sooner may just have been about to answer.
const LATE: Duration = Duration::from_millis(500);
/// Over TCP, TLS and HTTPS all runs share one connection.
const MOST_ON_A_CONNECTION: usize = 512;
