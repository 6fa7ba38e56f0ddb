//! What a site may set for this check: nothing. The domain says it all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Empty: a registration is what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_configuration_is_the_only_one() {
        assert_eq!(serde_json::from_str::<Config>("{}").ok(), Some(Config {}));
        assert!(serde_json::from_str::<Config>(r#"{"server":"whois.example"}"#).is_err());
    }
}
