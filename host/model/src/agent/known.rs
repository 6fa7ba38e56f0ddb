//! Where each leaf of a look stands, by what is known of its place.
//!
//! One leaf stands for the place, the others beside it under names of their own. Servers show them in
//! any order, not all of them each time, and renew them: a leaf stays where it was seen, and one that
//! was renewed takes the stand of the one before. So the stand of the place is empty while its own is
//! not served, until one comes that is not known.
//!
//! *Invariant:* a certificate stands in one stand of its place, however often it was served.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::{Certificate, Look, Place, Sighting, apart};
use crate::Timestamp;

/// A stand of a place, see [`Place::beside`]. That of the place itself comes first.
pub(super) type Stand = Option<String>;

/// What is known of the places of an agent.
#[derive(Default)]
pub(super) struct Known(HashMap<(String, u16), Stands>);

/// Of one host and port.
#[derive(Default)]
struct Stands {
    /// The last look that was noted before this report.
    noted_at: Option<Timestamp>,
    leaves: BTreeMap<Stand, Certificate>,
}

impl Known {
    pub(super) fn of(sightings: Vec<Sighting>) -> Self {
        let mut known = Self::default();
        for Sighting { place, leaf, at, .. } in sightings {
            let Place { host, port, beside } = place;
            let stands = known.0.entry((host, port)).or_default();
            stands.noted_at = stands.noted_at.max(Some(at));
            if let Some(leaf) = leaf {
                stands.leaves.insert(beside, leaf);
            }
        }
        known
    }

    /// A look for each leaf, and one that tells that it is gone ([`Look::is_gone`]) for each that
    /// was there before, if the look is whole. One without certificates stays as it is. A place's
    /// looks are asked for in the order in which they were made.
    pub(super) fn apart(&mut self, look: Look, at: Timestamp) -> Vec<Look> {
        if look.certificates.is_empty() {
            return vec![look];
        }
        let Place { host, port, .. } = &look.place;
        let stands = self.0.entry((host.clone(), *port)).or_default();
        let leaves = apart::leaves_of(&look.certificates);
        let standing = standing(&stands.leaves, leaves, look.is_whole);
        let mut looks = apart::looks(&look, &standing);
        if stands.noted_at.is_some_and(|noted_at| noted_at >= at) {
            // What came or went by then has been told since.
            let never_showed_any = stands.leaves.is_empty();
            let is_known = |stand: &Stand| {
                stands.leaves.contains_key(stand) || (never_showed_any && stand.is_none())
            };
            looks.retain(|look| is_known(&look.place.beside));
            return looks;
        }
        if look.is_whole {
            let gone = stands.leaves.keys().filter(|stand| !standing.contains_key(*stand));
            looks.extend(gone.map(|stand| {
                let place = Place { beside: stand.clone(), ..look.place.clone() };
                Look { checked_at: look.checked_at, ..Look::gone(place) }
            }));
            stands.leaves.clear();
        }
        let shown = standing.into_iter().map(|(stand, leaf)| (stand, leaf.clone()));
        stands.leaves.extend(shown);
        looks
    }
}

/// Which of the leaves stands where: whatever is recognised stays, and where none is as the place's,
/// the first that is new stands for it. What a look that is not whole does not show keeps its stand.
fn standing<'a>(
    before: &BTreeMap<Stand, Certificate>,
    leaves: Vec<&'a Certificate>,
    is_whole: bool,
) -> BTreeMap<Stand, &'a Certificate> {
    let is_kept = |stand: &Stand| !is_whole && before.contains_key(stand);
    let mut new = leaves;
    let mut standing = recognised(before, &mut new);
    if !new.is_empty() && !standing.contains_key(&PLACE) && !is_kept(&PLACE) {
        standing.insert(PLACE, new.remove(0));
    }
    name(new, is_kept, &mut standing);
    standing
}

/// Takes out of `leaves` those that stood there before, or take the place of one that did.
fn recognised<'a>(
    before: &BTreeMap<Stand, Certificate>,
    leaves: &mut Vec<&'a Certificate>,
) -> BTreeMap<Stand, &'a Certificate> {
    let mut standing: BTreeMap<Stand, &'a Certificate> = BTreeMap::new();
    for likeness in LIKENESSES {
        let mut free: HashMap<String, VecDeque<&Stand>> = HashMap::new();
        for (stand, leaf) in before.iter().filter(|(stand, _)| !standing.contains_key(*stand)) {
            if let Some(likeness) = likeness(leaf) {
                free.entry(likeness).or_default().push_back(stand);
            }
        }
        leaves.retain(|leaf| {
            let alike = likeness(leaf).and_then(|likeness| free.get_mut(&likeness));
            let Some(stand) = alike.and_then(VecDeque::pop_front) else { return true };
            standing.insert(stand.clone(), *leaf);
            false
        });
    }
    standing
}

/// Gives those that are new stands of their own: their subjects, and numbers where these are equal.
fn name<'a>(
    new: Vec<&'a Certificate>,
    is_kept: impl Fn(&Stand) -> bool,
    standing: &mut BTreeMap<Stand, &'a Certificate>,
) {
    let of_place = standing.get(&PLACE).map(|leaf| (name_of(leaf), 1_usize));
    let mut named: HashMap<String, usize> = of_place.into_iter().collect();
    for leaf in new {
        let name = name_of(leaf);
        let nth = named.entry(name.clone()).or_default();
        let stand = loop {
            *nth += 1;
            let stand = Some(if *nth == 1 { name.clone() } else { format!("{name} #{nth}") });
            if !standing.contains_key(&stand) && !is_kept(&stand) {
                break stand;
            }
        };
        standing.insert(stand, leaf);
    }
}

fn name_of(leaf: &Certificate) -> String {
    leaf.subject.chars().take(LONGEST_NAME).collect()
}

fn itself(leaf: &Certificate) -> Option<String> {
    Some(leaf.identity())
}

fn subject_and_hosts(leaf: &Certificate) -> Option<String> {
    Some(format!("{}\n{}", subject(leaf)?, hosts(leaf)?))
}

fn subject(leaf: &Certificate) -> Option<String> {
    (!leaf.subject.is_empty()).then(|| leaf.subject.clone())
}

fn hosts(leaf: &Certificate) -> Option<String> {
    let hosts: BTreeSet<String> = leaf.san.iter().map(|name| name.to_lowercase()).collect();
    (!hosts.is_empty()).then(|| hosts.into_iter().collect::<Vec<_>>().join("\n"))
}

/// What a leaf, or the one whose stand it takes, is recognised by; the surest first. None = it has
/// nothing of the kind.
const LIKENESSES: [fn(&Certificate) -> Option<String>; 4] =
    [itself, subject_and_hosts, subject, hosts];
const PLACE: Stand = None;
/// In characters.
const LONGEST_NAME: usize = 100;
