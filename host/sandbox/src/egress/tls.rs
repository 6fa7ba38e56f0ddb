//! TLS towards others, with our own provider and our own verifiers.
//!
//! *Invariant:* the signature of the handshake is checked even where any chain is accepted, so
//! that a recorded certificate is one whose key the peer holds. RSA keys of a size that no verifier
//! takes are believed: those below 2048 bits lower the grade, those above 8192 say nothing against
//! the server.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use parking_lot::Mutex;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, InvalidMessage, OtherError,
    SignatureScheme,
    client::{
        Resumption, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, aws_lc_rs},
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout_at,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{NOT_TLS, NetError, Phase, Trust, der};
use crate::probes::x509::{ExamineRequest, KeySize, examine_offline, key_size, may_serve};

/// What the peer showed in its handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    /// DER, leaf first, as served.
    pub(crate) chain: Vec<Vec<u8>>,
    pub(crate) staple: Option<Vec<u8>>,
}

/// Accepts every chain and remembers it; judgement follows on what was recorded.
#[derive(Debug)]
pub(crate) struct Recorder {
    seen: Mutex<Recorded>,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { seen: Mutex::default() })
    }

    /// What has been recorded; leaves nothing behind.
    pub(crate) fn take(&self) -> Recorded {
        std::mem::take(&mut self.seen.lock())
    }
}

/// A configuration that accepts what `recorder` accepts: everything that is signed.
pub(crate) fn client_config(recorder: &Arc<Recorder>, alpn: &[String]) -> Arc<ClientConfig> {
    let verifier: Arc<dyn ServerCertVerifier> = Arc::clone(recorder) as _;
    let mut config = builder(verifier);
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// A configuration that verifies against the roots of `trust`.
pub fn verifying_config(trust: &Trust, alpn: &[&[u8]]) -> Arc<ClientConfig> {
    let roots = Arc::clone(trust.store());
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&PROVIDER));
    let webpki = webpki.build().expect("the Mozilla roots are never empty");
    let mut config = builder(accepting_authorities(webpki, trust.clone()));
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    Arc::new(config)
}

/// Accepts what the usual verifier accepts, and what the ssl check's own examination, against
/// `trust`, finds valid: so also a leaf that is marked as an authority, as `openssl req -x509`
/// marks all that it makes, and critical extensions that the examination knows. A leaf whose key
/// usage does not let it serve is refused, and so is one that its own staple calls revoked. What is
/// wrong with a refused chain is the examination's word, so that it is called the same everywhere.
pub fn accepting_authorities(
    usual: Arc<dyn ServerCertVerifier>,
    trust: Trust,
) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier { usual, trust })
}

/// Shakes hands over `stream` until `deadline`.
pub(crate) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    stream: S,
    deadline: Instant,
) -> Result<TlsStream<S>, NetError> {
    let connector = TlsConnector::from(config);
    match timeout_at(deadline.into(), connector.connect(name, stream)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(handshake_error(&error)),
        Err(_) => Err(NetError::Timeout(Phase::Handshake)),
    }
}

/// What a failed handshake says about the peer. Its bytes are never quoted.
pub(super) fn handshake_error(error: &std::io::Error) -> NetError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        None if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            NetError::Tls("closed during the handshake".to_owned())
        }
        // The reader's own bound on what it keeps of a message, which it tells without a cause.
        None if error.kind() == std::io::ErrorKind::InvalidData => {
            NetError::Tls(TOO_LARGE.to_owned())
        }
        Some(Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge)) => {
            NetError::Tls(TOO_LARGE.to_owned())
        }
        None => NetError::from_io(error, Phase::Handshake),
        Some(Error::AlertReceived(alert)) => {
            NetError::Tls(format!("alert {} {alert:?}", u8::from(*alert)))
        }
        Some(Error::InvalidMessage(_)) => NetError::Protocol(NOT_TLS.to_owned()),
        Some(Error::PeerIncompatible(_)) => {
            NetError::Tls("nothing in common: neither version nor cipher suite".to_owned())
        }
        Some(Error::InvalidCertificate(reason)) => {
            NetError::Tls(format!("certificate {} was not accepted: {reason}", token(reason)))
        }
        Some(Error::PeerMisbehaved(_)) => {
            NetError::Tls("the peer broke the rules of the handshake".to_owned())
        }
        Some(_) => NetError::Tls("the handshake failed".to_owned()),
    }
}

/// The text of [`NetError::Tls`] for a server whose certificates take more room than 64 KiB: a message of
/// TLS may have 16 MiB, and other clients read some 100 KiB.
pub(crate) const TOO_LARGE: &str = "too large: a message of the handshake has more than 64 KiB";

/// The word of `x509.verification` for what a verifier refused.
fn token(reason: &CertificateError) -> &str {
    use CertificateError as E;
    match reason {
        E::BadEncoding => "malformed_certificate",
        E::Expired | E::ExpiredContext { .. } => "certificate_expired",
        E::NotValidYet | E::NotValidYetContext { .. } => "certificate_not_yet_valid",
        E::NotValidForName | E::NotValidForNameContext { .. } => "hostname_mismatch",
        E::Revoked => "certificate_revoked",
        // The examination says the same, or found nothing.
        E::UnknownIssuer => "untrusted_root",
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => INVALID_PURPOSE,
        E::Other(OtherError(cause)) => match cause.downcast_ref::<Examined>() {
            Some(Examined(token)) => token.as_str(),
            // How the path is built: name constraints, lengths, issuers that are none.
            None => INVALID_PURPOSE,
        },
        // The signature of the handshake, or of the chain.
        _ => "bad_signature",
    }
}

fn builder(verifier: Arc<dyn ServerCertVerifier>) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&PROVIDER))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the default versions")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    // A resumed session would show neither chain nor staple.
    config.resumption = Resumption::disabled();
    config
}

/// See [`accepting_authorities`]. rustls refuses the form of a leaf that is marked as an authority
/// before it looks at anything else, and knows none of the extensions about policies, which have to
/// be critical in an authority; OpenSSL takes both, and so does the ssl check. It does not look at the
/// key usage of a leaf, as all others do. It also has one word, of an unknown issuer, for a chain that
/// is cut short, a root of somebody's own, and a certificate that signed itself.
#[derive(Debug)]
struct Verifier {
    usual: Arc<dyn ServerCertVerifier>,
    trust: Trust,
}

/// What the examination of a chain found, by its word.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Examined(String);

impl Verifier {
    /// Whether the staple of the request says so, and counts.
    fn is_revoked(&self, request: &ExamineRequest) -> bool {
        self.fault(request).as_deref() == Some(token(&CertificateError::Revoked))
    }

    /// What the examination finds wrong, by its word. It fetches nothing.
    fn fault(&self, request: &ExamineRequest) -> Option<String> {
        let Ok(found) = examine_offline(&self.trust, request) else {
            return Some(token(&CertificateError::BadEncoding).to_owned());
        };
        let verdict = found.verification;
        // A path that is not trusted is not valid, also for a reason that has no word.
        verdict.error.or_else(|| (!verdict.trusted).then(|| "untrusted_root".to_owned()))
    }
}

/// Of what the examination found, in its word.
fn refusal(word: String) -> Error {
    let cause = OtherError(Arc::new(Examined(word)));
    Error::InvalidCertificate(CertificateError::Other(cause))
}

/// The error of a handshake's signature, in the word of the key where it is the size of that which is
/// refused, whatever was signed.
fn unless_of_its_size(error: Error, certificate: &CertificateDer<'_>) -> Error {
    if error != Error::InvalidCertificate(CertificateError::BadSignature) {
        return error;
    }
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return error };
    match der::contents(parsed.public_key().raw).map(key_size) {
        Some(KeySize::Small) => refusal("weak_key".to_owned()),
        Some(KeySize::Large) => Error::General("the key is larger than anybody verifies".into()),
        Some(KeySize::Usual) | None => error,
    }
}

fn is_marked_as_authority(refused: &CertificateError) -> bool {
    other(refused) == Some(&webpki::Error::CaUsedAsEndEntity)
}

fn has_unknown_extension(refused: &CertificateError) -> bool {
    other(refused) == Some(&webpki::Error::UnsupportedCriticalExtension)
}

/// What rustls has no word for.
fn other(refused: &CertificateError) -> Option<&webpki::Error> {
    let CertificateError::Other(OtherError(cause)) = refused else { return None };
    cause.downcast_ref()
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        staple: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verdict =
            self.usual.verify_server_cert(end_entity, intermediates, server_name, staple, now);
        let request = |staple: Option<&[u8]>| ExamineRequest {
            chain: std::iter::once(end_entity)
                .chain(intermediates)
                .map(|certificate| certificate.to_vec())
                .collect(),
            server_name: server_name.to_str().into_owned(),
            at: now.as_secs().cast_signed(),
            staple: staple.map(<[u8]>::to_vec),
            complete: false,
        };
        let refused = match &verdict {
            Ok(_) if !may_serve(end_entity) => return Err(refusal(INVALID_PURPOSE.to_owned())),
            // rustls does not read it.
            Ok(_) if !staple.is_empty() && self.is_revoked(&request(Some(staple))) => {
                return Err(Error::InvalidCertificate(CertificateError::Revoked));
            }
            Err(Error::InvalidCertificate(refused)) => refused,
            Ok(_) | Err(_) => return verdict,
        };
        match self.fault(&request(None)) {
            None if is_marked_as_authority(refused) || has_unknown_extension(refused) => {
                Ok(ServerCertVerified::assertion())
            }
            // It is not for the examination to accept what was refused for another reason.
            None => verdict,
            // Where both say the same, the first has more to say.
            Some(word) if word == token(refused) => verdict,
            Some(word) => Err(refusal(word)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verdict = match self.usual.verify_tls12_signature(message, certificate, signed) {
            Err(Error::InvalidCertificate(refused)) if has_unknown_extension(&refused) => {
                verify_signature(message, certificate, signed, usize::MAX, Doubt::Refused)
            }
            verdict => verdict,
        };
        verdict.map_err(|error| unless_of_its_size(error, certificate))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verdict = match self.usual.verify_tls13_signature(message, certificate, signed) {
            Err(Error::InvalidCertificate(refused)) if has_unknown_extension(&refused) => {
                verify_signature(message, certificate, signed, 1, Doubt::Refused)
            }
            verdict => verdict,
        };
        verdict.map_err(|error| unless_of_its_size(error, certificate))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        staple: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = std::iter::once(end_entity).chain(intermediates);
        *self.seen.lock() = Recorded {
            chain: chain.map(|certificate| certificate.to_vec()).collect(),
            staple: (!staple.is_empty()).then(|| staple.to_vec()),
        };
        Ok(ServerCertVerified::assertion())
    }

    /// TLS 1.2 names a hash, not a curve: every algorithm of the scheme is tried.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_signature(message, certificate, signed, usize::MAX, Doubt::Believed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_signature(message, certificate, signed, 1, Doubt::Believed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER.signature_verification_algorithms.supported_schemes()
    }
}

/// What becomes of a signature that cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Believed,
    Refused,
}

/// Checks the signature with the leaf's key. webpki's own check parses the leaf and refuses old
/// and odd ones, which are just what a probe must be able to report; only the key matters here.
fn verify_signature(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    candidates: usize,
    doubt: Doubt,
) -> Result<HandshakeSignatureValid, Error> {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
        // There is no key to check with; the examination of the chain calls it malformed.
        return match doubt {
            Doubt::Believed => Ok(HandshakeSignatureValid::assertion()),
            Doubt::Refused => Err(Error::InvalidCertificate(CertificateError::BadEncoding)),
        };
    };
    let key = parsed.public_key();
    let algorithm = der::contents(key.raw).and_then(der::contents);
    let mapping = PROVIDER.signature_verification_algorithms.mapping;
    let scheme = mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
    let (_, algorithms) = scheme.ok_or(Error::General("signature scheme not offered".into()))?;
    let mut fitting = algorithms
        .iter()
        .take(candidates)
        .filter(|candidate| algorithm == Some(candidate.public_key_alg_id().as_ref()))
        .peekable();
    // The verifiers refuse such a key whatever it signed. Who holds it is not known, but otherwise
    // its certificate would never be watched.
    let cannot_tell = doubt == Doubt::Believed
        && fitting.peek().is_some()
        && der::contents(key.raw).is_some_and(|key| key_size(key) != KeySize::Usual);
    let good = fitting.any(|candidate| {
        let bits = &key.subject_public_key.data;
        candidate.verify_signature(bits, message, signed.signature()).is_ok()
    });
    if good || cannot_tell {
        Ok(HandshakeSignatureValid::assertion())
    } else {
        Err(Error::InvalidCertificate(CertificateError::BadSignature))
    }
}

const INVALID_PURPOSE: &str = "invalid_purpose";

/// Two providers are linked into the process; probes name theirs.
static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));
