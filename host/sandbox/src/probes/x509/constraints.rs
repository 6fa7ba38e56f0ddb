//! Name constraints: the names that a CA may issue for (RFC 5280 section 4.2.1.10).
//!
//! *Invariant:* what cannot be understood permits nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    certificate::Parsed,
    extensions::{DNS_NAME, IP_ADDRESS},
    name::{Folded, Name},
};
use crate::egress::der::{self, Element};

/// Subtrees, each of one form of name.
pub(super) struct Constraints<'a> {
    permitted: Vec<General<'a>>,
    excluded: Vec<General<'a>>,
}

/// What may still be spent on comparisons, one search after the other: the octets of both names, and
/// one where they are not of the same form.
pub(super) struct Allowance(AtomicUsize);

/// A name of a certificate or the base of a subtree, read once for all comparisons.
struct General<'a> {
    element: Element<'a>,
    /// The relative names of a directoryName; none where they cannot be read.
    directory: Option<Vec<Folded<'a>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Permitted,
    Excluded,
}

impl<'a> Constraints<'a> {
    /// Reads the contents of a NameConstraints; none where it is malformed.
    pub(super) fn read(contents: &'a [u8]) -> Option<Self> {
        let mut constraints = Self { permitted: Vec::new(), excluded: Vec::new() };
        for list in der::elements(contents)? {
            let subtrees = der::elements(list.contents)?.into_iter();
            let subtrees = subtrees.map(|subtree| base(subtree).map(General::of));
            let subtrees = subtrees.collect::<Option<Vec<_>>>()?;
            match list.tag {
                PERMITTED => constraints.permitted = subtrees,
                EXCLUDED => constraints.excluded = subtrees,
                _ => return None,
            }
        }
        Some(constraints)
    }

    /// Whether they allow every name of a certificate: its alternative names of all kinds, and its
    /// subject. When nothing is left of the allowance they allow nothing.
    pub(super) fn allow(&self, certificate: &Parsed, left: &Allowance) -> bool {
        let Some(names) = der::elements(&certificate.alternatives) else { return false };
        let subject = der::wrap(der::SEQUENCE, &certificate.subject);
        let subject = der::wrap(DIRECTORY_NAME, &subject);
        let subject = der::element(&subject).map(|(subject, _)| subject);
        let subject = subject.filter(|_| !certificate.subject.is_empty());
        let mut names = names.into_iter().chain(subject);
        names.all(|name| self.allows(name, left))
    }

    fn allows(&self, name: Element<'_>, left: &Allowance) -> bool {
        let of_its_form = |base: &&General<'_>| base.element.tag == name.tag;
        let bases = self.permitted.iter().chain(&self.excluded);
        let costs = bases.map(|base| {
            let both = base.element.raw.len() + name.raw.len();
            if of_its_form(&base) { both } else { 1 }
        });
        if !left.spend(costs.sum()) {
            return false;
        }
        let mut excluded = self.excluded.iter().filter(of_its_form).peekable();
        let mut permitted = self.permitted.iter().filter(of_its_form).peekable();
        if excluded.peek().is_none() && permitted.peek().is_none() {
            return true;
        }
        let name = General::of(name);
        let outside = |base| !is_inside(&name, base, List::Excluded).unwrap_or(true);
        let inside = |base| is_inside(&name, base, List::Permitted).unwrap_or(false);
        excluded.all(outside) && (permitted.peek().is_none() || permitted.any(inside))
    }
}

impl Allowance {
    pub(super) fn new(left: usize) -> Self {
        Self(AtomicUsize::new(left))
    }

    /// False where it does not suffice; nothing is left then.
    fn spend(&self, cost: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(cost), Ordering::Relaxed);
        cost <= left
    }
}

impl<'a> General<'a> {
    fn of(element: Element<'a>) -> Self {
        let directory = (element.tag == DIRECTORY_NAME).then(|| der::contents(element.contents));
        let directory = directory.flatten().filter(|names| der::elements(names).is_some());
        Self { element, directory: directory.map(|names| Name(names).folded()) }
    }
}

/// GeneralSubtree: `minimum` is 0, `maximum` absent (RFC 5280: the fields are not used).
fn base(subtree: Element<'_>) -> Option<Element<'_>> {
    match der::elements(subtree.contents)?[..] {
        [base] => Some(base),
        [base, minimum] if minimum.tag == MINIMUM && minimum.contents == [0] => Some(base),
        _ => None,
    }
}

/// Whether a name lies in the subtree of a base of the same form; none where that cannot be told.
fn is_inside(name: &General<'_>, base: &General<'_>, list: List) -> Option<bool> {
    let (contents, base_contents) = (name.element.contents, base.element.contents);
    match name.element.tag {
        DNS_NAME => Some(is_below(contents, base_contents, list)),
        IP_ADDRESS => is_in_network(contents, base_contents),
        DIRECTORY_NAME => Some(name.directory.as_ref()?.starts_with(base.directory.as_ref()?)),
        MAIL_ADDRESS => is_mail_of(contents, base_contents),
        URI => is_host_in(host(contents)?, base_contents),
        _ => None,
    }
}

/// A base without a leading dot has its own name in it, too; an empty one has everything. A
/// wildcard is excluded with any name that it may stand for.
fn is_below(name: &[u8], base: &[u8], list: List) -> bool {
    if base.is_empty() {
        return true;
    }
    let above = name.len().checked_sub(base.len()).map(|at| name.split_at(at));
    let ends = above.filter(|(_, end)| end.eq_ignore_ascii_case(base));
    let inside = ends.is_some_and(|(rest, _)| match base.first() {
        Some(b'.') => !rest.is_empty(),
        _ => rest.is_empty() || rest.ends_with(b"."),
    });
    let wildcard = name.strip_prefix(b"*.").filter(|_| list == List::Excluded);
    inside
        || wildcard.is_some_and(|suffix| {
            let dot = base.iter().position(|byte| *byte == b'.').filter(|at| *at > 0);
            dot.is_some_and(|at| base[at + 1..].eq_ignore_ascii_case(suffix))
        })
}

/// Address and mask, of the same family.
fn is_in_network(address: &[u8], network: &[u8]) -> Option<bool> {
    if !matches!(address.len(), 4 | 16) || !matches!(network.len(), 8 | 32) {
        return None;
    }
    let (base, mask) = network.split_at(network.len() / 2);
    let same = |((a, b), mask): ((&u8, &u8), &u8)| a & mask == b & mask;
    Some(address.len() == base.len() && address.iter().zip(base).zip(mask).all(same))
}

/// A base is a mailbox, a host, or `.` and a domain.
fn is_mail_of(address: &[u8], base: &[u8]) -> Option<bool> {
    let split = |text: &'_ [u8]| text.iter().rposition(|byte| *byte == b'@');
    let at = split(address)?;
    let (local, host) = (&address[..at], &address[at + 1..]);
    let Some(at) = split(base) else { return is_host_in(host, base) };
    Some(*local == base[..at] && host.eq_ignore_ascii_case(&base[at + 1..]))
}

/// A base is a host alone, or `.` and a domain for all hosts in it.
fn is_host_in(host: &[u8], base: &[u8]) -> Option<bool> {
    Some(match base.first() {
        Some(b'.') => is_below(host, base, List::Permitted),
        _ => host.eq_ignore_ascii_case(base),
    })
}

/// The host of a URI, without user and port.
fn host(uri: &[u8]) -> Option<&[u8]> {
    let start = uri.windows(3).position(|three| three == b"://")? + 3;
    let authority = uri[start..].split(|byte| b"/?#".contains(byte)).next()?;
    let host = authority.rsplit(|byte| *byte == b'@').next()?;
    let host = host.split(|byte| *byte == b':').next()?;
    (!host.is_empty()).then_some(host)
}

/// NameConstraints: `[0]` and `[1]`, implicit.
const PERMITTED: u8 = 0xa0;
const EXCLUDED: u8 = 0xa1;
/// GeneralSubtree: `[0]`, implicit.
const MINIMUM: u8 = 0x80;
/// GeneralName: `[1]` and `[6]`, implicit, and `[4]`, explicit.
const MAIL_ADDRESS: u8 = 0x81;
const DIRECTORY_NAME: u8 = 0xa4;
const URI: u8 = 0x86;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lie_below_a_base_by_whole_labels() {
        for (name, base, inside) in [
            ("example.com", "example.com", true),
            ("EXAMPLE.com", "example.COM", true),
            ("www.example.com", "example.com", true),
            ("a.b.example.com", "example.com", true),
            ("badexample.com", "example.com", false),
            ("com", "example.com", false),
            ("example.com", ".example.com", false),
            ("www.example.com", ".example.com", true),
            ("badexample.com", ".example.com", false),
            (".example.com", ".example.com", false),
            ("anything", "", true),
            ("example.com", "com", true),
            ("example.com.evil", "example.com", false),
            ("*.example.com", "example.com", true),
            ("*.example.com", ".example.com", true),
            ("*.example.com", "www.example.com", false),
        ] {
            let found = is_below(name.as_bytes(), base.as_bytes(), List::Permitted);
            assert_eq!(found, inside, "{name} below {base}");
        }
    }

    #[test]
    fn a_wildcard_is_excluded_with_what_it_may_stand_for() {
        for (base, excluded) in [
            ("www.example.com", true),
            ("example.com", true),
            (".example.com", true),
            ("a.www.example.com", false),
            (".www.example.com", false),
            ("example.org", false),
        ] {
            let found = is_below(b"*.example.com", base.as_bytes(), List::Excluded);
            assert_eq!(found, excluded, "*.example.com in {base}");
        }
    }

    #[test]
    fn addresses_lie_in_networks_of_their_family() {
        let ten = [10, 0, 0, 0, 255, 0, 0, 0];
        assert_eq!(is_in_network(&[10, 9, 8, 7], &ten), Some(true));
        assert_eq!(is_in_network(&[11, 9, 8, 7], &ten), Some(false));
        assert_eq!(is_in_network(&[0; 16], &ten), Some(false));
        assert_eq!(is_in_network(&[0; 16], &[0; 32]), Some(true));
        assert_eq!(is_in_network(&[10, 9, 8, 7], &ten[..5]), None);
        assert_eq!(is_in_network(&[10, 9, 8], &ten), None);
    }

    #[test]
    fn mail_and_uris_are_judged_by_their_host() {
        for (address, base, inside) in [
            ("a@example.com", "a@example.com", Some(true)),
            ("b@example.com", "a@example.com", Some(false)),
            ("a@EXAMPLE.com", "example.com", Some(true)),
            ("a@www.example.com", "example.com", Some(false)),
            ("a@www.example.com", ".example.com", Some(true)),
            ("nobody", "example.com", None),
        ] {
            let found = is_mail_of(address.as_bytes(), base.as_bytes());
            assert_eq!(found, inside, "{address} of {base}");
        }
        for (uri, expected) in [
            ("https://user@www.example.com:8443/x?y", Some("www.example.com")),
            ("https://www.example.com#@other.example", Some("www.example.com")),
            ("urn:uuid:1", None),
            ("https:///x", None),
        ] {
            let found = host(uri.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{uri}");
        }
    }

    #[test]
    fn what_is_malformed_permits_nothing() {
        let dns = |base: &[u8]| der::wrap(DNS_NAME, base);
        let subtrees = |tag: u8, bases: &[Vec<u8>]| {
            let bases: Vec<_> = bases.iter().map(|base| der::wrap(der::SEQUENCE, base)).collect();
            der::wrap(tag, &bases.concat())
        };
        let with_minimum = [dns(b"example.com"), der::wrap(MINIMUM, &[1])].concat();
        let with_zero = [dns(b"example.com"), der::wrap(MINIMUM, &[0])].concat();
        assert!(Constraints::read(&subtrees(PERMITTED, &[with_minimum])).is_none());
        assert!(Constraints::read(&subtrees(0xa2, &[dns(b"example.com")])).is_none());
        assert!(Constraints::read(&[PERMITTED, 5]).is_none());
        let contents = subtrees(PERMITTED, &[with_zero]);
        let read = Constraints::read(&contents).expect("nothing is wrong with it");
        let presented = der::wrap(DNS_NAME, b"www.example.com");
        let (name, _) = der::element(&presented).expect("an element");
        let left = Allowance::new(presented.len() + dns(b"example.com").len());
        assert!(read.allows(name, &left));
        assert!(!read.allows(name, &left), "nothing is left to spend");
    }
}
