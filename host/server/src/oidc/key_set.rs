//! The keys of an issuer (RFC 7517), and the tokens that were found good under them.
//!
//! *Invariant:* a token is remembered with the set it was verified under: when a key leaves, what
//! it signed is forgotten with it.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use moka::future::Cache;
use serde::Deserialize;
use serde_json::Value;
use vedette_model::session::Claims;

use crate::limits::TokenHash;

/// Keys that can sign session tokens; others of the set are left out.
pub(super) struct KeySet {
    keys: Vec<Key>,
    seen: Cache<TokenHash, Arc<Claims>>,
}

struct Key {
    published: Jwk,
    algorithm: Algorithm,
    decoding: DecodingKey,
}

/// The members of a published key that matter here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The key that a token says it was signed with.
#[derive(Clone)]
pub(super) struct Wanted {
    kid: Option<String>,
    algorithm: Algorithm,
}

impl KeySet {
    pub(super) fn new(published: Vec<Value>) -> Self {
        let keys = published.into_iter().take(MOST_KEYS).filter_map(Key::read).collect();
        Self { keys, seen: Cache::new(MOST_SEEN) }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.keys.iter(), other.keys.iter());
        ours.map(|key| &key.published).eq(theirs.map(|key| &key.published))
    }

    pub(super) fn has(&self, wanted: &Wanted) -> bool {
        self.key(wanted).is_some()
    }

    /// What a token said when it was verified under this set.
    pub(super) async fn seen(&self, token: &TokenHash) -> Option<Arc<Claims>> {
        self.seen.get(token).await
    }

    /// The claims of a token that the key it names has signed; they may have expired.
    pub(super) async fn verify(
        &self,
        token: &str,
        wanted: &Wanted,
        hash: TokenHash,
    ) -> Option<Arc<Claims>> {
        let claims = Arc::new(self.key(wanted)?.open(token)?);
        self.seen.insert(hash, Arc::clone(&claims)).await;
        Some(claims)
    }

    fn key(&self, wanted: &Wanted) -> Option<&Key> {
        let mut fitting = self.keys.iter().filter(|key| {
            key.algorithm == wanted.algorithm
                && (wanted.kid.is_none() || wanted.kid == key.published.kid)
        });
        let first = fitting.next()?;
        // A token that names no key is understood where there is only one to mean.
        (wanted.kid.is_some() || fitting.next().is_none()).then_some(first)
    }
}

impl Key {
    /// None for keys that encrypt, and for algorithms that are not taken.
    fn read(published: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(published).ok()?;
        let (algorithm, decoding) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (jwk.n.as_deref()?, jwk.e.as_deref()?);
                (Algorithm::RS256, DecodingKey::from_rsa_components(n, e).ok()?)
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (jwk.x.as_deref()?, jwk.y.as_deref()?);
                (Algorithm::ES256, DecodingKey::from_ec_components(x, y).ok()?)
            }
            _ => return None,
        };
        let signs = jwk.purpose.as_deref().is_none_or(|purpose| purpose == "sig");
        let fits = jwk
            .alg
            .as_deref()
            .is_none_or(|name| name.parse::<Algorithm>().is_ok_and(|alg| alg == algorithm));
        (signs && fits).then_some(Self { published: jwk, algorithm, decoding })
    }

    /// Verifies the signature alone: the claims are judged by the service's own clock.
    fn open(&self, token: &str) -> Option<Claims> {
        let mut signature = Validation::new(self.algorithm);
        signature.required_spec_claims.clear();
        signature.validate_exp = false;
        signature.validate_aud = false;
        let opened = jsonwebtoken::decode::<Claims>(token, &self.decoding, &signature).ok()?;
        Some(opened.claims)
    }
}

impl Wanted {
    /// None for headers that cannot be read, algorithms that are not taken, and headers that ask
    /// for something to be understood (RFC 7515, 4.1.11).
    pub(super) fn of(token: &str) -> Option<Self> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        let is_taken = matches!(header.alg, Algorithm::RS256 | Algorithm::ES256);
        (is_taken && header.crit.is_none())
            .then_some(Self { kid: header.kid, algorithm: header.alg })
    }
}

/// Issuers have two or three.
const MOST_KEYS: usize = 64;
const MOST_SEEN: u64 = 10_000;

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use serde_json::json;

    use super::*;

    fn rsa(kid: &str) -> Value {
        json!({"kty": "RSA", "kid": kid, "n": "sXch", "e": "AQAB"})
    }

    fn with(mut key: Value, name: &str, value: &str) -> Value {
        key[name] = value.into();
        key
    }

    fn wanted(header: &Value) -> Option<Wanted> {
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        Wanted::of(&format!("{header}.e30.c2ln"))
    }

    #[test]
    fn only_keys_that_can_sign_a_session_are_kept() {
        let curve = json!({"kty": "EC", "crv": "P-256", "kid": "e", "x": "AQ", "y": "AQ"});
        let kept = [
            rsa("a"),
            with(rsa("a"), "alg", "RS256"),
            with(rsa("a"), "use", "sig"),
            curve.clone(),
            with(curve.clone(), "alg", "ES256"),
        ];
        for key in kept {
            assert_eq!(KeySet::new(vec![key.clone()]).len(), 1, "{key}");
        }
        let left_out = [
            with(rsa("a"), "alg", "RS512"),
            with(rsa("a"), "alg", "HS256"),
            with(rsa("a"), "use", "enc"),
            with(rsa("a"), "n", "not base64!"),
            with(curve.clone(), "crv", "P-384"),
            with(curve, "alg", "RS256"),
            json!({"kty": "oct", "kid": "a", "k": "c2VjcmV0", "alg": "HS256"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": "AQ"}),
            json!({"kty": "RSA"}),
            json!("a"),
            json!(null),
        ];
        for key in left_out {
            assert_eq!(KeySet::new(vec![key.clone()]).len(), 0, "{key}");
        }
        assert_eq!(KeySet::new(vec![rsa("a"); 1000]).len(), MOST_KEYS);
    }

    #[test]
    fn a_token_finds_the_key_that_it_names() {
        let one = KeySet::new(vec![rsa("a")]);
        let two = KeySet::new(vec![rsa("a"), rsa("b")]);
        let finds = |set: &KeySet, header: Value| wanted(&header).is_some_and(|key| set.has(&key));
        assert!(finds(&two, json!({"alg": "RS256", "kid": "b"})));
        assert!(!finds(&two, json!({"alg": "RS256", "kid": "c"})));
        assert!(!finds(&two, json!({"alg": "ES256", "kid": "b"})));
        assert!(finds(&one, json!({"alg": "RS256"})));
        assert!(!finds(&two, json!({"alg": "RS256"})), "which of the two?");
    }

    #[test]
    fn other_algorithms_and_critical_headers_are_refused() {
        assert!(wanted(&json!({"alg": "RS256", "typ": "at+jwt"})).is_some());
        for header in [
            json!({}),
            json!({"alg": "none"}),
            json!({"alg": "HS256"}),
            json!({"alg": "RS512"}),
            json!({"alg": "PS256"}),
            json!({"alg": "ES384"}),
            json!({"alg": "EdDSA"}),
            json!({"alg": "rs256"}),
            json!({"alg": "RS256", "crit": ["b64"]}),
        ] {
            assert!(wanted(&header).is_none(), "{header}");
        }
    }

    #[test]
    fn a_set_is_the_same_when_its_keys_are() {
        let set = |keys: &[Value]| KeySet::new(keys.to_vec());
        assert!(set(&[rsa("a")]).is_same(&set(&[rsa("a"), json!({"kty": "oct"})])));
        assert!(!set(&[rsa("a")]).is_same(&set(&[rsa("b")])));
        assert!(!set(&[rsa("a")]).is_same(&set(&[with(rsa("a"), "n", "sXci")])));
        assert!(!set(&[rsa("a")]).is_same(&set(&[])));
    }
}
