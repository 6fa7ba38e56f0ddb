//! Values that no log may show.

use serde::{Deserialize, Serialize};

/// Stored and compared like what it holds; `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret<T>(T);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_stored_as_it_is_and_printed_as_nothing() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
        assert_eq!(serde_json::from_str::<Secret<String>>("\"hunter2\"").unwrap(), secret);
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
}
