//! The verdict on a chain: facts, the first problem as a token, and one sentence about the chain.

use rustls_pki_types::{CertificateDer, UnixTime};

use super::{
    Case, Certificate, Examination, Verification,
    certificate::Parsed,
    hostname, ocsp,
    path::{End, Fault, Path, Pool},
    signature::trusted_algorithms,
};
use crate::egress::Trust;

impl Case {
    /// Whether the best path lacks an issuer: then it may be worth fetching.
    pub(super) fn wants_issuer(&self, trust: &Trust) -> bool {
        self.leaf().is_some() && self.best(trust, &self.pool).end == End::Missing
    }

    /// The certificate whose issuer is missing.
    pub(super) fn top<'a>(&'a self, trust: &Trust, pool: &'a [Parsed]) -> Option<&'a Parsed> {
        let best = self.best(trust, pool);
        let top = best.chain.last().map(|index| &pool[*index]);
        top.filter(|_| best.end == End::Missing)
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
        let finding = match verify(&self.pool, trust, self.at) {
            Ok(path) if Pool::new(&self.pool, trust).faults(&path, self.at).is_empty() => {
                Finding { path, faults: Vec::new(), extra: None }
            }
            // webpki does not look at the key usage of issuers.
            Ok(_) => self.explain(trust, None),
            Err(error) => self.explain(trust, Some(&error)),
        };
        let staple = self.staple.as_deref().map(|staple| {
            ocsp::status(staple, leaf, self.issuer(&finding.path).as_deref(), self.at)
        });
        let revoked = staple == Some(ocsp::Status::Revoked);
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
        finding: &Finding,
        revoked: bool,
        trust: &Trust,
    ) -> Verification {
        let Finding { path, faults, extra } = finding;
        let expired = faults.iter().any(|fault| matches!(fault, Fault::Expired(_)));
        let early = faults.iter().any(|fault| matches!(fault, Fault::TooEarly(_)));
        let purpose = faults.iter().any(|fault| matches!(fault, Fault::Purpose(_)));
        let structure =
            faults.iter().any(|fault| matches!(fault, Fault::NotCa(_) | Fault::PathLength(_)));
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
            (expired, "certificate_expired"),
            (early, "certificate_not_yet_valid"),
            (!hostname_matches, "hostname_mismatch"),
            (revoked, "certificate_revoked"),
            (self_signed, "self_signed_certificate"),
            (path.end == End::SelfSigned, "untrusted_root"),
            (missing, "incomplete_chain"),
            (path.bad_signature.is_some(), "bad_signature"),
            (purpose || structure || extra.is_some(), "invalid_purpose"),
            (weak, "weak_key"),
        ];
        let error = checks.into_iter().find(|(applies, _)| *applies);
        let sound = path.bad_signature.is_none() && !structure && !weak && extra.is_none();
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
    fn chain_error(&self, finding: &Finding, completed_by_aia: bool) -> Option<String> {
        let Finding { path, faults, extra } = finding;
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
        let dates = faults.iter().find_map(|fault| match fault {
            Fault::Expired(index) if *index != 0 => Some(("expired intermediate", *index)),
            Fault::TooEarly(index) if *index != 0 => Some(("intermediate not yet valid", *index)),
            _ => None,
        });
        let signature = path.bad_signature.map(|index| ("bad signature on", index));
        let structure = faults.iter().find_map(|fault| match fault {
            Fault::NotCa(index) => Some(("not a CA", *index)),
            Fault::PathLength(index) => Some(("path length exceeded", *index)),
            _ => None,
        });
        if let Some((words, index)) = dates.or(signature).or(structure) {
            return Some(format!("{words} \"{}\"", self.pool[index].label()));
        }
        if let Some(extra) = extra {
            return Some(extra.clone());
        }
        let purpose = faults.iter().any(|fault| matches!(fault, Fault::Purpose(_)));
        purpose.then(|| "certificate not valid for server authentication".to_owned())
    }

    /// What is wrong with the best path; `error`: what webpki had against it.
    fn explain(&self, trust: &Trust, error: Option<&webpki::Error>) -> Finding {
        let path = self.best(trust, &self.pool);
        let faults = Pool::new(&self.pool, trust).faults(&path, self.at);
        let sound = path.end == End::Anchor
            && path.bad_signature.is_none()
            && path.weak_signature.is_none()
            && faults.is_empty();
        let extra = if sound { self.unexplained(&path, error) } else { None };
        Finding { path, faults, extra }
    }

    /// A refusal that our own search does not share.
    fn unexplained(&self, path: &Path, error: Option<&webpki::Error>) -> Option<String> {
        let constrained =
            path.chain.iter().find(|index| self.pool[**index].issuing.name_constraints);
        match (error, constrained) {
            // A leaf that says it is a CA is odd, not wrong, and everyone but webpki accepts it.
            // The search has checked all else, except name constraints.
            (None | Some(webpki::Error::CaUsedAsEndEntity), None) => None,
            (_, Some(index)) => {
                Some(format!("name constraints violated \"{}\"", self.pool[*index].label()))
            }
            _ => Some("certificate not valid for server authentication".to_owned()),
        }
    }

    /// Whether the fetched issuers lead to a trusted root.
    fn is_completed(&self, trust: &Trust) -> bool {
        if self.fetched.is_empty() {
            return false;
        }
        let pool = [self.pool.as_slice(), &self.fetched].concat();
        let best = self.best(trust, &pool);
        best.end == End::Anchor && best.bad_signature.is_none()
    }

    fn best(&self, trust: &Trust, pool: &[Parsed]) -> Path {
        Pool::new(pool, trust).best(self.at)
    }

    fn last(&self, path: &Path) -> &Parsed {
        &self.pool[*path.chain.last().expect("a path begins with the leaf")]
    }

    /// The key info of the leaf's issuer, where it is known.
    fn issuer(&self, path: &Path) -> Option<Vec<u8>> {
        if path.bad_signature == Some(0) {
            return None;
        }
        if let Some(issuer) = path.chain.get(1) {
            return Some(self.pool[*issuer].key_info.clone());
        }
        match path.end {
            End::Anchor => path.anchor.as_ref().map(|(_, key_info)| key_info.clone()),
            End::SelfSigned => Some(self.pool[0].key_info.clone()),
            End::Missing => {
                let leaf = &self.pool[0];
                let fetched = self.fetched.iter().find(|above| above.subject == leaf.issuer);
                fetched.map(|above| above.key_info.clone())
            }
        }
    }

    /// The hashes of the certificates on the path, and of the root where it was sent.
    fn members(&self, path: &Path) -> Vec<&str> {
        let on_path = path.chain.iter().map(|index| &self.pool[*index]);
        let root = self.pool.iter().filter(|certificate| {
            path.anchor.as_ref().is_some_and(|(name, key_info)| {
                // A cross-signed certificate of the root is another one.
                certificate.facts.self_signed
                    && certificate.subject == *name
                    && certificate.key_info == *key_info
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

/// The path that the verdict speaks about.
struct Finding {
    path: Path,
    faults: Vec<Fault>,
    /// What webpki refused and the search does not see, as a sentence.
    extra: Option<String>,
}

/// webpki's path building, over what was sent and nothing else.
fn verify(pool: &[Parsed], trust: &Trust, at: i64) -> Result<Path, webpki::Error> {
    let leaf = CertificateDer::from(pool[0].der.as_slice());
    let intermediates: Vec<_> =
        pool[1..].iter().map(|above| CertificateDer::from(above.der.as_slice())).collect();
    let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(at.max(0) as u64));
    let certificate = webpki::EndEntityCert::try_from(&leaf)?;
    let verified = certificate.verify_for_usage(
        trusted_algorithms().all,
        trust.roots(),
        &intermediates,
        at,
        webpki::KeyUsage::server_auth(),
        None,
        None,
    )?;
    let position = |der: &[u8]| pool.iter().position(|known| known.der == der);
    let above = verified.intermediate_certificates().filter_map(|above| position(&above.der()));
    let anchor = verified.anchor();
    Ok(Path {
        chain: std::iter::once(0).chain(above).collect(),
        end: End::Anchor,
        anchor: Some((
            anchor.subject.as_ref().to_vec(),
            anchor.subject_public_key_info.as_ref().to_vec(),
        )),
        bad_signature: None,
        weak_signature: None,
    })
}
