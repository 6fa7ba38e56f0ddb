//! Keys of the file that are not known, each with the known one that it may have been meant to be.

/// What is told of a key of the file that there is not, where this is what serde's message says;
/// `path` is the key with its section.
pub(super) fn key(path: &str, message: &str) -> Option<String> {
    let (name, known) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let section = path.strip_suffix(name).unwrap_or_default();
    // "one of `a`, `b`": what stands in backticks is every other part.
    let known = known.split('`').skip(1).step_by(2);
    Some(match nearest(name, known) {
        Some(meant) => format!("there is no key `{path}`; did you mean `{section}{meant}`?"),
        None => format!("there is no key `{path}`; {EXAMPLE} shows every key"),
    })
}

/// Nothing is near that differs by more than a slip or two.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = (name.chars().count() / 3).clamp(1, 2);
    known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

const EXAMPLE: &str = "deploy/vedette.example.toml";
