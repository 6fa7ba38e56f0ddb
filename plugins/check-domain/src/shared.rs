//! What this check keeps for all sites of all accounts: answers of registries, which are public.
//!
//! *Invariant:* a store that does not answer costs a question to a registry, never the run.

use std::time::Duration;

use vedette_sdk::{
    Cx,
    log::Level,
    state::{Scope, StateError},
};

/// The shared state, as one run sees it.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    cx: &'a Cx,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(cx: &'a Cx) -> Self {
        Self { cx }
    }

    /// The value as text; none too when the store does not answer.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        self.read(key).ok().flatten()
    }

    /// The value as text; an error when the store does not answer.
    pub(crate) fn read(&self, key: &str) -> Result<Option<String>, StateError> {
        let value = self.cx.state(Scope::Shared).get(key)?;
        Ok(value.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Whether the value was kept.
    pub(crate) fn set(&self, key: &str, value: &str, ttl: Duration) -> bool {
        let set = self.cx.state(Scope::Shared).set(key, value.as_bytes(), Some(ttl));
        if let Err(error) = &set {
            let reason = error.to_string();
            self.cx.log(Level::Warn, "a value was not kept", &[("key", key), ("reason", &reason)]);
        }
        set.is_ok()
    }
}

/// `kind/of`, where `of` came from strangers: within the limits of a key, whatever it is.
pub(crate) fn key(kind: &str, of: &str) -> String {
    let plain = of.bytes().all(|b| b.is_ascii_graphic());
    if plain && kind.len() + of.len() < MAX_KEY {
        return format!("{kind}/{of}");
    }
    format!("{kind}/{}", digest(of))
}

/// FNV-1a of 64 bits, in hex. Strangers can make two texts of one digest: where that would let one
/// read the other's value, the value says whose it is.
pub(crate) fn digest(text: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Bytes of a key.
const MAX_KEY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_within_their_limit() {
        assert_eq!(key("answer", "example.com"), "answer/example.com");
        let long = key("answer", &"a".repeat(122));
        assert_eq!(long.len(), "answer/".len() + 16);
        assert_ne!(long, key("answer", &"b".repeat(122)));
        assert_eq!(key("answer", &"a".repeat(121)).len(), MAX_KEY);
        assert!(key("answer", "a b\n").bytes().all(|b| b.is_ascii_graphic()));
    }
}
