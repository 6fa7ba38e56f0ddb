//! One of the DNS servers, and the ways in which it is asked.

use std::{sync::Arc, time::Duration};

use hickory_resolver::{
    ConnectionProvider, TokioResolver,
    config::{ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy},
    net::{self, runtime::TokioRuntimeProvider},
    proto::dnssec::TrustAnchors,
};

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
        Ok(Self { server, plain, unchecked, validating, bare })
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

/// Over TCP, TLS and HTTPS all runs share one connection.
const MOST_ON_A_CONNECTION: usize = 512;
