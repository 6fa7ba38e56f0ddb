//! Which attributes of which elements a browser fetches or submits to, and how it would treat a
//! plain-http one (W3C Mixed Content: upgradeable is passive here, blockable active).

use super::{css, markup::Tag};
use crate::result::Kind::{self, Active, Passive};

/// Calls `found` for every reference of an element. `in_media`: it stands inside `<video>` or
/// `<audio>`.
pub(super) fn references(tag: &Tag, in_media: bool, found: &mut dyn FnMut(Kind, &str)) {
    for &(attribute, kind) in single(tag, in_media) {
        if let Some(url) = tag.attribute(attribute) {
            found(kind, url);
        }
    }
    if matches!(tag.name.as_str(), "img" | "source")
        && let Some(set) = tag.attribute("srcset")
    {
        candidates(set).for_each(|url| found(Active, url));
    }
    if let Some(url) = tag.attribute("formaction") {
        found(Active, url);
    }
    if let Some(declarations) = tag.attribute("style") {
        css::references(declarations, found);
    }
}

/// Attributes that hold one URL.
fn single(tag: &Tag, in_media: bool) -> &'static [(&'static str, Kind)] {
    match tag.name.as_str() {
        "img" | "audio" => &[("src", Passive)],
        "video" => &[("src", Passive), ("poster", Passive)],
        "source" if in_media => &[("src", Passive)],
        "input" if has_word(tag, "type", "image") => &[("src", Passive)],
        "script" | "iframe" | "frame" | "embed" | "track" => &[("src", Active)],
        "object" => &[("data", Active)],
        "form" => &[("action", Active)],
        "link" => link(tag),
        _ => &[],
    }
}

fn link(tag: &Tag) -> &'static [(&'static str, Kind)] {
    let is = |relation| has_word(tag, "rel", relation);
    if ["stylesheet", "preload", "modulepreload", "manifest"].into_iter().any(is) {
        &[("href", Active)]
    } else if is("icon") {
        &[("href", Passive)]
    } else {
        &[]
    }
}

fn has_word(tag: &Tag, attribute: &str, word: &str) -> bool {
    let words = tag.attribute(attribute).unwrap_or_default();
    words.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word))
}

/// URLs of a `srcset` (HTML, 4.8.4.2.2): they may contain commas, but not end with one.
fn candidates(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let url = word.trim_end_matches(',');
        rest = if url.len() < word.len() { behind } else { skip_descriptors(behind) };
        (!url.is_empty()).then_some(url)
    })
}

/// Behind the comma that ends the descriptors; those in parentheses do not.
fn skip_descriptors(rest: &str) -> &str {
    let mut depth = 0_u32;
    let ends = |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    rest.split_once(ends).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srcset_is_cut_into_its_urls() {
        for (srcset, expected) in [
            ("a.png", vec!["a.png"]),
            ("a.png 1x, b.png 2x", vec!["a.png", "b.png"]),
            (" , a.png , b.png 100w ,c.png", vec!["a.png", "b.png", "c.png"]),
            ("a,b.png 1x", vec!["a,b.png"]),
            ("a.png, b.png", vec!["a.png", "b.png"]),
            ("a.png type(x, y) 1x, b.png", vec!["a.png", "b.png"]),
            ("", vec![]),
            (" ,, ", vec![]),
        ] {
            assert_eq!(candidates(srcset).collect::<Vec<_>>(), expected, "{srcset}");
        }
    }
}
