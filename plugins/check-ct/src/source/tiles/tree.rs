//! The hash tiles of a log: which ones are needed, and whether they add up to the root.
//!
//! A tile holds 256 hashes of one level; each hash above level 0 is the Merkle tree hash of a full
//! tile below. The tiles at the right edge are partial, and together they are the whole tree
//! (RFC 6962, section 2.1; c2sp.org/static-ct-api).

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::WIDTH;

pub(super) type Hash = [u8; 32];

/// A tile of hashes (or, at level 0, of entries).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tile {
    pub(super) level: u32,
    pub(super) number: u64,
    /// 1 to 256.
    pub(super) width: u64,
}

/// Tiles that were fetched.
#[derive(Debug, Default)]
pub(super) struct Tree {
    tiles: BTreeMap<(u32, u64), Vec<Hash>>,
}

impl Tile {
    /// Hashes that the tile has in a tree of so many entries.
    pub(super) fn width_at(level: u32, number: u64, size: u64) -> u64 {
        hashes_at(level, size).saturating_sub(number.saturating_mul(WIDTH)).min(WIDTH)
    }

    /// `x001/x234/067`, with the suffix of a partial tile where `width` says so.
    pub(super) fn path(&self, width: u64) -> String {
        let mut path = format!("{:03}", self.number % 1_000);
        let mut rest = self.number / 1_000;
        while rest > 0 {
            path = format!("x{:03}/{path}", rest % 1_000);
            rest /= 1_000;
        }
        if width < WIDTH { format!("{path}.p/{width}") } else { path }
    }
}

/// The hash tiles that prove the given tiles of level 0: they, their parents, and the right edge.
pub(super) fn needed(size: u64, numbers: impl Iterator<Item = u64>) -> BTreeSet<Tile> {
    let mut needed: BTreeSet<Tile> = edge(size).collect();
    for number in numbers {
        let mut number = number;
        for level in 0..LEVELS {
            let width = Tile::width_at(level, number, size);
            if width == 0 || !needed.insert(Tile { level, number, width }) {
                break;
            }
            number /= WIDTH;
        }
    }
    needed
}

impl Tree {
    /// Takes in the hashes of a tile; of a tile that has grown since, those it had. None when
    /// there are too few.
    pub(super) fn insert(&mut self, tile: Tile, body: &[u8]) -> Option<()> {
        let (hashes, rest) = body.as_chunks::<32>();
        let hashes = hashes.get(..usize::try_from(tile.width).ok()?)?;
        if !rest.is_empty() {
            return None;
        }
        self.tiles.insert((tile.level, tile.number), hashes.to_vec());
        Some(())
    }

    /// Hash of an entry.
    pub(super) fn leaf(&self, index: u64) -> Option<Hash> {
        self.hash(0, index)
    }

    /// Whether all tiles are parts of the tree with this root: the edge makes the root, and every
    /// full tile makes a hash of its parent.
    pub(super) fn is_below(&self, size: u64, root: Hash) -> bool {
        let parents = self.tiles.iter().all(|((level, number), hashes)| {
            hashes.len() < WIDTH as usize || self.hash(level + 1, *number) == perfect(hashes)
        });
        parents && self.root(size) == Some(root)
    }

    fn hash(&self, level: u32, index: u64) -> Option<Hash> {
        let tile = self.tiles.get(&(level, index / WIDTH))?;
        tile.get(usize::try_from(index % WIDTH).ok()?).copied()
    }

    /// The tree is cut at its perfect subtrees, the largest on the left; each joins the one on its
    /// right.
    fn root(&self, size: u64) -> Option<Hash> {
        let mut root: Option<Hash> = None;
        for tile in edge(size) {
            let hashes = self.tiles.get(&(tile.level, tile.number))?;
            let mut rest = hashes.as_slice();
            // From the right: the smallest first, as the bits of the width say.
            for subtree in (0..8).map(|bit| 1 << bit).filter(|bit| hashes.len() & bit != 0) {
                let (left, right) = rest.split_at_checked(rest.len().checked_sub(subtree)?)?;
                let own = perfect(right)?;
                root = Some(root.map_or(own, |right| node(&own, &right)));
                rest = left;
            }
        }
        // The hash of an empty tree is that of nothing.
        root.or_else(|| (size == 0).then(|| Sha256::digest([]).into()))
    }
}

/// The partial tiles, from level 0 upwards.
fn edge(size: u64) -> impl Iterator<Item = Tile> {
    (0..LEVELS).filter_map(move |level| {
        let hashes = hashes_at(level, size);
        let width = hashes % WIDTH;
        (width > 0).then_some(Tile { level, number: hashes / WIDTH, width })
    })
}

fn hashes_at(level: u32, size: u64) -> u64 {
    size.checked_shr(8 * level).unwrap_or(0)
}

/// The Merkle tree hash over a power of two of hashes.
fn perfect(hashes: &[Hash]) -> Option<Hash> {
    let mut row = hashes.to_vec();
    while row.len() > 1 {
        let (pairs, rest) = row.as_chunks::<2>();
        if !rest.is_empty() {
            return None;
        }
        row = pairs.iter().map(|[left, right]| node(left, right)).collect();
    }
    row.first().copied()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// Hash tiles have levels 0 to 5.
const LEVELS: u32 = 6;

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 6962, section 2.1, as it is written there; `hashes` are those of the leaves.
    pub(in crate::source::tiles) fn root_of(hashes: &[Hash]) -> Hash {
        match hashes {
            [] => Sha256::digest([]).into(),
            [one] => *one,
            many => {
                let half = many.len().next_power_of_two() / 2;
                node(&root_of(&many[..half]), &root_of(&many[half..]))
            }
        }
    }

    /// The bytes of a hash tile of the log with these leaves.
    pub(in crate::source::tiles) fn tile_of(leaves: &[Hash], level: u32, number: u64) -> Vec<u8> {
        let span = 256_usize.pow(level);
        let row: Vec<Hash> = leaves.chunks_exact(span).map(root_of).collect();
        let from = usize::try_from(number * WIDTH).unwrap();
        row[from..row.len().min(from + 256)].concat()
    }

    fn leaves(size: u64) -> Vec<Hash> {
        (0..size).map(|n| Sha256::digest(n.to_be_bytes()).into()).collect()
    }

    fn tree(leaves: &[Hash], numbers: std::ops::RangeInclusive<u64>) -> Tree {
        let mut tree = Tree::default();
        for tile in needed(leaves.len() as u64, numbers) {
            let body = tile_of(leaves, tile.level, tile.number);
            assert_eq!(body.len() as u64, tile.width * 32, "{tile:?}");
            tree.insert(tile, &body).expect("a whole tile");
        }
        tree
    }

    #[test]
    fn tiles_of_any_size_add_up_to_the_root() {
        for size in [1, 2, 3, 7, 255, 256, 257, 511, 512, 1_000, 65_535, 65_536, 65_537, 70_000] {
            let leaves = leaves(size);
            let last = (size - 1) / WIDTH;
            let tree = tree(&leaves, last.saturating_sub(2)..=last);
            assert!(tree.is_below(size, root_of(&leaves)), "{size}");
            assert!(!tree.is_below(size, [7; 32]), "{size}");
            assert_eq!(tree.leaf(size - 1), leaves.last().copied());
        }
        assert!(Tree::default().is_below(0, root_of(&[])));
    }

    #[test]
    fn tile_deep_inside_is_proven_by_its_parents() {
        let leaves = leaves(70_000);
        let mut tree = tree(&leaves, 5..=6);
        assert!(tree.tiles.contains_key(&(1, 0)) && tree.tiles.contains_key(&(0, 5)));
        let root = root_of(&leaves);
        assert!(tree.is_below(70_000, root));
        tree.tiles.get_mut(&(0, 5)).expect("it is there")[17][0] ^= 1;
        assert!(!tree.is_below(70_000, root));
    }

    #[test]
    fn paths_are_written_in_threes() {
        let path = |number, width| Tile { level: 0, number, width }.path(width);
        assert_eq!(path(0, 256), "000");
        assert_eq!(path(67, 3), "067.p/3");
        assert_eq!(path(1_234_067, 256), "x001/x234/067");
        assert_eq!(path(1_000, 256), "x001/000");
    }

    #[test]
    fn tile_of_the_wrong_size_is_refused() {
        let tile = Tile { level: 0, number: 0, width: 2 };
        for (bytes, fits) in [(0, false), (63, false), (64, true), (65, false), (8_192, true)] {
            let taken = Tree::default().insert(tile, &vec![0; bytes]);
            assert_eq!(taken.is_some(), fits, "{bytes}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_entry_of_a_small_log_is_proven(size in 1_u64..1_500, pick in any::<u64>()) {
            let leaves = leaves(size);
            let index = pick % size;
            let tree = tree(&leaves, index / WIDTH..=index / WIDTH);
            prop_assert!(tree.is_below(size, root_of(&leaves)));
            prop_assert_eq!(tree.leaf(index), leaves.get(index as usize).copied());
        }

        #[test]
        fn needed_tiles_are_few(size in 1_u64..(1 << 48), pick in any::<u64>()) {
            let last = (size - 1) / WIDTH;
            let first = pick % (last + 1);
            let tiles = needed(size, first..=last.min(first + 3));
            prop_assert!(tiles.len() <= 6 + 4 + 2 * 5);
            prop_assert!(tiles.iter().all(|tile| (1..=WIDTH).contains(&tile.width)));
        }
    }
}
