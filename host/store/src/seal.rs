//! Secrets at rest: sealed with a key that the database does not hold.
//!
//! A sealed text is `v1.<key id>.<base64 of nonce, ciphertext and tag>`, made by AES-256-GCM-SIV
//! with a random nonce and bound to its [`Place`].
//!
//! *Invariant:* a sealed text opens in its own place alone: copied to the row of another account
//! it is as good as noise.
//! *Invariant:* neither a key nor what was sealed appears in `Debug` or in an error.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{hmac, rand};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The keys of a database: the first seals, all of them open.
#[derive(Clone)]
pub struct Seal {
    /// Never empty.
    keys: Arc<[Key]>,
}

struct Key {
    /// Names the key in what it sealed and tells nothing of it.
    id: String,
    cipher: RandomizedNonceKey,
    /// Makes marks.
    marker: hmac::Key,
}

/// Why a text holds no keys. Never quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("it holds no key")]
    Empty,
    #[error("line {0} is not the base64 of 32 bytes")]
    Line(usize),
}

/// Why a sealed text does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unopened {
    #[error("it is no sealed text")]
    Form,
    #[error("it was sealed with the key {0}, which is not in the key file")]
    Key(String),
    #[error("it was changed or moved after it was sealed")]
    Forged,
}

/// Where a sealed text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(String);

impl Seal {
    /// Reads the text of a key file: a key a line, as the base64 of 32 bytes. Empty lines and
    /// those that start with `#` are comments.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let keys = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(number, line)| Key::parse(line).ok_or(KeyError::Line(number)))
            .collect::<Result<Arc<[Key]>, _>>()?;
        if keys.is_empty() { Err(KeyError::Empty) } else { Ok(Self { keys }) }
    }

    /// A key that is gone with the process, for a database that is, too.
    pub fn ephemeral() -> Self {
        Self::parse(&Self::new_key()).expect("a new key is well formed")
    }

    /// The text of a key file with one new key.
    pub fn new_key() -> Zeroizing<String> {
        let mut bytes = Zeroizing::new([0_u8; KEY]);
        rand::fill(bytes.as_mut_slice()).expect("the system has randomness");
        Zeroizing::new(format!("{}\n", STANDARD.encode(bytes.as_slice())))
    }

    pub(crate) fn seal(&self, place: &Place, plain: &str) -> String {
        let mut bytes = plain.as_bytes().to_vec();
        let nonce = self
            .first()
            .cipher
            .seal_in_place_append_tag(place.bound(), &mut bytes)
            .expect("the system has randomness, and a row is not of gigabytes");
        let nonce: &[u8; NONCE_LEN] = nonce.as_ref();
        let sealed = [nonce.as_slice(), bytes.as_slice()].concat();
        format!("{}{}", self.prefix(), STANDARD.encode(sealed))
    }

    pub(crate) fn open(&self, place: &Place, sealed: &str) -> Result<Zeroizing<String>, Unopened> {
        let (id, body) = parts(sealed).ok_or(Unopened::Form)?;
        let bytes = STANDARD.decode(body).map_err(|_| Unopened::Form)?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN).ok_or(Unopened::Form)?;
        let mut reason = Unopened::Key(id.to_owned());
        for key in self.keys.iter().filter(|key| key.id == id) {
            match key.open(place, nonce, sealed) {
                Some(plain) => return Ok(plain),
                None => reason = Unopened::Forged,
            }
        }
        Err(reason)
    }

    /// Whether one of the keys has sealed a text; true too of what is not sealed.
    pub(crate) fn has_key_of(&self, text: &str) -> bool {
        parts(text).is_none_or(|(id, _)| self.keys.iter().any(|key| key.id == id))
    }

    /// Whether there are others beside the one that seals.
    pub(crate) fn has_older_keys(&self) -> bool {
        self.keys.len() > 1
    }

    /// Stands for a text that is to be found again but not to be read: equal for equal texts, and
    /// only somebody with the key can try out what it stands for.
    pub(crate) fn mark(&self, of: &str) -> String {
        self.first().mark(of)
    }

    /// The same as made by each of the keys, so that what was marked with an older one is found.
    pub(crate) fn marks(&self, of: &str) -> Vec<String> {
        self.keys.iter().map(|key| key.mark(of)).collect()
    }

    /// What every text begins with that the first key sealed.
    pub(crate) fn prefix(&self) -> String {
        format!("{VERSION}.{}.", self.first().id)
    }

    fn first(&self) -> &Key {
        self.keys.first().expect("a seal has a key")
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(…)")
    }
}

impl Key {
    fn parse(line: &str) -> Option<Self> {
        let bytes = Zeroizing::new(STANDARD.decode(line).ok()?);
        if bytes.len() != KEY {
            return None;
        }
        let cipher = RandomizedNonceKey::new(&AES_256_GCM_SIV, &bytes).ok()?;
        let derive = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let id = hex::encode(&hmac::sign(&derive, b"vedette key id").as_ref()[..ID]);
        let marker = hmac::sign(&derive, b"vedette marks");
        let marker = hmac::Key::new(hmac::HMAC_SHA256, marker.as_ref());
        Some(Self { id, cipher, marker })
    }

    fn mark(&self, of: &str) -> String {
        hex::encode(&hmac::sign(&self.marker, of.as_bytes()).as_ref()[..MARK])
    }

    fn open(&self, place: &Place, nonce: &[u8], sealed: &[u8]) -> Option<Zeroizing<String>> {
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut bytes = Zeroizing::new(sealed.to_vec());
        let plain = self.cipher.open_in_place(nonce, place.bound(), &mut bytes).ok()?;
        std::str::from_utf8(plain).ok().map(|plain| Zeroizing::new(plain.to_owned()))
    }
}

impl Place {
    /// A row, by its table and the ids that make its key.
    pub(crate) fn new(table: &'static str, ids: &[Uuid]) -> Self {
        let mut name = format!("vedette/{table}");
        for id in ids {
            name.push_str(&format!("/{id}"));
        }
        Self(name)
    }

    fn bound(&self) -> Aad<&[u8]> {
        Aad::from(self.0.as_bytes())
    }
}

/// The id of the key that sealed a text, whether it is known or not.
pub(crate) fn key_id(sealed: &str) -> &str {
    parts(sealed).map_or("unknown", |(id, _)| id)
}

fn parts(sealed: &str) -> Option<(&str, &str)> {
    sealed.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')
}

const VERSION: &str = "v1";
/// Bytes of a key.
const KEY: usize = 32;
/// Bytes of a key's id.
const ID: usize = 4;
/// Bytes of a mark.
const MARK: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "{\"custom_webhook_url\":\"https://h.example/?t=hunter2\"}";

    fn place(account: u128) -> Place {
        Place::new("settings", &[Uuid::from_u128(account)])
    }

    #[test]
    fn what_is_sealed_opens_in_its_place_and_shows_nothing() {
        let seal = Seal::ephemeral();
        for plain in ["", PLAIN, "é".repeat(9_000).as_str()] {
            let sealed = seal.seal(&place(1), plain);
            assert_eq!(seal.open(&place(1), &sealed).unwrap().as_str(), plain);
            assert!(sealed.starts_with(&seal.prefix()));
            assert!(!sealed.contains("hunter2"));
        }
        assert_ne!(seal.seal(&place(1), PLAIN), seal.seal(&place(1), PLAIN));
    }

    #[test]
    fn moved_text_does_not_open() {
        let seal = Seal::ephemeral();
        let sealed = seal.seal(&place(1), PLAIN);
        let one = Uuid::from_u128(1);
        for other in [place(2), Place::new("site", &[one]), Place::new("settings", &[one, one])] {
            assert_eq!(seal.open(&other, &sealed), Err(Unopened::Forged), "{other:?}");
        }
    }

    #[test]
    fn changed_text_does_not_open() {
        let seal = Seal::ephemeral();
        let sealed = seal.seal(&place(1), PLAIN);
        let prefix = seal.prefix();
        let bytes = STANDARD.decode(&sealed[prefix.len()..]).unwrap();
        for at in [0, NONCE_LEN - 1, NONCE_LEN, bytes.len() / 2, bytes.len() - 1] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let changed = format!("{prefix}{}", STANDARD.encode(bytes));
            assert_eq!(seal.open(&place(1), &changed), Err(Unopened::Forged), "byte {at}");
        }
        let short = format!("{prefix}{}", STANDARD.encode(&bytes[..NONCE_LEN + 3]));
        assert_eq!(seal.open(&place(1), &short), Err(Unopened::Forged));
        for text in ["", "{}", "v1", "v1.", "v1.x", "v2.x.AAAA", "v1.x.?", "v1.x.AAAA"] {
            assert_eq!(seal.open(&place(1), text), Err(Unopened::Form), "{text:?}");
        }
    }

    #[test]
    fn further_keys_open_and_the_first_seals() {
        let [old, new] = [Seal::new_key(), Seal::new_key()];
        let before = Seal::parse(&old).unwrap();
        let both = Seal::parse(&format!("# new\n{}\n{}", *new, *old)).unwrap();
        let after = Seal::parse(&new).unwrap();
        let sealed = before.seal(&place(1), PLAIN);
        assert_eq!(both.open(&place(1), &sealed).unwrap().as_str(), PLAIN);
        let again = both.seal(&place(1), PLAIN);
        assert_eq!(after.open(&place(1), &again).unwrap().as_str(), PLAIN);
        assert_eq!(key_id(&again), key_id(&after.prefix()));
        let missing = Unopened::Key(key_id(&sealed).to_owned());
        assert_eq!(after.open(&place(1), &sealed), Err(missing));
        assert!(both.has_key_of(&sealed) && after.has_key_of(PLAIN) && after.has_key_of(""));
        assert!(!after.has_key_of(&sealed));
    }

    #[test]
    fn another_key_of_the_same_id_is_told_apart_by_the_tag() {
        let (ours, theirs) = (Seal::ephemeral(), Seal::ephemeral());
        let sealed = theirs.seal(&place(1), PLAIN);
        let renamed = sealed.replace(&theirs.prefix(), &ours.prefix());
        assert_eq!(ours.open(&place(1), &renamed), Err(Unopened::Forged));
    }

    #[test]
    fn a_mark_is_found_again_by_whoever_has_its_key() {
        let [old, new] = [Seal::new_key(), Seal::new_key()];
        let before = Seal::parse(&old).unwrap();
        let both = Seal::parse(&format!("{}\n{}", *new, *old)).unwrap();
        let mark = before.mark("192.0.2.1");
        assert_eq!(mark, before.mark("192.0.2.1"));
        assert_eq!(mark.len(), 2 * MARK);
        assert_ne!(mark, before.mark("192.0.2.2"));
        assert_ne!(mark, both.mark("192.0.2.1"));
        assert_eq!(both.marks("192.0.2.1"), [both.mark("192.0.2.1"), mark]);
    }

    #[test]
    fn what_holds_no_key_is_refused_by_its_line() {
        let key = Seal::new_key();
        let short = STANDARD.encode([7; 31]);
        let long = STANDARD.encode([7; 33]);
        for (text, expected) in [
            (String::new(), KeyError::Empty),
            ("\n# nothing\n".to_owned(), KeyError::Empty),
            (short, KeyError::Line(1)),
            (long, KeyError::Line(1)),
            (format!("{}\nhunter2", key.trim()), KeyError::Line(2)),
        ] {
            let refused = Seal::parse(&text).unwrap_err();
            assert_eq!(refused, expected, "{text:?}");
            assert!(!refused.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn debug_prints_no_key() {
        let key = Seal::new_key();
        let seal = Seal::parse(&key).unwrap();
        assert_eq!(format!("{seal:?}"), "Seal(…)");
    }
}
