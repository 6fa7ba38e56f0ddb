//! What a reload has to do: the lock against what runs.
//!
//! *Invariant:* pure.

use std::collections::BTreeMap;

use vedette_sandbox::Kind;

use super::lock::{Lock, Locked};

/// A plugin that the sandbox holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Running {
    /// As it was approved when it was loaded.
    pub(crate) locked: Locked,
    pub(crate) kind: Kind,
}

/// What is different. Removing comes first: what it frees may be another plugin's now.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes<'a> {
    pub(crate) remove: Vec<&'a str>,
    pub(crate) install: Vec<&'a Locked>,
}

/// From what runs to what the lock wants.
pub(crate) fn between<'a>(running: &'a BTreeMap<String, Running>, lock: &'a Lock) -> Changes<'a> {
    let wanted = |id: &str| lock.find(id).is_some_and(|plugin| plugin.enabled);
    let remove = running.keys().map(String::as_str).filter(|id| !wanted(id)).collect();
    let enabled = lock.plugins.iter().filter(|plugin| plugin.enabled);
    let is_new = |plugin: &&Locked| {
        running.get(&plugin.id).is_none_or(|running| !runs_the_same(&running.locked, plugin))
    };
    Changes { remove, install: enabled.filter(is_new).collect() }
}

/// Whether loading one is loading the other. Values of secrets stand elsewhere, and may have
/// changed there.
fn runs_the_same(running: &Locked, wanted: &Locked) -> bool {
    running.sha256 == wanted.sha256
        && running.manifest_sha256 == wanted.manifest_sha256
        && running.version == wanted.version
        && running.granted == wanted.granted
        && running.interval == wanted.interval
        && running.settings == wanted.settings
        && wanted.secrets.is_empty()
        && running.secrets.is_empty()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toml::Table;
    use vedette_model::Timestamp;

    use super::*;
    use crate::plugins::lock::{Approved, SecretPlace};

    fn locked(id: &str, digit: char) -> Locked {
        let hash: String = std::iter::repeat_n(digit, 64).collect();
        Locked {
            id: id.to_owned(),
            version: "1.0.0".to_owned(),
            sha256: hash.clone(),
            manifest_sha256: hash,
            approved: Approved { by: "ops".to_owned(), at: Timestamp::UNIX_EPOCH },
            enabled: true,
            interval: None,
            settings: Table::new(),
            granted: Table::new(),
            secrets: BTreeMap::new(),
            previous: Vec::new(),
        }
    }

    fn said(running: &[Locked], lock: &[Locked]) -> (Vec<String>, Vec<String>) {
        let running = running.iter().map(|locked| {
            let kind = Kind::Notifier("pager".to_owned());
            (locked.id.clone(), Running { locked: locked.clone(), kind })
        });
        let (running, lock) = (running.collect(), Lock { plugins: lock.to_vec() });
        let Changes { remove, install } = between(&running, &lock);
        let remove = remove.into_iter().map(str::to_owned).collect();
        (remove, install.into_iter().map(|plugin| plugin.id.clone()).collect())
    }

    /// What it is about, what runs, the lock; what is removed and what is installed.
    type Case = (&'static str, Vec<Locked>, Vec<Locked>, Ids, Ids);
    type Ids = &'static [&'static str];

    #[test]
    fn only_what_differs_is_touched() {
        let (a, b) = (locked("acme.a", '1'), locked("acme.b", '2'));
        let off = Locked { enabled: false, ..a.clone() };
        let newer = Locked { sha256: b.sha256.clone(), ..a.clone() };
        let granted = Table::from_iter([("random".to_owned(), true.into())]);
        let granted = Locked { granted, ..a.clone() };
        let slower = Locked { interval: Some(Duration::from_secs(60)), ..a.clone() };
        let settings = Table::from_iter([("expect".to_owned(), "ESMTP".into())]);
        let set = Locked { settings, ..a.clone() };
        let place = SecretPlace::Env("TOKEN".to_owned());
        let secret = Locked { secrets: BTreeMap::from([("token".to_owned(), place)]), ..a.clone() };
        let approved = Approved { by: "others".to_owned(), ..a.approved.clone() };
        let approved = Locked { approved, previous: Vec::new(), ..a.clone() };
        let just = |locked: &Locked| vec![locked.clone()];
        let both = || vec![a.clone(), b.clone()];
        let cases: [Case; 13] = [
            ("nothing", vec![], vec![], &[], &[]),
            ("new", vec![], just(&a), &[], &["acme.a"]),
            ("the same", just(&a), just(&a), &[], &[]),
            ("one more", just(&a), both(), &[], &["acme.b"]),
            ("gone", both(), just(&b), &["acme.a"], &[]),
            ("disabled", just(&a), just(&off), &["acme.a"], &[]),
            ("disabled from the start", vec![], just(&off), &[], &[]),
            ("another file", just(&a), just(&newer), &[], &["acme.a"]),
            ("another grant", just(&a), just(&granted), &[], &["acme.a"]),
            ("another interval", just(&a), just(&slower), &[], &["acme.a"]),
            ("another setting", just(&set), just(&a), &[], &["acme.a"]),
            ("approved by another", just(&a), just(&approved), &[], &[]),
            (
                "a secret, whose value may be another",
                just(&secret),
                just(&secret),
                &[],
                &["acme.a"],
            ),
        ];
        for (what, running, lock, remove, install) in cases {
            let (removed, installed) = said(&running, &lock);
            assert_eq!((removed, installed), (owned(remove), owned(install)), "{what}");
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
