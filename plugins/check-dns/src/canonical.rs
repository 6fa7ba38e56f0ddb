//! Record sets in their one canonical form: what is equal in meaning is equal in bytes.
//!
//! *Invariant:* canonical sets are sorted, without duplicates, bounded in number and size, and
//! stay what they are when they are made canonical again.

use std::{
    cmp::Ordering,
    net::{Ipv4Addr, Ipv6Addr},
};

use crate::{
    presentation::{self, Within},
    record_type::RecordType,
};

/// Values of one type that a result lists; of more, the first in order.
pub(crate) const MAX_VALUES: usize = 1024;
/// Bytes of JSON that the values of one type may take, so that a result of all types stays below
/// 256 KiB.
const MAX_BYTES: usize = 44 << 10;
/// Of one TXT or CAA value.
const MAX_RAW: usize = 8 << 10;

/// The value that one record stands for. `data`: presentation form, as the host gives it.
pub(crate) fn record(rtype: RecordType, data: &str) -> String {
    match rtype {
        RecordType::Txt => {
            let raw = bounded(presentation::bytes(data));
            presentation::shown(&raw, Within::Nothing)
        }
        _ => value(rtype, data),
    }
}

/// The canonical form of a value as a result has it. What cannot be read stays as it is.
pub(crate) fn value(rtype: RecordType, text: &str) -> String {
    let trimmed = text.trim();
    let read = match rtype {
        RecordType::A => trimmed.parse().ok().map(|address: Ipv4Addr| address.to_string()),
        RecordType::Aaaa => trimmed.parse().ok().map(|address: Ipv6Addr| address.to_string()),
        RecordType::Cname | RecordType::Ns => Some(name(trimmed)),
        RecordType::Mx => mail_exchange(trimmed).map(|(preference, host)| {
            let host = if host.is_empty() { "." } else { &host };
            format!("{preference} {host}")
        }),
        RecordType::Txt => Some(presentation::shown(text.as_bytes(), Within::Nothing)),
        RecordType::Caa => authorization(trimmed),
    };
    read.unwrap_or_else(|| trimmed.to_owned())
}

/// A canonical set of canonical values.
pub(crate) fn set(rtype: RecordType, values: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut keyed: Vec<(Key, String)> =
        values.into_iter().map(|value| (Key::of(rtype, &value), value)).collect();
    keyed.sort_unstable();
    let mut values: Vec<String> = keyed.into_iter().map(|(_, value)| value).collect();
    values.dedup();
    let one = if rtype == RecordType::Cname { 1 } else { MAX_VALUES };
    values.truncate(one);
    let mut bytes = 0;
    let fitting = values.iter().take_while(|value| {
        bytes += json_len(value);
        bytes <= MAX_BYTES
    });
    let fitting = fitting.count();
    values.truncate(fitting);
    values
}

/// Whether a value stands before another in a canonical set.
pub(crate) fn precedes(rtype: RecordType, value: &str, other: &str) -> bool {
    (Key::of(rtype, value), value) < (Key::of(rtype, other), other)
}

/// Lower case, without trailing dot; the root is empty.
pub(crate) fn name(text: &str) -> String {
    let end = |c: char| c == '.' || c.is_whitespace();
    text.trim_start().trim_end_matches(end).to_ascii_lowercase()
}

/// Bytes that a text takes in JSON, with its quotes and a comma.
pub(crate) fn json_len(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum::<usize>() + 3
}

/// By what values are ordered: addresses and preferences as numbers, the unreadable last.
#[derive(PartialEq, Eq)]
enum Key {
    Number(u128),
    Text,
}

impl Key {
    fn of(rtype: RecordType, value: &str) -> Self {
        let number = match rtype {
            RecordType::A => value.parse().ok().map(|a: Ipv4Addr| u128::from(u32::from(a))),
            RecordType::Aaaa => value.parse().ok().map(|a: Ipv6Addr| u128::from(a)),
            RecordType::Mx => mail_exchange(value).map(|(preference, _)| preference.into()),
            RecordType::Cname | RecordType::Txt | RecordType::Caa | RecordType::Ns => None,
        };
        number.map_or(Self::Text, Self::Number)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.cmp(two),
            (Self::Number(_), Self::Text) => Ordering::Less,
            (Self::Text, Self::Number(_)) => Ordering::Greater,
            (Self::Text, Self::Text) => Ordering::Equal,
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn mail_exchange(text: &str) -> Option<(u16, String)> {
    let mut words = text.split_ascii_whitespace();
    let (preference, host) = (words.next()?.parse().ok()?, words.next()?);
    words.next().is_none().then(|| (preference, name(host)))
}

/// RFC 8659 section 4.1.1: flags, tag, value.
fn authorization(text: &str) -> Option<String> {
    let (flags, rest) = text.split_once([' ', '\t'])?;
    let (tag, property) = rest.trim_start().split_once([' ', '\t'])?;
    let flags: u8 = flags.parse().ok()?;
    let is_tag = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_graphic());
    is_tag.then(|| {
        let raw = bounded(presentation::bytes(property));
        let shown = presentation::shown(&raw, Within::Quotes);
        format!("{flags} {} \"{shown}\"", tag.to_ascii_lowercase())
    })
}

fn bounded(mut raw: Vec<u8>) -> Vec<u8> {
    const ELLIPSIS: &[u8] = "…".as_bytes();
    if raw.len() > MAX_RAW {
        raw.truncate(MAX_RAW - ELLIPSIS.len());
        raw.extend(ELLIPSIS);
    }
    raw
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    fn of(rtype: RecordType, data: &[&str]) -> Vec<String> {
        set(rtype, data.iter().map(|data| record(rtype, data)))
    }

    #[test]
    fn equal_records_have_one_form() {
        use RecordType::*;
        let table: &[(RecordType, &str, &str)] = &[
            (A, "192.0.2.1", "192.0.2.1"),
            (Aaaa, "2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            (Aaaa, "::FFFF:192.0.2.1", "::ffff:192.0.2.1"),
            (Cname, "CDN.Example.NET.", "cdn.example.net"),
            (Ns, "NS1.example.com.", "ns1.example.com"),
            (Mx, "10 Mail.Example.com.", "10 mail.example.com"),
            (Mx, "010   mail.example.com", "10 mail.example.com"),
            (Mx, "0 .", "0 ."),
            (Txt, r#""v=spf1 " "-all""#, "v=spf1 -all"),
            (Txt, r#""say \"no\" \\""#, "say \"no\" \\"),
            (Txt, r#""\000\255\195\169""#, r"\000\255é"),
            (Txt, r#""Case Counts ""#, "Case Counts "),
            (Caa, r#"0 ISSUE "ca.example""#, r#"0 issue "ca.example""#),
            (Caa, "128 issue ca.example", r#"128 issue "ca.example""#),
            (Caa, r#"0 issue ";""#, r#"0 issue ";""#),
            (Caa, r#"0 iodef "a\"b\007""#, r#"0 iodef "a\"b\007""#),
        ];
        for (rtype, data, expected) in table {
            assert_eq!(record(*rtype, data), *expected, "{rtype:?} {data}");
        }
    }

    #[test]
    fn unreadable_values_stay_what_they_are() {
        use RecordType::*;
        for (rtype, data) in
            [(A, "192.0.2.256"), (Aaaa, "fe80::1%eth0"), (Mx, "mail"), (Caa, "256 issue \"x\"")]
        {
            assert_eq!(record(rtype, data), data);
        }
    }

    #[test]
    fn sets_are_sorted_by_what_their_values_mean() {
        use RecordType::*;
        assert_eq!(
            of(A, &["192.0.2.10", "192.0.2.9", "10.0.0.1", "192.0.2.9"]),
            ["10.0.0.1", "192.0.2.9", "192.0.2.10"],
        );
        assert_eq!(of(Aaaa, &["2001:db8::10", "2001:db8::9"]), ["2001:db8::9", "2001:db8::10"]);
        assert_eq!(of(Mx, &["10 b.", "9 z.", "10 A."]), ["9 z", "10 a", "10 b"]);
        assert_eq!(of(Txt, &["\"b\"", "\"B\"", "\"a\""]), ["B", "a", "b"]);
        assert_eq!(of(Cname, &["a.example."]), ["a.example"]);
    }

    #[test]
    fn large_sets_are_cut_and_fit_the_result() {
        let addresses = (0..5_000_u32).rev().map(|n| Ipv4Addr::from(0x0a00_0000 + n).to_string());
        let cut = set(RecordType::A, addresses);
        assert_eq!(cut.len(), MAX_VALUES);
        assert_eq!(cut[0], "10.0.0.0");
        let thousand = (0..1_000_u32).map(|n| Ipv4Addr::from(n << 20).to_string());
        assert_eq!(set(RecordType::A, thousand).len(), 1_000);

        let worst = record(RecordType::Txt, &format!("\"{}\"", r"\000".repeat(60_000)));
        let texts = set(RecordType::Txt, [worst]);
        assert_eq!(texts.len(), 1);
        assert!(serde_json::to_string(&texts).expect("it has a form in JSON").len() < 45 << 10);
    }

    /// What strangers put into records.
    fn data() -> impl Strategy<Value = String> {
        prop_oneof![
            ".{0,40}",
            "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
            "[0-9a-fA-F:]{2,20}",
            "[0-9]{1,5} +[a-zA-Z.]{0,12}",
            "[0-9]{1,3} [a-zA-Z]{1,8} \"?[ -~\\\\é]{0,20}\"?",
            "\"[ -~]{0,20}(\\\\[0-9]{0,3}){0,4}\"",
            "[a-zA-Z.\\\\]{0,20}\\.{0,3}",
        ]
    }

    proptest! {
        #[test]
        fn canonical_sets_stay_canonical(
            rtype in select(RecordType::ALL.to_vec()),
            data in vec(data(), 0..12),
        ) {
            let once = set(rtype, data.iter().map(|data| record(rtype, data)));
            let twice = set(rtype, once.iter().map(|text| value(rtype, text)));
            prop_assert_eq!(&once, &twice);
            let shuffled = data.iter().rev().chain(&data).map(|data| record(rtype, data));
            if rtype != RecordType::Cname {
                prop_assert_eq!(once, set(rtype, shuffled));
            }
        }

        #[test]
        fn posted_sets_are_made_canonical_at_once(
            rtype in select(RecordType::ALL.to_vec()),
            values in vec(data(), 0..12),
        ) {
            let once = set(rtype, values.iter().map(|text| value(rtype, text)));
            let twice = set(rtype, once.iter().map(|text| value(rtype, text)));
            prop_assert_eq!(once, twice);
        }
    }
}
