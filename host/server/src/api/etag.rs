//! Answers to reads carry a tag of their content; a client that already has that content gets a
//! 304.
//!
//! The tag is weak: one content has one tag, however its bytes are packed on the way.
//!
//! *Invariant:* a request that ends in a 304 was admitted, counted and done like any other.

use std::sync::Arc;

use salvo::{
    http::{HeaderValue, Method, ResBody, header},
    prelude::*,
};

use crate::document::{Document, Tag};

/// Tags what a GET or HEAD answers with 200. Browsers may keep it, but ask before they use it.
pub(super) fn revalidate(req: &Request, depot: &Depot, res: &mut Response) {
    let is_read = matches!(*req.method(), Method::GET | Method::HEAD);
    if !is_read || res.status_code != Some(StatusCode::OK) {
        return;
    }
    let written;
    let tag = match depot.get_typed::<Arc<Document>>() {
        Ok(document) => Some(document.tag()),
        Err(_) => {
            written = of(&res.body);
            written.as_ref()
        }
    };
    let Some(Tag { opaque, line }) = tag else { return };
    let headers = res.headers_mut();
    headers.insert(header::ETAG, line.clone());
    // A handler that knows better has said so already.
    if headers.get(header::CACHE_CONTROL).is_none_or(|value| value == "no-store") {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    let mut known = req.headers().get_all(header::IF_NONE_MATCH).iter();
    if known.any(|known| known.to_str().is_ok_and(|known| names(known, opaque))) {
        res.headers_mut().remove(header::CONTENT_TYPE);
        res.body(ResBody::None);
        res.status_code(StatusCode::NOT_MODIFIED);
    }
}

/// The tag of a body; none for streams, which are not known beforehand.
fn of(body: &ResBody) -> Option<Tag> {
    match body {
        ResBody::Once(bytes) => Some(Tag::of([bytes])),
        ResBody::Chunks(chunks) => Some(Tag::of(chunks)),
        _ => None,
    }
}

/// Whether a line of `If-None-Match` names the tag: RFC 9110, 13.1.2, weak comparison.
fn names(line: &str, opaque: &str) -> bool {
    if line.trim() == "*" {
        return true;
    }
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let tag = rest.strip_prefix("W/").unwrap_or(rest);
        let Some((found, after)) = tag.strip_prefix('"').and_then(|tag| tag.split_once('"')) else {
            return false;
        };
        if found == opaque {
            return true;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_wherever_it_stands_in_the_list() {
        for line in [
            "W/\"abc\"",
            "\"abc\"",
            "*",
            " * ",
            "\"x\", W/\"abc\"",
            "W/\"x,y\",\"abc\" , \"z\"",
            ",, \"abc\"",
        ] {
            assert!(names(line, "abc"), "{line}");
        }
        for line in ["", "abc", "W/abc", "\"ab\"", "\"abc", "w/\"abc\"", "\"x\" abc", "**", "\"\""]
        {
            assert!(!names(line, "abc"), "{line}");
        }
    }

    #[test]
    fn chunks_have_the_tag_of_the_whole() {
        let whole = ResBody::from("one and two");
        let chunks = ResBody::Chunks(["one ", "and two"].into_iter().map(Into::into).collect());
        assert_eq!(of(&whole), of(&chunks));
        assert_ne!(of(&whole), of(&ResBody::from("one and three")));
        assert_eq!(of(&ResBody::None), None);
    }
}
