//! What is kept for a site between runs: issuers of the first run, positions in the sources, and
//! the certificates themselves, so that a source which tells only news still makes a whole picture.
//!
//! *Invariant:* it fits into the site's quota; what does not is counted by the day it expires.
//! *Invariant:* a state that does not answer is left alone: nothing is written over what could not
//! be read.
//! *Invariant:* what was kept for another domain counts for nothing: a site may have moved, and a run
//! that was under way then may have kept what it found after all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use vedette_sdk::{Cx, log::Level, state::Scope};

use crate::{certificate::Certificate, date::DAY};
use pages::PAGES;

mod pages;

/// The state of one site. Empty at first, and for runs that belong to no site.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The state answered.
    is_kept: bool,
    about: About,
    certificates: Vec<Certificate>,
    /// As read, so that what did not change is not written.
    written: BTreeMap<String, Vec<u8>>,
}

/// All but the certificates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct About {
    /// Whose certificates they are. Empty where it was kept before that was noted: the site's.
    domain: String,
    /// Some run has finished.
    started: bool,
    /// The first look at the source is not at its end: what it finds is the baseline still.
    growing: bool,
    /// [`crate::issuer::Issuer::family`] of the baseline.
    issuers: BTreeSet<String>,
    /// By [`crate::config::Source::mark`].
    positions: BTreeMap<String, String>,
    /// Of the certificates that did not fit: the newest one's age.
    horizon: Option<i64>,
    /// Of the certificates that did not fit: how many expire on each day.
    beyond: BTreeMap<i64, u64>,
}

/// A finished look at a source.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    /// The most important ones first: those that do not fit are only counted.
    pub(crate) certificates: Vec<&'a Certificate>,
    /// What was only counted is told again, in this look and those that go on from it.
    pub(crate) is_recounted: bool,
    pub(crate) has_more: bool,
    /// The source's mark, and where to go on.
    pub(crate) position: Option<(String, String)>,
    /// Marks of all sources that there are.
    pub(crate) sources: &'a BTreeSet<String>,
}

impl Ledger {
    pub(crate) fn load(cx: &Cx, domain: &str) -> Self {
        let state = cx.state(Scope::Site);
        let about = About { domain: domain.to_owned(), ..About::default() };
        let mut ledger = Self { is_kept: true, about, ..Self::default() };
        for key in std::iter::once(ABOUT.to_owned()).chain((0..PAGES).map(page_key)) {
            match state.get(&key) {
                Ok(Some(value)) => drop(ledger.written.insert(key, value)),
                Ok(None) => {}
                Err(_) => return Self::default(),
            }
        }
        let about = ledger.written.get(ABOUT);
        let about = about.and_then(|about| serde_json::from_slice::<About>(about).ok());
        let own = about.filter(|about| [domain, ""].contains(&about.domain.as_str()));
        let Some(own) = own else { return ledger };
        ledger.about = About { domain: domain.to_owned(), ..own };
        let pages = (0..PAGES).filter_map(|page| ledger.written.get(&page_key(page)));
        ledger.certificates = pages.flat_map(|page| pages::read(page)).collect();
        ledger
    }

    /// What a run finds now is what later ones are compared with.
    pub(crate) fn is_baseline(&self) -> bool {
        !self.about.started || self.about.growing
    }

    pub(crate) fn positions(&self) -> &BTreeMap<String, String> {
        &self.about.positions
    }

    pub(crate) fn accepts(&self, family: Option<&String>) -> bool {
        family.is_some_and(|family| self.about.issuers.contains(family))
    }

    /// Accepts issuers of the baseline, as many as are kept.
    pub(crate) fn accept(&mut self, families: impl Iterator<Item = String>) {
        for family in families {
            if self.about.issuers.len() < ISSUERS {
                self.about.issuers.insert(family);
            }
        }
    }

    /// Older certificates than this may have been seen without being kept.
    pub(crate) fn horizon(&self) -> Option<i64> {
        self.about.horizon
    }

    /// The kept certificates that have not expired.
    pub(crate) fn current(&self, now: i64) -> impl Iterator<Item = &Certificate> {
        self.certificates.iter().filter(move |certificate| certificate.is_current(now))
    }

    /// Unexpired certificates that did not fit, to the day.
    pub(crate) fn beyond(&self, now: i64) -> u64 {
        let today = now.div_euclid(DAY);
        self.about.beyond.range(today..).fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Stops counting what does not say when it expires: a whole answer tells what there is of it.
    pub(crate) fn forget_undated(&mut self) {
        self.about.beyond.remove(&UNDATED);
    }

    /// Takes out of the count what was only counted and is told now. About so: which ones were counted
    /// is not known, and one that no source had told before is taken for one of them.
    pub(crate) fn recall<'a>(&mut self, told: impl Iterator<Item = &'a Certificate>) {
        let about = &mut self.about;
        for certificate in told {
            let day = about.day(certificate);
            if let Some(count) = about.beyond.get_mut(&day) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Keeps what a look found.
    pub(crate) fn keep(&mut self, cx: &Cx, look: Look<'_>, now: i64) {
        let (pages, dropped) = pages::write(&look.certificates);
        let is_growing = self.is_baseline() && look.has_more;
        let about = &mut self.about;
        if look.is_recounted {
            about.beyond.clear();
        }
        about.beyond = about.beyond.split_off(&now.div_euclid(DAY));
        about.beyond.retain(|_, count| *count > 0);
        if about.beyond.is_empty() {
            about.horizon = None;
        }
        for certificate in dropped {
            about.horizon = about.horizon.max(Some(certificate.age()));
            let day = about.day(certificate);
            *about.beyond.entry(day).or_default() += 1;
        }
        about.growing = is_growing;
        about.started = true;
        about.positions.extend(look.position);
        about.positions.retain(|source, _| look.sources.contains(source));
        self.save(cx, pages);
    }

    /// The certificates first: a position that is ahead of them would lose some. Where another run
    /// has kept something meanwhile, or the site has moved and lost what there was, that stays.
    fn save(&mut self, cx: &Cx, pages: Vec<Vec<u8>>) {
        let state = cx.state(Scope::Site);
        let is_as_read = || {
            let stored = state.get(ABOUT);
            stored.is_ok_and(|stored| stored.as_ref() == self.written.get(ABOUT))
        };
        if !self.is_kept || !is_as_read() {
            return;
        }
        let about = serde_json::to_vec(&self.about).expect("texts and numbers have a form");
        let keyed = pages.into_iter().enumerate().map(|(page, value)| (page_key(page), value));
        for (key, value) in keyed.chain([(ABOUT.to_owned(), about)]) {
            let before = self.written.get(&key);
            if before == Some(&value) || (before.is_none() && value.is_empty()) {
                continue;
            }
            if let Err(error) = state.set(&key, &value, None) {
                let message = format!("what the run found could not be kept: {error:?}");
                cx.log(Level::Warn, &message, &[]);
                return;
            }
            self.written.insert(key, value);
        }
    }
}

impl About {
    /// The day by which a certificate that does not fit is counted.
    fn day(&self, certificate: &Certificate) -> i64 {
        let day = certificate.not_after.map_or(UNDATED, |at| at.div_euclid(DAY));
        let crowded = self.beyond.len() >= DAYS && !self.beyond.contains_key(&day);
        let last = self.beyond.range(..UNDATED).next_back().map(|(last, _)| *last);
        last.filter(|_| crowded).unwrap_or(day)
    }
}

fn page_key(page: usize) -> String {
    format!("certificates.{page}")
}

const ABOUT: &str = "about";
/// Issuers of a baseline.
const ISSUERS: usize = 256;
/// Days that are told apart.
const DAYS: usize = 400;
/// After all days: of certificates that do not say when they expire.
const UNDATED: i64 = i64::MAX.div_euclid(DAY);

#[cfg(test)]
mod tests {
    use vedette_sdk::testing::Host;

    use super::*;
    use crate::fixture::{NOW, certificate};

    fn look<'a>(certificates: &'a [Certificate], sources: &'a BTreeSet<String>) -> Look<'a> {
        Look {
            certificates: certificates.iter().collect(),
            is_recounted: false,
            has_more: false,
            position: Some(("s".to_owned(), "7".to_owned())),
            sources,
        }
    }

    fn load(host: &Host) -> Ledger {
        Ledger::load(&host.cx(), "example.com")
    }

    #[test]
    fn ledger_reads_back_what_it_kept() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        let mut ledger = load(&host);
        assert!(ledger.is_baseline());
        ledger.accept(["family".to_owned()].into_iter());
        ledger.keep(&host.cx(), look(&[certificate("01")], &sources), NOW);
        let read = load(&host);
        assert!(!read.is_baseline());
        assert_eq!(read.certificates, [certificate("01")]);
        assert_eq!(read.positions().get("s").map(String::as_str), Some("7"));
        assert!(read.accepts(Some(&"family".to_owned())) && !read.accepts(None));
    }

    #[test]
    fn thousands_of_certificates_fit_the_quota_and_are_all_counted() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        let mut ledger = load(&host);
        let many: Vec<Certificate> = (0..5_000)
            .map(|n| Certificate {
                not_after: Some(NOW + n * DAY / 10),
                ..certificate(&format!("{n:036x}"))
            })
            .collect();
        for _ in 0..300 {
            ledger.accept((0..1_000).map(|n| format!("{n:016}")));
        }
        ledger.keep(&host.cx(), look(&many, &sources), NOW);
        let read = load(&host);
        let kept = read.certificates.len();
        assert!(kept > 150, "{kept}");
        assert_eq!(kept as u64 + read.beyond(NOW), 5_000);
        let size: usize = read.written.iter().map(|(key, value)| key.len() + value.len()).sum();
        assert!(size < 64 << 10, "{size}");
        assert!(read.written.values().all(|value| value.len() <= 16 << 10));
        assert!(read.beyond(NOW + 300 * DAY) < read.beyond(NOW));
        assert_eq!(read.horizon(), Some(certificate("01").age()));
    }

    #[test]
    fn what_never_expires_is_counted_until_all_is_told_again() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        let many: Vec<Certificate> = (0..1_000)
            .map(|n| {
                let dated = certificate(&format!("{n:036x}"));
                Certificate { not_after: dated.not_after.filter(|_| n % 2 == 0), ..dated }
            })
            .collect();
        load(&host).keep(&host.cx(), look(&many, &sources), NOW);
        let mut read = load(&host);
        let dropped = &many[read.certificates.len()..];
        assert_eq!(read.beyond(NOW), dropped.len() as u64);
        read.forget_undated();
        let dated = dropped.iter().filter(|certificate| certificate.not_after.is_some()).count();
        assert!(0 < dated && dated < dropped.len());
        assert_eq!(read.beyond(NOW), dated as u64);
    }

    #[test]
    fn what_is_told_again_is_counted_once() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        let many: Vec<Certificate> =
            (0..1_000).map(|n| certificate(&format!("{n:036x}"))).collect();
        load(&host).keep(&host.cx(), look(&many, &sources), NOW);
        let mut read = load(&host);
        let (kept, horizon) = (read.certificates.len(), read.horizon());
        assert!(horizon.is_some());
        // All of them, then some.
        for (told, left) in [(kept..1_000, 0), (kept..kept + 100, 900 - kept as u64)] {
            read.about.beyond =
                [(many[0].not_after.expect("dated") / DAY, 1_000 - kept as u64)].into();
            read.recall(many[told].iter());
            assert_eq!(read.beyond(NOW), left);
        }
        let some = read.certificates.clone();
        read.keep(&host.cx(), look(&some, &sources), NOW);
        assert_eq!(load(&host).horizon(), horizon, "others are still counted");
        read.recall(many[kept..].iter());
        read.keep(&host.cx(), look(&some, &sources), NOW);
        assert_eq!(load(&host).horizon(), None);
    }

    #[test]
    fn baseline_lasts_until_the_source_is_read_to_its_end() {
        let (host, sources) = (Host::new(), BTreeSet::new());
        for (has_more, baseline) in [(true, true), (true, true), (false, false), (true, false)] {
            let mut ledger = load(&host);
            ledger.keep(&host.cx(), Look { has_more, ..look(&[], &sources) }, NOW);
            assert_eq!(load(&host).is_baseline(), baseline);
        }
        assert!(load(&host).positions().is_empty(), "the source is gone");
    }

    #[test]
    fn state_of_another_kind_is_a_first_run() {
        let host = Host::new();
        host.cx().state(Scope::Site).set(ABOUT, b"\xff{", None).expect("kept");
        host.cx().state(Scope::Site).set(&page_key(0), b"[1]", None).expect("kept");
        let ledger = load(&host);
        assert!(ledger.is_baseline() && ledger.certificates.is_empty());
    }

    #[test]
    fn what_was_kept_for_another_domain_counts_for_nothing() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        let many: Vec<Certificate> =
            (0..1_000).map(|n| certificate(&format!("{n:036x}"))).collect();
        let mut ledger = load(&host);
        ledger.accept(["family".to_owned()].into_iter());
        ledger.keep(&host.cx(), look(&many, &sources), NOW);
        let mut moved = Ledger::load(&host.cx(), "moved.example");
        assert!(moved.is_baseline() && moved.certificates.is_empty());
        assert!(moved.positions().is_empty() && !moved.accepts(Some(&"family".to_owned())));
        assert_eq!((moved.beyond(NOW), moved.horizon()), (0, None));
        moved.keep(&host.cx(), look(&[certificate("01")], &sources), NOW);
        let read = Ledger::load(&host.cx(), "moved.example");
        assert_eq!(read.certificates, [certificate("01")], "no page is left of those before");
        assert!(!read.is_baseline());
    }

    #[test]
    fn what_was_kept_before_the_domain_was_noted_is_the_sites() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        load(&host).keep(&host.cx(), look(&[certificate("01")], &sources), NOW);
        let about = host.cx().state(Scope::Site).get(ABOUT).expect("kept").expect("there");
        let mut about: serde_json::Value = serde_json::from_slice(&about).expect("JSON");
        about.as_object_mut().and_then(|about| about.remove("domain")).expect("noted");
        let about = about.to_string();
        host.cx().state(Scope::Site).set(ABOUT, about.as_bytes(), None).expect("kept");
        let read = load(&host);
        assert!(!read.is_baseline());
        assert_eq!(read.certificates, [certificate("01")]);
    }

    #[test]
    fn run_that_was_overtaken_leaves_what_was_kept_meanwhile() {
        let (host, sources) = (Host::new(), BTreeSet::from(["s".to_owned()]));
        load(&host).keep(&host.cx(), look(&[certificate("01")], &sources), NOW);
        let mut late = load(&host);
        let mut moved = Ledger::load(&host.cx(), "moved.example");
        moved.keep(&host.cx(), look(&[certificate("02")], &sources), NOW);
        late.keep(&host.cx(), look(&[certificate("01"), certificate("03")], &sources), NOW);
        let read = Ledger::load(&host.cx(), "moved.example");
        assert_eq!(read.certificates, [certificate("02")]);
        assert!(!read.is_baseline());
    }
}
