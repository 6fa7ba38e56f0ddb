//! Takes an address out of a sentence that somebody else wrote.
//!
//! Receivers like to quote what they were asked for, and a plugin may quote the receiver; the
//! sentence is stored with the delivery and logged.

use std::cmp::Reverse;

/// `text` without `url`, its path and its query. Pieces too short to be a secret stay.
pub(super) fn veiled(text: &str, url: &str) -> String {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    let path = url[behind_scheme..].find('/').map(|at| &url[behind_scheme + at..]);
    let query = url.split_once('?').map(|(_, query)| query);
    let values = query.into_iter().flat_map(|query| query.split('&'));
    let values = values.filter_map(|pair| pair.split_once('=').map(|(_, value)| value));
    let steps = path.into_iter().flat_map(|path| path.split(['/', '?']).skip(1));
    let pieces = [Some(url), path, query].into_iter().flatten().chain(values).chain(steps);
    let mut pieces: Vec<&str> = pieces.filter(|piece| piece.len() >= SHORTEST).collect();
    // The longest first: a part of it would leave the rest behind.
    pieces.sort_by_key(|piece| Reverse(piece.len()));
    pieces.into_iter().fold(text.to_owned(), |text, piece| text.replace(piece, "…"))
}

const SHORTEST: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_an_address_that_may_be_a_secret_is_left() {
        let url = "https://hooks.example/services/T01234567/hunter2hunter2?token=opensesame&v=1";
        for (text, expected) in [
            (format!("no such hook: {url}"), "no such hook: …"),
            (
                "cannot POST /services/T01234567/hunter2hunter2?token=opensesame&v=1".to_owned(),
                "cannot POST …",
            ),
            ("unknown query token=opensesame&v=1".to_owned(), "unknown query …"),
            ("the token opensesame is wrong".to_owned(), "the token … is wrong"),
            ("hunter2hunter2 was revoked".to_owned(), "… was revoked"),
            ("answered 404".to_owned(), "answered 404"),
        ] {
            assert_eq!(veiled(&text, url), expected);
        }
    }

    #[test]
    fn a_secret_that_begins_like_another_is_taken_out_whole() {
        let url = "https://hooks.example/hunter2hunter3?user=hunter2";
        assert_eq!(veiled("hunter2hunter3 was revoked", url), "… was revoked");
    }

    #[test]
    fn short_addresses_leave_the_sentence_as_it_is() {
        for url in ["http://h/", "http://h", "http://h/?v=1", "", "h"] {
            assert_eq!(veiled("the hook / said v=1", url), "the hook / said v=1", "{url}");
        }
    }
}
