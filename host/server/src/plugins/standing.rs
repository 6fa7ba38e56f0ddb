//! How many plugins stand how, for `/metrics`: told from memory and not from the folder, so that what
//! waits for approval is not among them.

use vedette_sandbox::Sandbox;

use super::{
    operators::Known,
    view::{State, built_in, state_of},
};

/// Each state that is counted, with the plugins that are in it.
pub(crate) fn standing(sandbox: &Sandbox, known: &Known) -> [(&'static str, usize); 4] {
    let ours = built_in(sandbox).into_iter().filter_map(|view| view.id);
    let ours = ours.map(|id| (State::Running, sandbox.paused(&id).is_some()));
    tally(ours.chain(theirs(known, |id| sandbox.paused(id).is_some())))
}

/// The operator's, and one more where their lock cannot be read: what else stands there is not known,
/// and at a start nothing of it is.
fn theirs(known: &Known, is_paused: impl Fn(&str) -> bool) -> impl Iterator<Item = (State, bool)> {
    let locked = known.lock.plugins.iter();
    let locked = locked.map(move |locked| (state_of(known, locked), is_paused(&locked.id)));
    locked.chain(known.lock_error.iter().map(|_| (State::Failed, false)))
}

/// Of plugins by their state and whether they are paused.
fn tally(plugins: impl Iterator<Item = (State, bool)>) -> [(&'static str, usize); 4] {
    let words: Vec<_> = plugins.filter_map(|(state, is_paused)| word(state, is_paused)).collect();
    WORDS.map(|word| (word, words.iter().filter(|other| **other == word).count()))
}

fn word(state: State, is_paused: bool) -> Option<&'static str> {
    match state {
        State::Running if is_paused => Some("paused"),
        State::Running => Some("running"),
        State::Disabled => Some("disabled"),
        State::Failed => Some("failed"),
        State::Enabled | State::Pending => None,
    }
}

const WORDS: [&str; 4] = ["running", "paused", "failed", "disabled"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_that_cannot_be_read_is_a_plugin_that_failed() {
        let read = Known::default();
        assert_eq!(theirs(&read, |_| false).count(), 0);
        let unread = Known { lock_error: Some("it is damaged".to_owned()), ..read };
        let counted = [("running", 0), ("paused", 0), ("failed", 1), ("disabled", 0)];
        assert_eq!(tally(theirs(&unread, |_| false)), counted);
    }

    #[test]
    fn each_plugin_is_counted_in_one_state() {
        let plugins = [
            (State::Running, false),
            (State::Running, true),
            (State::Running, false),
            // What was approved last does not load, and the version before is paused.
            (State::Failed, true),
            (State::Disabled, false),
            (State::Pending, false),
        ];
        let counted = [("running", 2), ("paused", 1), ("failed", 1), ("disabled", 1)];
        assert_eq!(tally(plugins.into_iter()), counted);
        let none = [("running", 0), ("paused", 0), ("failed", 0), ("disabled", 0)];
        assert_eq!(tally([].into_iter()), none, "a state that nothing is in is told all the same");
    }
}
