//! Questions to the probes.

use crate::{
    bindings::check::vedette::net::{dns, http, tcp, tls, types},
    probes,
};

impl From<types::Endpoint> for probes::Endpoint {
    fn from(endpoint: types::Endpoint) -> Self {
        let types::Endpoint { host, port, connect_to } = endpoint;
        Self { host, port, connect_to }
    }
}

impl From<dns::Question> for probes::dns::Question {
    fn from(question: dns::Question) -> Self {
        let dns::Question { name, rrtype, validate, resolver } = question;
        Self { name, rrtype, validate, resolver }
    }
}

impl From<tls::InspectRequest> for probes::tls::InspectRequest {
    fn from(request: tls::InspectRequest) -> Self {
        Self {
            endpoint: request.endpoint.into(),
            server_name: request.server_name,
            alpn: request.alpn,
            starttls: request.starttls.map(Into::into),
            complete: request.complete,
            timeout_ms: request.timeout_ms,
        }
    }
}

impl From<tls::Starttls> for probes::tls::StartTls {
    fn from(protocol: tls::Starttls) -> Self {
        match protocol {
            tls::Starttls::Smtp => Self::Smtp,
            tls::Starttls::Imap => Self::Imap,
            tls::Starttls::Pop3 => Self::Pop3,
            tls::Starttls::Ftp => Self::Ftp,
            tls::Starttls::Postgres => Self::Postgres,
            tls::Starttls::Xmpp => Self::Xmpp,
        }
    }
}

impl From<http::Request> for probes::http::Request {
    /// Secret headers are looked up by the host function: here they are names, there values.
    fn from(request: http::Request) -> Self {
        Self {
            method: request.method,
            url: request.url,
            headers: request.headers,
            secret_headers: Vec::new(),
            body: request.body,
            timeout_ms: request.timeout_ms,
            max_redirects: request.max_redirects,
            max_body: request.max_body,
            verify_tls: request.verify_tls,
            connect_to: request.connect_to,
        }
    }
}

impl From<tcp::ExchangeRequest> for probes::tcp::ExchangeRequest {
    fn from(request: tcp::ExchangeRequest) -> Self {
        let tcp::ExchangeRequest { endpoint, send, max, timeout_ms } = request;
        Self { endpoint: endpoint.into(), send, max, timeout_ms }
    }
}
