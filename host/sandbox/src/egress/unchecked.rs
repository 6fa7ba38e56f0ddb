//! Connections to DNS servers that leave validation to us: every question carries the CD bit
//! (RFC 4035, 3.2.2). Without it a validating server answers SERVFAIL for what is bogus, and a
//! broken zone looks like a server in trouble.

use std::net::IpAddr;

use futures::future::BoxFuture;
use hickory_resolver::{
    ConnectionProvider, PoolContext,
    config::ConnectionConfig,
    net::{
        NetError,
        runtime::TokioRuntimeProvider,
        xfer::{DnsExchange, DnsHandle},
    },
    proto::op::DnsRequest,
};

/// Opens connections that set the bit.
#[derive(Clone, Default)]
pub(super) struct Unchecked(TokioRuntimeProvider);

/// A connection that sets the bit.
#[derive(Clone)]
pub(super) struct UncheckedConnection(DnsExchange<TokioRuntimeProvider>);

impl ConnectionProvider for Unchecked {
    type Conn = UncheckedConnection;
    type FutureConn = BoxFuture<'static, Result<Self::Conn, NetError>>;
    type RuntimeProvider = TokioRuntimeProvider;

    fn new_connection(
        &self,
        ip: IpAddr,
        config: &ConnectionConfig,
        cx: &PoolContext,
    ) -> Result<Self::FutureConn, NetError> {
        let connecting = self.0.new_connection(ip, config, cx)?;
        Ok(Box::pin(async move { connecting.await.map(UncheckedConnection) }))
    }

    fn runtime_provider(&self) -> &TokioRuntimeProvider {
        &self.0
    }
}

impl DnsHandle for UncheckedConnection {
    type Response = <DnsExchange<TokioRuntimeProvider> as DnsHandle>::Response;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, mut request: DnsRequest) -> Self::Response {
        request.metadata.checking_disabled = true;
        self.0.send(request)
    }
}
