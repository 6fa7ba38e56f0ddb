//! An identity provider: its discovery document, its key set, and tokens signed to order.

use aws_lc_rs::{
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
        RsaPublicKeyComponents,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Utc;
use serde_json::{Value, json};

use crate::{Pages, Script};

/// A running provider with an RSA and a P-256 key. Stopped, it still signs, and nobody answers.
pub struct Issuer {
    pages: Option<Pages>,
    url: String,
    keys: Keys,
}

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    Rs256,
    Es256,
}

struct Keys {
    generation: u32,
    rsa: RsaKeyPair,
    curve: EcdsaKeyPair,
}

impl Issuer {
    /// Who tokens are for, unless a test says otherwise.
    pub const AUDIENCE: &str = "vedette-dashboard";

    pub async fn start() -> anyhow::Result<Self> {
        let pages = Pages::plain().await?;
        let url = pages.url("");
        let discovery = json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "jwks_uri": format!("{url}{KEYS}"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        });
        pages.at(DISCOVERY, Script::json(&discovery));
        let issuer = Self { pages: Some(pages), url, keys: Keys::generate(1)? };
        issuer.publish();
        Ok(issuer)
    }

    /// What it writes in `iss`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The configuration of a service that accepts its tokens.
    pub fn toml(&self) -> String {
        format!("{}jwks_url = \"{}{KEYS}\"\n", self.discovered_toml(), self.url)
    }

    /// The same without the place of the keys.
    pub fn discovered_toml(&self) -> String {
        format!("[oidc]\nissuer = \"{}\"\naudience = \"{}\"\n", self.url, Self::AUDIENCE)
    }

    /// How often the keys were fetched.
    pub fn fetches(&self) -> usize {
        self.pages.as_ref().map_or(0, |pages| pages.asked(KEYS).len())
    }

    /// New keys under new names; the old ones leave the set at once.
    pub fn rotate(&mut self) -> anyhow::Result<()> {
        self.keys = Keys::generate(self.keys.generation + 1)?;
        self.publish();
        Ok(())
    }

    /// New keys in the place of the old ones, under their names.
    pub fn replace_keys(&mut self) -> anyhow::Result<()> {
        self.keys = Keys::generate(self.keys.generation)?;
        self.publish();
        Ok(())
    }

    /// Nobody answers any more.
    pub fn stop(&mut self) {
        self.pages = None;
    }

    /// A good token of somebody with an address.
    pub fn token(&self, signature: Signature, sub: &str) -> String {
        self.token_with(signature, sub, json!({}))
    }

    /// The same with these claims changed or added; null takes one away.
    pub fn token_with(&self, signature: Signature, sub: &str, change: Value) -> String {
        self.sign(signature, json!({}), self.claims(sub, change))
    }

    /// Good claims, with these changed or added; null takes one away.
    pub fn claims(&self, sub: &str, change: Value) -> Value {
        let now = Utc::now().timestamp();
        let mut claims = json!({
            "iss": self.url, "sub": sub, "aud": Self::AUDIENCE, "iat": now, "exp": now + 300,
            "email": format!("{sub}@example.com"), "email_verified": true,
        });
        merge(&mut claims, change);
        claims
    }

    /// Any claims, under a header with these members changed or added.
    pub fn sign(&self, signature: Signature, header: Value, claims: Value) -> String {
        let mut whole = json!({
            "typ": "JWT",
            "alg": signature.name(),
            "kid": self.keys.name(signature),
        });
        merge(&mut whole, header);
        let message = unsigned(&whole, &claims);
        let signed = self.keys.sign(signature, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signed))
    }

    /// The published half of a key, as the set holds it.
    pub fn jwk(&self, signature: Signature) -> Value {
        self.keys.jwk(signature)
    }

    fn publish(&self) {
        // Sets hold more than what signs sessions.
        let set = json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "use": "sig", "alg": "EdDSA",
             "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "EC", "crv": "secp256k1", "kid": "k1", "x": "AQ", "y": "AQ"},
            self.jwk(Signature::Rs256),
            self.jwk(Signature::Es256),
        ]});
        if let Some(pages) = &self.pages {
            pages.at(KEYS, Script::json(&set));
        }
    }
}

/// The first two parts of a token: what is signed.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

impl Signature {
    fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

impl Keys {
    fn generate(generation: u32) -> anyhow::Result<Self> {
        let failed = |_| anyhow::anyhow!("no key was generated");
        Ok(Self {
            generation,
            rsa: RsaKeyPair::generate(KeySize::Rsa2048).map_err(failed)?,
            curve: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(failed)?,
        })
    }

    fn name(&self, signature: Signature) -> String {
        format!("{}-{}", signature.name(), self.generation)
    }

    fn sign(&self, signature: Signature, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match signature {
            Signature::Rs256 => {
                let mut signed = vec![0; self.rsa.public_modulus_len()];
                self.rsa
                    .sign(&RSA_PKCS1_SHA256, &random, message, &mut signed)
                    .expect("the buffer is as long as the modulus");
                signed
            }
            Signature::Es256 => {
                let signed = self.curve.sign(&random, message);
                signed.expect("a generated key signs").as_ref().to_vec()
            }
        }
    }

    fn jwk(&self, signature: Signature) -> Value {
        let kid = self.name(signature);
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match signature {
            Signature::Rs256 => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public_key());
                json!({
                    "kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256",
                    "n": number(&public.n), "e": number(&public.e),
                })
            }
            Signature::Es256 => {
                // 4, x, y: the uncompressed point.
                let point: &[u8] = self.curve.public_key().as_ref();
                let (x, y) = point[1..].split_at(32);
                json!({
                    "kty": "EC", "crv": "P-256", "kid": kid, "use": "sig",
                    "x": number(x), "y": number(y),
                })
            }
        }
    }
}

fn merge(whole: &mut Value, change: Value) {
    let Value::Object(change) = change else { return };
    let Some(whole) = whole.as_object_mut() else { return };
    for (name, value) in change {
        match value {
            Value::Null => drop(whole.remove(&name)),
            value => drop(whole.insert(name, value)),
        }
    }
}

const DISCOVERY: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/keys";
