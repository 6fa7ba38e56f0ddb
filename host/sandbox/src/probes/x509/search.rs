//! The search for the best path.
//!
//! It looks at every path over the certificates at hand, also over expired, badly signed and
//! misused ones, and keeps the one that is nearest to being right: without a fault it is valid, and
//! with one the fault is what people are told.
//!
//! It goes from the leaf upwards, and always on with the path that has the least against it, the
//! shortest of equals: the first path that reaches a root without a fault is the shortest such path.
//!
//! *Invariant:* the work is bounded, however many paths there are.

use std::collections::BTreeMap;

use super::{
    links::Issuer,
    path::{End, Path, Pool},
};

/// The path that is nearest to being right.
pub(super) fn best<'a>(pool: &Pool<'a>) -> Path<'a> {
    let mut search = Search {
        pool,
        open: BTreeMap::new(),
        opened: 0,
        visits: vec![0; pool.certificates.len()],
        best: None,
    };
    search.open(Path {
        chain: vec![0],
        end: End::Missing,
        anchor: None,
        bad_signature: None,
        weak_signature: None,
    });
    while let Some((_, path)) = search.open.pop_first() {
        search.go_on(&path);
        if search.is_done() {
            break;
        }
    }
    let (_, path) = search.best.expect("the first step of a search always ends a path");
    path
}

struct Search<'p, 'a> {
    pool: &'p Pool<'a>,
    /// Paths that may go on, by what is against them and then by age.
    open: BTreeMap<(Cost, usize), Path<'a>>,
    opened: usize,
    /// How often paths went on from each certificate.
    visits: Vec<usize>,
    best: Option<(Rank, Path<'a>)>,
}

/// Smaller is nearer to being right: a signature that nobody made, one that nobody accepts any
/// more, faults, certificates.
type Cost = (bool, bool, usize, usize);

/// The same for a path that has ended: a good signature counts more than a trusted end (a stranger
/// may well have the name of a known root), an end more than dates and flags.
type Rank = (bool, End, bool, usize, usize);

impl<'a> Search<'_, 'a> {
    fn go_on(&mut self, path: &Path<'a>) {
        let top = path.top();
        self.visits[top] += 1;
        if self.visits[top] > MAX_VISITS {
            // Nothing may be left to go on from: where namesakes signed each other, all end here.
            self.keep(path.clone());
            return;
        }
        let pool = self.pool;
        let self_signed = pool.certificates[top].facts.self_signed;
        let mut ended = true;
        for link in &pool.links[top] {
            let step = path.signed(link.worth);
            match link.issuer {
                Issuer::Root(root) => {
                    ended = false;
                    self.keep(Path { end: End::Anchor, anchor: Some(root.root), ..step });
                }
                Issuer::Sent(above) if !self_signed && !path.chain.contains(&above) => {
                    ended = false;
                    self.open(step.below(above, pool.certificates[above].facts.self_signed));
                }
                Issuer::Sent(_) => {}
            }
        }
        if self_signed {
            self.keep(Path { end: End::SelfSigned, ..path.clone() });
        } else if ended && pool.certificates[top].claims_itself() {
            // Nobody else is meant to have signed it, though it did not do so well.
            self.keep(Path { end: End::SelfSigned, ..path.clone() });
        } else if ended {
            self.keep(path.clone());
        }
    }

    fn open(&mut self, path: Path<'a>) {
        let (bad, weak) = (path.bad_signature.is_some(), path.weak_signature.is_some());
        let cost = (bad, weak, self.pool.faults(&path).len(), path.chain.len());
        self.opened += 1;
        self.open.insert((cost, self.opened), path);
    }

    fn keep(&mut self, path: Path<'a>) {
        let (bad, weak) = (path.bad_signature.is_some(), path.weak_signature.is_some());
        let rank = (bad, path.end, weak, self.pool.faults(&path).len(), path.chain.len());
        if self.best.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.best = Some((rank, path));
        }
    }

    /// Nothing is left to be better at.
    fn is_done(&self) -> bool {
        let best = self.best.as_ref().map(|(rank, _)| *rank);
        best.is_some_and(|best| matches!(best, (false, End::Anchor, false, 0, _)))
    }
}

impl Path<'_> {
    fn below(mut self, above: usize, self_signed: bool) -> Self {
        self.chain.push(above);
        // The dates of a root are nobody's business.
        self.end = if self_signed { End::SelfSigned } else { End::Missing };
        self
    }
}

/// Going on from a certificate again is worth it only where what is below it matters to those
/// above: path lengths and name constraints.
const MAX_VISITS: usize = 8;
