//! One of the DNS servers, and the three ways in which it is asked.

use std::{sync::Arc, time::Duration};

use hickory_resolver::{
    ConnectionProvider, TokioResolver,
    config::{ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy},
    net::{self, runtime::TokioRuntimeProvider},
    proto::dnssec::TrustAnchors,
};

use super::{DnsServer, Transport, Trust, unchecked::Unchecked, validating::Validating};

/// A server with a client for each kind of validation.
pub(super) struct Upstream {
    pub(super) server: DnsServer,
    /// As a visitor asks.
    pub(super) plain: TokioResolver,
    pub(super) unchecked: hickory_resolver::Resolver<Unchecked>,
    pub(super) validating: Validating,
}

impl Upstream {
    /// `attempt`: how long one question to it may take.
    pub(super) fn new(
        server: DnsServer,
        trust: &Trust,
        attempt: Duration,
        anchors: &Arc<TrustAnchors>,
    ) -> Result<Self, net::NetError> {
        let plain = TokioRuntimeProvider::default();
        let plain = build(&server, trust, attempt, plain)?;
        let unchecked = build(&server, trust, attempt, Unchecked::default())?;
        let (tls, options) = (verifying(trust), options(attempt));
        let validating = Validating::new(&server, tls, options, Arc::clone(anchors));
        Ok(Self { server, plain, unchecked, validating })
    }
}

fn build<P: ConnectionProvider>(
    server: &DnsServer,
    trust: &Trust,
    attempt: Duration,
    provider: P,
) -> Result<hickory_resolver::Resolver<P>, net::NetError> {
    let config = ResolverConfig::from_name_servers(vec![server.config()]);
    let builder = hickory_resolver::Resolver::builder_with_config(config, provider);
    let mut builder = builder.with_options(options(attempt));
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
    options.edns_payload_len = 1232;
    options.try_tcp_on_error = false;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}
