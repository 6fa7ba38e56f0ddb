//! Which plugins of an operator are not let in, whatever the gate would say.
//!
//! *Invariant:* pure.

use vedette_model::delivery::LETTER;
use vedette_sandbox::Kind;

/// Why a plugin of this id and kind cannot be installed; none where it can. `owner` is the
/// installed plugin that has its place.
pub(crate) fn refusal(id: &str, kind: &Kind, owner: Option<&str>) -> Option<String> {
    if is_ours(id) {
        return Some(format!(
            "{id} is of the publisher vedette, whose plugins are built in; give it an id of your \
             own in plugin.toml"
        ));
    }
    let (place, line) = match kind {
        Kind::Check(check_type) => (format!("the check type {check_type}"), "check-type"),
        Kind::Notifier(channel) => (format!("the channel {channel}"), "channel"),
    };
    if is_built_in(kind) || owner.is_some_and(is_ours) {
        return Some(format!("{place} is built in; choose another {line} in plugin.toml"));
    }
    let owner = owner.filter(|owner| *owner != id)?;
    Some(format!(
        "{place} is that of {owner}; choose another {line} in plugin.toml, or disable {owner} first"
    ))
}

/// Whether the program carries a plugin for this place, installed or not, or needs none for it.
fn is_built_in(kind: &Kind) -> bool {
    if matches!(kind, Kind::Notifier(channel) if channel == LETTER) {
        return true;
    }
    let own = match kind {
        Kind::Check(check_type) => format!("{BUILT_IN}check-{check_type}"),
        Kind::Notifier(channel) => format!("{BUILT_IN}notify-{channel}"),
    };
    vedette_bundle::BUILT_IN.iter().any(|plugin| plugin.id == own)
}

/// Whether an id is of the publisher of the built-in plugins.
pub(crate) fn is_ours(id: &str) -> bool {
    id.starts_with(BUILT_IN)
}

const BUILT_IN: &str = "vedette.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_taken_are_refused() {
        let check = |name: &str| Kind::Check(name.parse().expect("a check type"));
        let channel = |name: &str| Kind::Notifier(name.to_owned());
        for (id, kind, owner, expected) in [
            ("acme.banner", check("banner"), None, None),
            ("acme.banner", check("banner"), Some("acme.banner"), None),
            ("acme.pager", channel("pager"), None, None),
            ("vedette.banner", check("banner"), None, Some("the publisher vedette")),
            ("acme.ssl", check("ssl"), None, Some("the check type ssl is built in")),
            ("acme.ssl", check("ssl"), Some("vedette.check-ssl"), Some("is built in")),
            ("acme.slack", channel("slack"), None, Some("the channel slack is built in")),
            ("acme.post", channel("letter"), None, Some("the channel letter is built in")),
            ("acme.banner", check("banner"), Some("other.it"), Some("disable other.it first")),
        ] {
            let said = refusal(id, &kind, owner);
            match (&said, expected) {
                (None, None) => {}
                (Some(said), Some(expected)) => assert!(said.contains(expected), "{id}: {said}"),
                _ => panic!("{id} {kind:?}: {said:?}"),
            }
        }
    }
}
