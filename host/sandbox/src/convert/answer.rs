//! Answers of the probes.

use crate::{
    bindings::check::vedette::net::{dns, http, tls, types, x509},
    egress::{self, NOT_TLS},
    probes,
};

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

impl From<probes::http::Arrival> for http::Arrival {
    fn from(arrival: probes::http::Arrival) -> Self {
        let probes::http::Arrival { response, failure } = arrival;
        Self { response: response.into(), failure: failure.map(Into::into) }
    }
}

impl From<probes::http::Hop> for http::Hop {
    fn from(hop: probes::http::Hop) -> Self {
        let probes::http::Hop { status, location } = hop;
        Self { status, location }
    }
}
