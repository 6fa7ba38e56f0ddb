//! The verdict on a chain: facts, the first problem as a token, and one sentence about the chain.

use super::{
    Case, Certificate, Examination, Verification,
    certificate::Parsed,
    extensions::Obstacle,
    hostname,
    name::Name,
    ocsp,
    path::{End, Fault, Path, Pool},
};
use crate::egress::Trust;

/// How far some certificates lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// A trusted root, by a path that clients accept.
    Root,
    /// The certificate at this index, whose issuer is missing.
    Missing(usize),
    /// An end that no client accepts.
    Refused,
}

impl Case {
    /// How far certificates lead, of which the first is the leaf. Its own dates are no matter of
    /// its issuers.
    pub(super) fn reached(&self, trust: &Trust, certificates: &[Parsed]) -> Reached {
        let pool = self.searched(trust, certificates);
        let path = pool.best();
        if path.end == End::Missing {
            return Reached::Missing(path.top());
        }
        let signed = path.bad_signature.is_none() && path.weak_signature.is_none();
        let strong = !path.chain.iter().any(|index| certificates[*index].weak_key);
        let dated = |fault: &Fault| matches!(fault, Fault::Expired(0) | Fault::TooEarly(0));
        let sound = signed && strong && pool.faults(&path).iter().all(dated);
        if path.end == End::Anchor && sound { Reached::Root } else { Reached::Refused }
    }

    /// All that is known about the chain.
    pub(super) fn decide(&self, trust: &Trust) -> Examination {
        let Some(leaf) = self.leaf() else {
            let verification = Verification {
                error: Some("malformed_certificate".to_owned()),
                ..Verification::default()
            };
            return self.examination(verification, &[], None);
        };
        let pool = self.searched(trust, &self.pool);
        let path = pool.best();
        let finding = Finding { faults: pool.faults(&path), path };
        let staple = self.staple.as_deref().map(|staple| {
            ocsp::status(staple, leaf, self.issuer(&finding.path).as_deref(), self.at)
        });
        let revoked = staple.is_some_and(ocsp::Status::is_revocation);
        let verification = self.verification(leaf, &finding, revoked, trust);
        let members = if finding.path.end == End::Anchor && finding.path.bad_signature.is_none() {
            self.members(&finding.path)
        } else {
            Vec::new()
        };
        self.examination(verification, &members, staple.map(ocsp::Status::as_str))
    }

    fn verification(
        &self,
        leaf: &Parsed,
        finding: &Finding<'_>,
        revoked: bool,
        trust: &Trust,
    ) -> Verification {
        let Finding { path, faults } = finding;
        let any = |wanted: fn(&Fault) -> bool| faults.iter().any(wanted);
        let expired = any(|fault| matches!(fault, Fault::Expired(_)));
        let early = any(|fault| matches!(fault, Fault::TooEarly(_)));
        let purpose = any(|fault| matches!(fault, Fault::Purpose(_)));
        let structure = any(Fault::is_about_structure);
        let malformed = leaf.obstacle.as_ref().is_some_and(Obstacle::is_malformed);
        let weak = path.weak_signature.is_some()
            || path.chain.iter().any(|index| self.pool[*index].weak_key);
        let hostname_matches = self
            .reference
            .as_ref()
            .is_some_and(|reference| hostname::matches(reference, &leaf.names, &leaf.addresses));
        let missing = path.end == End::Missing;
        let completed_by_aia = missing && self.is_completed(trust);
        let self_signed = path.end == End::SelfSigned && path.chain.len() == 1;
        let checks = [
            (malformed, "malformed_certificate"),
            (expired, "certificate_expired"),
            (early, "certificate_not_yet_valid"),
            (!hostname_matches, "hostname_mismatch"),
            (revoked, "certificate_revoked"),
            (self_signed, "self_signed_certificate"),
            (path.end == End::SelfSigned, "untrusted_root"),
            (missing, "incomplete_chain"),
            (path.bad_signature.is_some(), "bad_signature"),
            (purpose || structure, "invalid_purpose"),
            (weak, "weak_key"),
        ];
        let error = checks.into_iter().find(|(applies, _)| *applies);
        let sound = path.bad_signature.is_none() && !structure && !weak;
        Verification {
            trusted: path.end == End::Anchor && sound,
            chain_complete: !missing,
            hostname_matches,
            time_valid: !expired && !early,
            purpose_valid: !purpose,
            missing_issuer: missing.then(|| self.last(path).issuer_label()),
            completed_by_aia,
            error: error.map(|(_, token)| token.to_owned()),
            chain_error: self.chain_error(finding, completed_by_aia),
        }
    }

    /// The first thing wrong with the chain itself; the leaf's own dates are not.
    fn chain_error(&self, finding: &Finding<'_>, completed_by_aia: bool) -> Option<String> {
        let Finding { path, faults } = finding;
        let top = self.last(path);
        match path.end {
            End::SelfSigned if path.chain.len() == 1 => {
                return Some("self-signed certificate".to_owned());
            }
            End::SelfSigned => return Some(format!("untrusted root \"{}\"", top.label())),
            End::Missing if completed_by_aia => {
                return Some(format!(
                    "missing intermediate \"{}\" (not sent by the server; available via AIA)",
                    top.issuer_label()
                ));
            }
            End::Missing => {
                return Some(format!("unable to find issuer \"{}\"", top.issuer_label()));
            }
            End::Anchor => {}
        }
        let first = |about: fn(&Fault) -> bool| faults.iter().find(|fault| about(fault));
        let dates = first(|fault| fault.dates_intermediate());
        let signature = path.bad_signature;
        let structure = first(|fault| fault.is_about_structure());
        let purpose = first(|fault| matches!(fault, Fault::Purpose(_)));
        match (dates, signature, structure.or(purpose)) {
            (Some(fault), _, _) | (None, None, Some(fault)) => Some(self.sentence(path, fault)),
            (None, Some(index), _) => {
                Some(format!("bad signature on \"{}\"", self.pool[index].label()))
            }
            (None, None, None) => None,
        }
    }

    fn sentence(&self, path: &Path<'_>, fault: &Fault) -> String {
        let named = |words: &str, index: usize| format!("{words} \"{}\"", self.pool[index].label());
        match *fault {
            Fault::Expired(index) => named("expired intermediate", index),
            Fault::TooEarly(index) => named("intermediate not yet valid", index),
            Fault::NotCa(index) => named("not a CA", index),
            Fault::PathLength(index) => named("path length exceeded", index),
            Fault::Constraints(Some(index)) => named("name constraints violated", index),
            Fault::Constraints(None) => {
                let root = path.anchor.map(|root| Name(&root.subject).to_label());
                format!("name constraints violated \"{}\"", root.unwrap_or_default())
            }
            Fault::Purpose(_) => NOT_FOR_SERVERS.to_owned(),
            Fault::Obstacle(index) => {
                let certificate = &self.pool[index];
                let obstacle = certificate.obstacle.as_ref().map(ToString::to_string);
                let (label, obstacle) = (certificate.label(), obstacle.unwrap_or_default());
                format!("{NOT_FOR_SERVERS} (\"{label}\": {obstacle})")
            }
        }
    }

    /// Whether the fetched issuers make a path to a trusted root that clients accept.
    fn is_completed(&self, trust: &Trust) -> bool {
        if self.fetched.is_empty() {
            return false;
        }
        let certificates = [self.pool.as_slice(), &self.fetched].concat();
        self.reached(trust, &certificates) == Reached::Root
    }

    fn searched<'t>(&'t self, trust: &'t Trust, certificates: &'t [Parsed]) -> Pool<'t> {
        Pool::new(certificates, trust, self.at, &self.comparisons, &self.signatures)
    }

    fn last(&self, path: &Path<'_>) -> &Parsed {
        &self.pool[path.top()]
    }

    /// The key info of the leaf's issuer, where it is known.
    fn issuer(&self, path: &Path<'_>) -> Option<Vec<u8>> {
        if path.bad_signature == Some(0) {
            return None;
        }
        if let Some(issuer) = path.chain.get(1) {
            return Some(self.pool[*issuer].key_info.clone());
        }
        match path.end {
            End::Anchor => path.anchor.map(|root| root.subject_public_key_info.to_vec()),
            End::SelfSigned => Some(self.pool[0].key_info.clone()),
            End::Missing => {
                let leaf = &self.pool[0];
                let fetched = self.fetched.iter().find(|above| above.known_as == leaf.issued_by);
                fetched.map(|above| above.key_info.clone())
            }
        }
    }

    /// The hashes of the certificates on the path, and of the root where it was sent.
    fn members(&self, path: &Path<'_>) -> Vec<&str> {
        let on_path = path.chain.iter().map(|index| &self.pool[*index]);
        let root = self.pool.iter().filter(|certificate| {
            path.anchor.is_some_and(|root| {
                // A cross-signed certificate of the root is another one.
                certificate.facts.self_signed
                    && certificate.key_info == *root.subject_public_key_info
                    && certificate.known_as == Name(&root.subject).comparable()
            })
        });
        on_path.chain(root).map(|certificate| certificate.facts.sha256.as_str()).collect()
    }

    fn examination(
        &self,
        verification: Verification,
        members: &[&str],
        staple: Option<&str>,
    ) -> Examination {
        let served = self.served.iter().zip(&self.hashes);
        let chain = served.map(|(certificate, hash)| match certificate {
            Some(certificate) => Certificate {
                in_trust_path: members.contains(&hash.as_str()),
                ..certificate.facts.clone()
            },
            None => Certificate { sha256: hash.clone(), ..Certificate::default() },
        });
        Examination { chain: chain.collect(), verification, ocsp_staple: staple.map(str::to_owned) }
    }
}

impl Fault {
    /// Whether a CA was not to issue what it issued, or a certificate not to be relied on.
    fn is_about_structure(&self) -> bool {
        match self {
            Self::NotCa(_) | Self::PathLength(_) | Self::Constraints(_) | Self::Obstacle(_) => true,
            Self::Expired(_) | Self::TooEarly(_) | Self::Purpose(_) => false,
        }
    }

    fn dates_intermediate(&self) -> bool {
        matches!(self, Self::Expired(index) | Self::TooEarly(index) if *index != 0)
    }
}

/// The path that the verdict speaks about, and what is wrong with it.
struct Finding<'a> {
    path: Path<'a>,
    faults: Vec<Fault>,
}

const NOT_FOR_SERVERS: &str = "certificate not valid for server authentication";
