//! Between the contract's generated types, the model's and the probes': `From` impls and nothing
//! else.

use vedette_model::{
    Evidence, Health, Severity,
    alert::{Notice, NoticeStatus},
    assessment::EventType,
};

use crate::{
    bindings::{
        check::{
            exports::vedette::plugin::checker,
            vedette::{
                net::{dns, http, tcp, tls, types, x509},
                plugin::types as plugin,
            },
        },
        notifier::exports::vedette::plugin::notifier,
    },
    channel::{Notification, Receipt},
    check::Job,
    egress::{self, NOT_TLS},
    probes,
};

// The plugin's own world.

impl From<plugin::Severity> for Severity {
    fn from(severity: plugin::Severity) -> Self {
        match severity {
            plugin::Severity::Info => Self::Info,
            plugin::Severity::Warning => Self::Warning,
            plugin::Severity::Critical => Self::Critical,
        }
    }
}

impl From<Severity> for plugin::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Warning => Self::Warning,
            Severity::Critical => Self::Critical,
        }
    }
}

impl From<plugin::EventType> for EventType {
    fn from(event: plugin::EventType) -> Self {
        Self {
            name: event.name,
            alert_type: event.alert_type,
            severity: event.severity.into(),
            title: event.title,
            self_resolving: event.self_resolving,
            confirmations: event.confirmations.into(),
            clears: event.clears.into(),
        }
    }
}

impl From<checker::Health> for Health {
    fn from(health: checker::Health) -> Self {
        match health {
            checker::Health::Ok => Self::Ok,
            checker::Health::Degraded => Self::Degraded,
            checker::Health::Down => Self::Down,
            checker::Health::Unknown => Self::Unknown,
        }
    }
}

impl checker::Job {
    /// `settings`: the operator's, as JSON.
    pub(crate) fn of(job: Job, settings: &str) -> Self {
        Self {
            run_id: job.run_id,
            target: job.target.to_string(),
            port: job.port,
            connect_to: job.connect_to.map(|address| address.to_string()),
            config: job.config.to_string(),
            settings: settings.to_owned(),
            omit: job.omit,
        }
    }
}

impl From<Evidence> for checker::Evidence {
    fn from(evidence: Evidence) -> Self {
        let settled =
            evidence.settled.map(|(result, at)| (result.to_string(), at.timestamp_millis()));
        let siblings = evidence.siblings.into_iter();
        Self {
            current: evidence.current.to_string(),
            current_at: evidence.current_at.timestamp_millis(),
            settled,
            siblings: siblings.map(|(check, result)| (check, result.to_string())).collect(),
            config: evidence.config.to_string(),
            alert_days: evidence.alert_days,
            memory: evidence.memory,
        }
    }
}

impl From<Notification> for notifier::Notification {
    fn from(notification: Notification) -> Self {
        Self {
            id: notification.id.to_string(),
            source: notification.source,
            timestamp: notification.timestamp.timestamp_millis(),
            test: notification.test,
            alerts: notification.alerts.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Notice> for notifier::Alert {
    fn from(notice: Notice) -> Self {
        Self {
            id: notice.alert_id.to_string(),
            // The notice of a test is about no site.
            site_id: (!notice.site_id.0.is_nil()).then(|| notice.site_id.to_string()),
            event: notice.event,
            alert_type: notice.alert_type,
            severity: notice.severity.into(),
            domain: notice.domain,
            message: notice.message,
            suggestion: notice.suggestion,
            resolved: notice.status == NoticeStatus::Resolved,
            created_at: notice.created_at.timestamp_millis(),
            url: None,
        }
    }
}

impl From<Receipt> for notifier::Receipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            status: receipt.status,
            headers: receipt.headers,
            body: receipt.body,
            error: receipt.error,
        }
    }
}

// Questions to the probes.

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

// Answers of the probes.

impl From<egress::NetError> for types::NetError {
    fn from(error: egress::NetError) -> Self {
        use egress::NetError as E;
        match error {
            E::NotPermitted(what) => Self::NotPermitted(what),
            E::AddressBlocked(why) => Self::AddressBlocked(why),
            E::NameNotFound => Self::NameNotFound,
            E::Refused => Self::Refused,
            E::Reset => Self::Reset,
            E::Timeout(phase) => Self::Timeout(phase.into()),
            E::Tls(what) => Self::Tls(what),
            E::Protocol(what) if what == NOT_TLS => Self::Tls("not-tls".to_owned()),
            E::Protocol(what) => Self::Protocol(what),
            E::TooLarge(limit) => Self::TooLarge(limit),
            E::BudgetExhausted => Self::BudgetExhausted,
            E::Other(code, message) => Self::Other((code, message)),
        }
    }
}

impl From<egress::Phase> for types::Phase {
    fn from(phase: egress::Phase) -> Self {
        match phase {
            egress::Phase::Resolve => Self::Resolve,
            egress::Phase::Connect => Self::Connect,
            egress::Phase::Handshake => Self::Handshake,
            egress::Phase::Send => Self::Send,
            egress::Phase::Receive => Self::Receive,
        }
    }
}

impl From<probes::Timing> for types::Timing {
    fn from(timing: probes::Timing) -> Self {
        let probes::Timing { resolve_us, connect_us, tls_us, first_byte_us, total_us } = timing;
        Self { resolve_us, connect_us, tls_us, first_byte_us, total_us }
    }
}

impl From<probes::dns::Answer> for dns::Answer {
    fn from(answer: probes::dns::Answer) -> Self {
        Self {
            rcode: answer.rcode,
            records: answer.records.into_iter().map(Into::into).collect(),
            dnssec: answer.dnssec.into(),
            dnssec_detail: answer.dnssec_detail,
            server: answer.server,
            elapsed_us: answer.elapsed_us,
        }
    }
}

impl From<probes::dns::Rr> for dns::Rr {
    fn from(record: probes::dns::Rr) -> Self {
        let probes::dns::Rr { name, rrtype, ttl, data } = record;
        Self { name, rrtype, ttl, data }
    }
}

impl From<probes::dns::Dnssec> for dns::Dnssec {
    fn from(dnssec: probes::dns::Dnssec) -> Self {
        match dnssec {
            probes::dns::Dnssec::Secure => Self::Secure,
            probes::dns::Dnssec::Insecure => Self::Insecure,
            probes::dns::Dnssec::Bogus => Self::Bogus,
            probes::dns::Dnssec::Indeterminate => Self::Indeterminate,
        }
    }
}

impl From<probes::tls::Report> for tls::Report {
    fn from(report: probes::tls::Report) -> Self {
        Self {
            peer_address: report.peer_address,
            version: report.version,
            cipher: report.cipher,
            alpn: report.alpn,
            chain: report.chain,
            examination: report.examination.into(),
            timing: report.timing.into(),
        }
    }
}

impl From<probes::x509::Examination> for x509::Examination {
    fn from(examination: probes::x509::Examination) -> Self {
        Self {
            chain: examination.chain.into_iter().map(Into::into).collect(),
            verification: examination.verification.into(),
            ocsp_staple: examination.ocsp_staple,
        }
    }
}

impl From<probes::x509::Certificate> for x509::Certificate {
    fn from(certificate: probes::x509::Certificate) -> Self {
        Self {
            subject: certificate.subject,
            issuer: certificate.issuer,
            issuer_cn: certificate.issuer_cn,
            issuer_org: certificate.issuer_org,
            serial: certificate.serial,
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            san_dns: certificate.san_dns,
            san_ip: certificate.san_ip,
            signature_algorithm: certificate.signature_algorithm,
            key_algorithm: certificate.key_algorithm,
            key_bits: certificate.key_bits,
            sha256: certificate.sha256,
            spki_sha256: certificate.spki_sha256,
            tbs_sha256: certificate.tbs_sha256,
            is_ca: certificate.is_ca,
            self_signed: certificate.self_signed,
            in_trust_path: certificate.in_trust_path,
            has_ocsp_url: certificate.has_ocsp_url,
            must_staple: certificate.must_staple,
            sct_count: certificate.sct_count,
        }
    }
}

impl From<probes::x509::Verification> for x509::Verification {
    fn from(verification: probes::x509::Verification) -> Self {
        Self {
            trusted: verification.trusted,
            chain_complete: verification.chain_complete,
            hostname_matches: verification.hostname_matches,
            time_valid: verification.time_valid,
            purpose_valid: verification.purpose_valid,
            missing_issuer: verification.missing_issuer,
            completed_by_aia: verification.completed_by_aia,
            error: verification.error,
            chain_error: verification.chain_error,
        }
    }
}

impl From<probes::http::Response> for http::Response {
    fn from(response: probes::http::Response) -> Self {
        Self {
            status: response.status,
            headers: response.headers,
            body: response.body,
            truncated: response.truncated,
            final_url: response.final_url,
            hops: response.hops.into_iter().map(Into::into).collect(),
            peer_address: response.peer_address,
            timing: response.timing.into(),
        }
    }
}

impl From<probes::http::Hop> for http::Hop {
    fn from(hop: probes::http::Hop) -> Self {
        let probes::http::Hop { status, location } = hop;
        Self { status, location }
    }
}
