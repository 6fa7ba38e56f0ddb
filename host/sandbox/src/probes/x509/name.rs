//! Distinguished names as text (RFC 4514), and single attributes of them.

use std::fmt::Write;

use crate::egress::der::{self, Element};

/// A distinguished name: the contents of its DER encoding, without the outer header.
#[derive(Clone, Copy)]
pub(super) struct Name<'a>(pub(super) &'a [u8]);

/// A type (the contents of its OID) and a value.
type Attribute<'a> = (&'a [u8], Element<'a>);

/// One relative name: types, and values as they are compared. Bytes that are no text are compared
/// as they are.
pub(super) type Folded<'a> = Vec<(&'a [u8], Result<String, &'a [u8]>)>;

impl<'a> Name<'a> {
    /// The RFC 4514 string: last attribute first, escaped. What cannot be read is left out.
    pub(super) fn to_text(self) -> String {
        let sets = self.relative_names().into_iter().rev();
        let joined = sets.map(|set| set.into_iter().map(text_of).collect::<Vec<_>>().join("+"));
        joined.collect::<Vec<_>>().join(",")
    }

    /// What a person calls it: common name, else organisation, else unit, else the whole name.
    pub(super) fn to_label(self) -> String {
        let named = [COMMON_NAME, ORGANISATION, UNIT].into_iter().find_map(|oid| self.value(oid));
        named.unwrap_or_else(|| self.to_text())
    }

    pub(super) fn common_name(self) -> Option<String> {
        self.value(COMMON_NAME)
    }

    pub(super) fn organisation(self) -> Option<String> {
        self.value(ORGANISATION)
    }

    /// What names are compared by: text without regard to case and to runs of blanks (RFC 5280
    /// section 7.1, simplified). A name lies within those that it begins with, as directories do.
    pub(super) fn folded(self) -> Vec<Folded<'a>> {
        let fold = |set: Vec<Attribute<'a>>| set.into_iter().map(|(oid, v)| (oid, folded(v)));
        self.relative_names().into_iter().map(|set| fold(set).collect()).collect()
    }

    /// The same bytes for all ways to write one name: of every type of string, in any case, and with
    /// any number of blanks. For names without text this is their encoding.
    pub(super) fn comparable(self) -> Vec<u8> {
        let attribute = |(oid, value): (&[u8], Result<String, &[u8]>)| {
            let text = |text: String| der::wrap(UTF8_STRING, text.as_bytes());
            let pair = [der::wrap(OID, oid), value.map_or_else(<[u8]>::to_vec, text)];
            der::wrap(der::SEQUENCE, &pair.concat())
        };
        let relative = |set: Folded<'_>| {
            let mut attributes: Vec<_> = set.into_iter().map(attribute).collect();
            attributes.sort();
            der::wrap(SET, &attributes.concat())
        };
        self.folded().into_iter().flat_map(relative).collect()
    }

    /// The most specific value of an attribute: the last in the order of the encoding.
    fn value(self, wanted: &[u8]) -> Option<String> {
        let attributes = self.relative_names().into_iter().rev().flatten();
        let values = attributes.filter(|(oid, _)| *oid == wanted);
        values.filter_map(|(_, value)| string(value)).find(|text| !text.is_empty())
    }

    fn relative_names(self) -> Vec<Vec<Attribute<'a>>> {
        let sets = der::elements(self.0).unwrap_or_default();
        sets.into_iter().map(attributes).collect()
    }
}

/// The dotted form of an OID.
pub(super) fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = vec![0];
    for byte in oid {
        let last = arcs.last_mut().expect("an arc is being read");
        *last = last.wrapping_mul(128) + u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            arcs.push(0);
        }
    }
    arcs.pop();
    let Some((first, rest)) = arcs.split_first() else { return String::new() };
    let root = (first / 40).min(2);
    let mut text = format!("{root}.{}", first - 40 * root);
    for arc in rest {
        write!(text, ".{arc}").expect("writing to a string does not fail");
    }
    text
}

fn attributes(set: Element<'_>) -> Vec<Attribute<'_>> {
    let members = der::elements(set.contents).unwrap_or_default().into_iter();
    let pairs = members.filter_map(|member| der::elements(member.contents));
    pairs
        .filter_map(|pair| <[_; 2]>::try_from(pair).ok())
        .map(|[oid, v]| (oid.contents, v))
        .collect()
}

fn folded(value: Element<'_>) -> Result<String, &[u8]> {
    let text = string(value).ok_or(value.raw)?;
    let words: Vec<_> = text.split_whitespace().collect();
    Ok(words.join(" ").to_lowercase())
}

/// `CN=…`; a type without a registered name is written as numbers, and then its value as hex of
/// the encoding (RFC 4514 section 2.4).
fn text_of((oid, value): Attribute<'_>) -> String {
    let registered = REGISTERED.iter().find(|(known, _)| *known == oid);
    match (registered, string(value)) {
        (Some((_, name)), Some(text)) => format!("{name}={}", escape(&text)),
        (Some((_, name)), None) => format!("{name}=#{}", hex::encode(value.raw)),
        (None, _) => format!("{}=#{}", dotted(oid), hex::encode(value.raw)),
    }
}

fn string(value: Element<'_>) -> Option<String> {
    match value.tag {
        UTF8_STRING | NUMERIC_STRING | PRINTABLE_STRING | IA5_STRING | VISIBLE_STRING => {
            Some(String::from_utf8_lossy(value.contents).into_owned())
        }
        // Everybody writes Latin-1 into these.
        TELETEX_STRING => Some(value.contents.iter().map(|byte| char::from(*byte)).collect()),
        BMP_STRING => {
            let units = value.contents.chunks_exact(2);
            let units: Vec<u16> =
                units.map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            Some(String::from_utf16_lossy(&units))
        }
        UNIVERSAL_STRING => {
            let units = value.contents.chunks_exact(4);
            let codes = units.map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
            Some(
                codes
                    .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// RFC 4514 section 2.4; control characters as hex pairs too, so that a name stays on its line.
fn escape(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        let edge = (c == ' ' && (index == 0 || index == last)) || (c == '#' && index == 0);
        if edge || matches!(c, '"' | '+' | ',' | ';' | '<' | '>' | '\\') {
            escaped.push('\\');
            escaped.push(c);
        } else if c.is_control() {
            let mut utf8 = [0; 4];
            for byte in c.encode_utf8(&mut utf8).bytes() {
                write!(escaped, "\\{byte:02x}").expect("writing to a string does not fail");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

const OID: u8 = 0x06;
const SET: u8 = 0x31;
const UTF8_STRING: u8 = 0x0c;
const NUMERIC_STRING: u8 = 0x12;
const PRINTABLE_STRING: u8 = 0x13;
const TELETEX_STRING: u8 = 0x14;
const IA5_STRING: u8 = 0x16;
const VISIBLE_STRING: u8 = 0x1a;
const UNIVERSAL_STRING: u8 = 0x1c;
const BMP_STRING: u8 = 0x1e;

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ORGANISATION: &[u8] = &[0x55, 4, 10];
const UNIT: &[u8] = &[0x55, 4, 11];

/// The short names of RFC 4514 section 3, and those of RFC 4519 that certificates carry.
const REGISTERED: [(&[u8], &str); 22] = [
    (COMMON_NAME, "CN"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (ORGANISATION, "O"),
    (UNIT, "OU"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 9], "STREET"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 13], "description"),
    (&[0x55, 4, 15], "businessCategory"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x55, 4, 41], "name"),
    (&[0x55, 4, 42], "givenName"),
    (&[0x55, 4, 43], "initials"),
    (&[0x55, 4, 44], "generationQualifier"),
    (&[0x55, 4, 46], "dnQualifier"),
    (&[0x55, 4, 97], "organizationIdentifier"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        let pair = [der::wrap(0x06, oid), der::wrap(tag, value)].concat();
        der::wrap(der::SEQUENCE, &pair)
    }

    fn set(attributes: &[Vec<u8>]) -> Vec<u8> {
        der::wrap(0x31, &attributes.concat())
    }

    #[test]
    fn a_name_is_written_from_the_end_with_its_specials_escaped() {
        let encoded = [
            set(&[attribute(&[0x55, 4, 6], PRINTABLE_STRING, b"DE")]),
            set(&[attribute(ORGANISATION, UTF8_STRING, "Müller, Söhne & Co.".as_bytes())]),
            set(&[
                attribute(UNIT, UTF8_STRING, b"#1 "),
                attribute(&[0x55, 4, 7], UTF8_STRING, b"K"),
            ]),
            set(&[attribute(COMMON_NAME, BMP_STRING, &[0, b'a', 0, b'+', 0x20, 0xac])]),
        ]
        .concat();
        let name = Name(&encoded);
        assert_eq!(name.to_text(), "CN=a\\+€,OU=\\#1\\ +L=K,O=Müller\\, Söhne & Co.,C=DE");
        assert_eq!(name.common_name().as_deref(), Some("a+€"));
        assert_eq!(name.organisation().as_deref(), Some("Müller, Söhne & Co."));
        assert_eq!(name.to_label(), "a+€");
    }

    #[test]
    fn unregistered_types_are_numbers_and_hex() {
        let oid = [0x2b, 0x06, 1, 4, 1, 0x82, 0x37, 60, 2, 1, 3];
        let encoded = set(&[attribute(&oid, PRINTABLE_STRING, b"US")]);
        assert_eq!(Name(&encoded).to_text(), "1.3.6.1.4.1.311.60.2.1.3=#13025553");
        assert_eq!(dotted(&[0x88, 0x37, 3]), "2.999.3");
    }

    #[test]
    fn a_name_lies_within_the_names_it_begins_with() {
        let country = |text: &[u8]| set(&[attribute(&[0x55, 4, 6], PRINTABLE_STRING, text)]);
        let organisation =
            |text: &str| set(&[attribute(ORGANISATION, UTF8_STRING, text.as_bytes())]);
        let name = [country(b"DE"), organisation("Example  Works"), organisation("Mill")].concat();
        for (base, within) in [
            (Vec::new(), true),
            (country(b"de"), true),
            ([country(b"DE"), organisation(" example works")].concat(), true),
            (name.clone(), true),
            (country(b"FR"), false),
            (organisation("Example Works"), false),
            ([name.clone(), country(b"DE")].concat(), false),
        ] {
            let begins = Name(&name).folded().starts_with(&Name(&base).folded());
            assert_eq!(begins, within, "{base:?}");
        }
    }

    #[test]
    fn one_name_may_be_written_in_many_ways() {
        let name = |tag: u8, text: &[u8]| {
            let country = set(&[attribute(&[0x55, 4, 6], PRINTABLE_STRING, b"DE")]);
            [country, set(&[attribute(COMMON_NAME, tag, text)])].concat()
        };
        let first = name(PRINTABLE_STRING, b"Example CA");
        for (other, same) in [
            (name(UTF8_STRING, b"Example CA"), true),
            (name(UTF8_STRING, b"EXAMPLE  ca "), true),
            (name(TELETEX_STRING, b"Example CA"), true),
            (name(BMP_STRING, b"\0E\0x\0a\0m\0p\0l\0e\0 \0C\0A"), true),
            (name(UTF8_STRING, b"ExampleCA"), false),
            (name(0x04, b"Example CA"), false),
            (set(&[attribute(COMMON_NAME, UTF8_STRING, b"Example CA")]), false),
            (Vec::new(), false),
        ] {
            let equal = Name(&first).comparable() == Name(&other).comparable();
            assert_eq!(equal, same, "{other:?}");
        }
        let pair = [attribute(UNIT, UTF8_STRING, b"A"), attribute(COMMON_NAME, UTF8_STRING, b"B")];
        let [unit, common] = pair.clone();
        let (one, other) = (set(&pair), set(&[common, unit]));
        assert_eq!(Name(&one).comparable(), Name(&other).comparable(), "a set has no order");
    }

    #[test]
    fn a_label_falls_back_to_what_there_is() {
        let unit = set(&[attribute(UNIT, UTF8_STRING, b"Class 2 CA")]);
        assert_eq!(Name(&unit).to_label(), "Class 2 CA");
        let country = set(&[attribute(&[0x55, 4, 6], PRINTABLE_STRING, b"JP")]);
        assert_eq!(Name(&country).to_label(), "C=JP");
        assert_eq!(Name(&[]).to_label(), "");
        assert_eq!(Name(b"\x31\x05junk").to_text(), "");
    }

    #[test]
    fn control_characters_do_not_reach_the_text() {
        let encoded = set(&[attribute(COMMON_NAME, UTF8_STRING, b"a\0\nb")]);
        assert_eq!(Name(&encoded).to_text(), "CN=a\\00\\0ab");
    }
}
