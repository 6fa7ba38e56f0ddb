//! A JSON array read item by item, so that what an item becomes is all that is kept of it.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};

/// Hands each item to `take` until it answers false, which is an error: the array is longer than
/// anybody reads.
pub(crate) fn read_each<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    take: impl FnMut(T) -> bool,
) -> Result<(), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(body);
    json.deserialize_seq(Items(take, PhantomData))?;
    json.end()
}

struct Items<F, T>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> bool> Visitor<'de> for Items<F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if !(self.0)(item) {
                return Err(A::Error::custom("more items than are read"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(body: &str) -> Option<u32> {
        let mut sum = 0;
        let read = read_each(body.as_bytes(), |item: u32| {
            sum += item;
            sum < 10
        });
        read.ok().map(|()| sum)
    }

    #[test]
    fn only_whole_arrays_of_the_right_items_are_read() {
        for (body, expected) in [
            ("[]", Some(0)),
            (" [1, 2] ", Some(3)),
            ("[1,2", None),
            ("[1,\"2\"]", None),
            ("{}", None),
            ("[1] [2]", None),
            ("[9, 9]", None),
            ("<html>", None),
            ("", None),
        ] {
            assert_eq!(sum(body), expected, "{body}");
        }
    }
}
