//! The tree head of a log, as a signed note (c2sp.org/tlog-checkpoint).

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// The log's name: its submission prefix without scheme.
    pub(super) origin: String,
    /// Entries in the tree.
    pub(super) size: u64,
    pub(super) root: [u8; 32],
    /// Those under the origin's name, each with its key id before it. Not verified here.
    pub(super) signatures: Vec<Vec<u8>>,
}

impl Checkpoint {
    /// Three lines (origin, size, root), no extension lines (static-ct-api forbids them), an empty
    /// line, and signature lines, of which one bears the origin's name.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body.get(..body.len().min(LONGEST))?).ok()?;
        let (note, signatures) = text.split_once("\n\n")?;
        let [origin, size, root] = note.split('\n').collect::<Vec<_>>().try_into().ok()?;
        let plain =
            size.bytes().all(|b| b.is_ascii_digit()) && (size == "0" || !size.starts_with('0'));
        let size = size.parse().ok().filter(|size| plain && *size < MOST)?;
        let root = STANDARD.decode(root).ok()?.try_into().ok()?;
        let signatures: Vec<Vec<u8>> =
            signatures.lines().filter_map(|line| signature(line, origin)).collect();
        let named = !origin.is_empty() && origin.len() <= LONGEST_ORIGIN;
        let signed = !signatures.is_empty();
        (named && signed).then(|| Self { origin: origin.to_owned(), size, root, signatures })
    }

    pub(super) fn root_text(&self) -> String {
        STANDARD.encode(self.root)
    }
}

/// Key id and signature of the line `— name base64(key id, signature)`; none of another name's.
fn signature(line: &str, name: &str) -> Option<Vec<u8>> {
    let (signer, signature) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
    if signer != name {
        return None;
    }
    STANDARD.decode(signature).ok().filter(|bytes| bytes.len() > KEY_ID)
}

/// Bytes of a key id.
pub(super) const KEY_ID: usize = 4;
/// Hash tiles have levels 0 to 5.
const MOST: u64 = 1 << 48;
/// In bytes; witnesses may add many signatures.
const LONGEST: usize = 64 << 10;
const LONGEST_ORIGIN: usize = 255;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn note(origin: &str, size: &str, root: &str, end: &str) -> String {
        format!("{origin}\n{size}\n{root}\n{end}")
    }

    const ROOT: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const SIGNED: &str = "\n\u{2014} log.example/2026 AAAAAHNpZ25hdHVyZQ==\n";

    #[test]
    fn checkpoint_is_read() {
        let read = Checkpoint::parse(note("log.example/2026", "70000", ROOT, SIGNED).as_bytes());
        let read = read.expect("a checkpoint");
        assert_eq!((read.origin.as_str(), read.size), ("log.example/2026", 70_000));
        assert_eq!(read.root[..4], [0, 1, 2, 3]);
        assert_eq!(read.root_text(), ROOT);
        assert_eq!(read.signatures, [b"\0\0\0\0signature"]);
    }

    #[test]
    fn anything_else_is_refused() {
        let log = "log.example/2026";
        for text in [
            note(log, "070000", ROOT, SIGNED),
            note(log, "+7", ROOT, SIGNED),
            note(log, "-1", ROOT, SIGNED),
            note(log, "281474976710656", ROOT, SIGNED),
            note(log, "99999999999999999999999", ROOT, SIGNED),
            note(log, "", ROOT, SIGNED),
            note(log, "7", "AAEC", SIGNED),
            note(log, "7", ROOT, ""),
            note(log, "7", ROOT, "\n"),
            note(log, "7", ROOT, "extension\n\n\u{2014} log.example/2026 AAAAAHNpZw==\n"),
            note("other.example", "7", ROOT, SIGNED),
            note("", "7", ROOT, SIGNED),
            "<html>".to_owned(),
            String::new(),
        ] {
            assert_eq!(Checkpoint::parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_checkpoint_or_not(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Checkpoint::parse(&body);
        }

        #[test]
        fn any_size_is_read_or_refused(size in any::<u64>()) {
            let text = note("log.example/2026", &size.to_string(), ROOT, SIGNED);
            let read = Checkpoint::parse(text.as_bytes()).map(|read| read.size);
            prop_assert_eq!(read, (size < MOST).then_some(size));
        }
    }
}
