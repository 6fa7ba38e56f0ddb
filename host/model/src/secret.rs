//! Values that no log may show, and that no row holds as they are.
//!
//! *Invariant:* a secret serialises only inside [`revealed`]: written anywhere else it is an error,
//! so that code that forgets to seal it fails at once.

use std::cell::Cell;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// Compared and read like what it holds; `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret<T>(T);

/// Runs `write`, inside which secrets serialise as what they hold: for what is sealed before it
/// is stored, or never leaves the function.
pub fn revealed<R>(write: impl FnOnce() -> R) -> R {
    /// Ends it even when `write` panics.
    struct End(bool);
    impl Drop for End {
        fn drop(&mut self) {
            REVEALED.set(self.0);
        }
    }
    let _end = End(REVEALED.replace(true));
    write()
}

impl<T> Secret<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The one way to the value: easy to find, and to ask why.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<T: Serialize> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !REVEALED.get() {
            return Err(S::Error::custom("a secret may only be written where it is sealed"));
        }
        self.0.serialize(serializer)
    }
}

thread_local! {
    static REVEALED: Cell<bool> = const { Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_written_only_where_it_is_revealed() {
        let secret = Secret::new("hunter2".to_owned());
        let refused = serde_json::to_string(&secret).unwrap_err().to_string();
        assert!(!refused.contains("hunter2"), "{refused}");
        assert_eq!(revealed(|| serde_json::to_string(&secret)).unwrap(), "\"hunter2\"");
        assert!(serde_json::to_string(&secret).is_err(), "only inside");
        assert_eq!(serde_json::from_str::<Secret<String>>("\"hunter2\"").unwrap(), secret);
    }

    #[test]
    fn a_panic_ends_it_and_an_inner_scope_does_not() {
        let panicked = std::panic::catch_unwind(|| revealed::<()>(|| panic!("on purpose")));
        assert!(panicked.is_err());
        let secret = Secret::new(1);
        assert!(serde_json::to_string(&secret).is_err());
        revealed(|| {
            revealed(|| ());
            assert!(serde_json::to_string(&secret).is_ok());
        });
    }

    #[test]
    fn debug_prints_nothing() {
        assert!(!format!("{:?}", Secret::new("hunter2")).contains("hunter2"));
    }
}
