//! A log of the Static Certificate Transparency API (c2sp.org/static-ct-api), read entry by entry.
//!
//! The [`position`] is the index of the next entry. Each run reads a few tiles from there on; the
//! first one starts near the end, since a public log has more behind it than any run could read.
//! A log that is far ahead and grows faster than it is read is no source: certificates of today
//! would never be reached, and nobody would hear of it.
//! What is read is held against the log's tree head: entries against the leaf hashes of their
//! tile, tiles against their parents, and those against the root.
//!
//! *Invariant:* the tree never becomes smaller, and an entry that does not belong to it is not
//! read.
//! *Invariant:* where the operator gave the log's key, a tree head that it did not sign is not
//! used. Without a key signatures are not verified, and the log is as trustworthy as the connection
//! to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vedette_sdk::{log::Level, state::Scope};

use super::{Answer, Asked, Failure, examination};
use crate::{certificate::Certificate, digest::mark, name};
use checkpoint::Checkpoint;
use leaf::{Entry, Leaf};
use needle::Needle;
use position::Position;
use tree::{Tile, Tree};

mod checkpoint;
mod der;
mod leaf;
mod needle;
mod position;
mod signature;
mod tree;

/// The last tree head of a log, kept for all sites.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    origin: String,
    size: u64,
    /// Base64.
    root: String,
}

/// Reads on from the position, at most [`TILES`] tiles.
pub(super) fn read(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let checkpoint = checkpoint(asked)?;
    let size = checkpoint.size;
    let near_end = size.saturating_sub(NEAR_END) / WIDTH * WIDTH;
    let position = asked.position.and_then(Position::parse);
    let position = position.unwrap_or(Position { next: near_end, seen: None });
    let from = position.next;
    let Some(unread) = size.checked_sub(from) else {
        return Err(Failure::Unavailable(format!("the log went back from {from} to {size}")));
    };
    if unread > FAR_AHEAD && position.is_outrun(size, asked.now) {
        return Err(Failure::TooMuch(format!(
            "{unread} entries of the log are unread, and it grows faster than they can be caught up \
             with: name a source that is asked by domain before it"
        )));
    }
    let to = size.min((from / WIDTH + TILES) * WIDTH);
    let mut certificates = Vec::new();
    if from < to {
        let numbers = from / WIDTH..=(to - 1) / WIDTH;
        let tree = tree(asked, &checkpoint, numbers.clone())?;
        for number in numbers {
            let tile = Tile { level: 0, number, width: Tile::width_at(0, number, size) };
            certificates.extend(entries(asked, tile, &tree, from)?);
        }
    }
    remember(asked, &checkpoint);
    if to < size {
        let left = (size - to).to_string();
        asked.cx.log(Level::Info, "entries of the log are left for later runs", &[("left", &left)]);
    }
    Ok(Answer {
        certificates,
        has_more: to < size,
        position: Some(Position { next: to, seen: Some((size, asked.now)) }.to_text()),
        ..Answer::default()
    })
}

/// The current tree head, held against the log's key, if there is one, and against the last one.
fn checkpoint(asked: &Asked<'_>) -> Result<Checkpoint, Failure> {
    // Read before the log is asked: what the run of another site stores from then on may be newer
    // than the answer, and the log has not gone back for that.
    let last = last_head(asked);
    let response = asked.get(format!("{}/checkpoint", asked.base), PATIENCE)?;
    let checkpoint = Checkpoint::parse(&response.body)
        .ok_or_else(|| Failure::Unavailable("its answer is not a checkpoint".to_owned()))?;
    if let Some(key) = asked.key {
        signature::verify(&checkpoint, key)
            .map_err(|told| Failure::Unavailable(told.to_owned()))?;
    }
    let Some(last) = last else { return Ok(checkpoint) };
    let now = head(&checkpoint);
    let changed = if now.origin != last.origin {
        "the log calls itself by another name"
    } else if now.size < last.size {
        "the log became smaller"
    } else if now.size == last.size && now.root != last.root {
        "the log shows two trees of one size"
    } else {
        return Ok(checkpoint);
    };
    Err(Failure::Unavailable(format!("{changed}: {last:?} before, {now:?} now")))
}

/// Keeps the tree head, unless the run of another site has kept one of as many entries or more.
fn remember(asked: &Asked<'_>, checkpoint: &Checkpoint) {
    if last_head(asked).is_none_or(|last| last.size < checkpoint.size) {
        let written = serde_json::to_vec(&head(checkpoint)).expect("texts and numbers have a form");
        // Without it, the next tree head is taken as it comes.
        let _ = asked.cx.state(Scope::Shared).set(&head_key(asked), &written, None);
    }
}

fn last_head(asked: &Asked<'_>) -> Option<Head> {
    let kept = asked.cx.state(Scope::Shared).get(&head_key(asked)).ok().flatten()?;
    serde_json::from_slice(&kept).ok()
}

fn head(checkpoint: &Checkpoint) -> Head {
    Head { origin: checkpoint.origin.clone(), size: checkpoint.size, root: checkpoint.root_text() }
}

fn head_key(asked: &Asked<'_>) -> String {
    match asked.key {
        None => format!("head.{}", mark(&["log", asked.base])),
        // A tree head that nobody verified says nothing against one that is signed.
        Some(key) => format!("head.{}", mark(&["log", asked.base, &hex::encode(key.log_id())])),
    }
}

/// The verified hashes above the tiles.
fn tree(
    asked: &Asked<'_>,
    checkpoint: &Checkpoint,
    numbers: impl Iterator<Item = u64>,
) -> Result<Tree, Failure> {
    let needed: Vec<Tile> = tree::needed(checkpoint.size, numbers).into_iter().collect();
    let mut tree = Tree::default();
    for tiles in needed.chunks(AT_ONCE) {
        let request = |tile: &Tile| asked.request(hashes_url(asked, tile, tile.width), PATIENCE);
        let requests: Vec<_> = tiles.iter().map(request).collect();
        let answers = asked.cx.fetch_many(&requests);
        for (tile, answer) in tiles.iter().zip(answers) {
            let response = match asked.accept(answer) {
                // Once a tile is full, its partial forms may be gone.
                Err(Failure::Unavailable(_)) if tile.width < WIDTH => {
                    asked.get(hashes_url(asked, tile, WIDTH), PATIENCE)?
                }
                answer => answer?,
            };
            tree.insert(*tile, &response.body).ok_or_else(|| {
                Failure::Unavailable(format!("{tile:?} of the log has not its size"))
            })?;
        }
    }
    if tree.is_below(checkpoint.size, checkpoint.root) {
        return Ok(tree);
    }
    Err(Failure::Unavailable("the tiles of the log do not add up to its root".to_owned()))
}

/// The certificates of one tile that concern the domain, from index `from` on.
fn entries(
    asked: &Asked<'_>,
    tile: Tile,
    tree: &Tree,
    from: u64,
) -> Result<Vec<Certificate>, Failure> {
    let url = |width| format!("{}/tile/data/{}", asked.base, tile.path(width));
    let response = match asked.get(url(tile.width), PATIENCE) {
        Err(Failure::Unavailable(_)) if tile.width < WIDTH => asked.get(url(WIDTH), PATIENCE)?,
        answer => answer?,
    };
    let mut needles = vec![Needle::new(asked.domain)];
    needles.extend(name::wildcard_beside(asked.domain).map(|name| Needle::new(&name)));
    let (mut found, mut rest) = (Vec::new(), response.body.as_slice());
    for slot in 0..tile.width {
        let index = tile.number * WIDTH + slot;
        let Some((leaf, tail)) = Leaf::parse(rest) else {
            if !response.truncated {
                return Err(Failure::Unavailable(format!("entry {index} cannot be read")));
            }
            // Waiting would not make the tile smaller, and would stop the log here for good.
            let (unread, tile) = ((tile.width - slot).to_string(), tile.number.to_string());
            let fields = [("tile", tile.as_str()), ("entries", unread.as_str())];
            asked.cx.log(Level::Warn, "a tile is too large: its last entries stay unread", &fields);
            break;
        };
        rest = tail;
        if tree.leaf(index) != Some(leaf.hash()) {
            return Err(Failure::Unavailable(format!("entry {index} is not the one in the tree")));
        }
        if index >= from && needles.iter().any(|needle| needle.is_in(leaf.signed())) {
            found.push(leaf);
        }
    }
    Ok(examine(asked, found))
}

fn examine(asked: &Asked<'_>, leaves: Vec<Leaf<'_>>) -> Vec<Certificate> {
    let ders = leaves.iter().map(|leaf| match leaf.entry {
        Entry::X509(certificate) => certificate.to_vec(),
        // What a precertificate itself says of its issuer may be a signing certificate's name;
        // what was signed for the log names the issuer that counts (RFC 6962, section 3.2).
        Entry::Precert(tbs) => der::certificate_of(tbs).unwrap_or_default(),
    });
    let read = examination::read(asked.cx, asked.domain, asked.now, ders.collect());
    let mut certificates = Vec::new();
    for (leaf, read) in leaves.iter().zip(read) {
        let Some(read) = read else {
            asked.cx.log(Level::Warn, "a logged certificate cannot be read", &[]);
            continue;
        };
        let is_final = matches!(leaf.entry, Entry::X509(_));
        let certificate = Certificate::of_x509(&read, asked.domain, is_final);
        if !certificate.names.is_empty() && certificate.is_current(asked.now) {
            certificates.push(Certificate { logged_at: Some(leaf.logged_at()), ..certificate });
        }
    }
    certificates
}

fn hashes_url(asked: &Asked<'_>, tile: &Tile, width: u64) -> String {
    format!("{}/tile/{}/{}", asked.base, tile.level, tile.path(width))
}

/// Hashes, or entries, of a full tile.
const WIDTH: u64 = 256;
/// Tiles of entries that one run reads.
const TILES: u64 = 4;
/// Unread entries above which it matters how fast the log grows: what runs read in six hours, one a
/// minute.
const FAR_AHEAD: u64 = 6 * 60 * TILES * WIDTH;
/// Entries that the first run reads, at least, where there are as many.
const NEAR_END: u64 = 256;
const PATIENCE: Duration = Duration::from_secs(6);
/// Requests of one call.
const AT_ONCE: usize = 16;

#[cfg(test)]
mod tests;
