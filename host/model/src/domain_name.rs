//! Names of hosts, in the one spelling that everything else uses.
//!
//! *Invariant:* a [`DomainName`] is a lower-case A-label name of at least two labels (one, where it
//! was read by [`DomainName::parse_local`]), without trailing dot, and never an address in whatever
//! spelling: what was decided about the text is what gets resolved.

use std::net::IpAddr;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use serde::{Deserialize, Serialize};

use crate::Invalid;

/// A host name in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DomainName(String);

impl DomainName {
    /// Reads a name as a person writes it: `EXAMPLE.com`, `example.com.`, `bücher.de`.
    ///
    /// Refuses what could be taken for something else: URLs, ports, blanks, wildcards, single
    /// labels, addresses and every numeric spelling of one (`127.1`, `0x7f000001`).
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Err(invalid("must not be empty"));
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || NEVER.contains(c)) {
            return Err(invalid("must be a bare host name, without scheme, port, path or blanks"));
        }
        // UTS 46, non-transitional, ContextJ on. Which ASCII characters are fine is judged on
        // the labels below, after full-width and circled forms were mapped.
        let ascii = Uts46::new()
            .to_ascii(text.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore)
            .map_err(|_| invalid("must be a valid host name"))?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        if name.len() > LONGEST_NAME {
            return Err(invalid("must have at most 253 characters"));
        }
        if !name.split('.').all(is_label) {
            return Err(invalid("must be a valid host name"));
        }
        let Some((_, last)) = name.rsplit_once('.') else {
            return Err(invalid("must have at least two labels, such as example.com"));
        };
        if is_number(last) {
            return Err(invalid("must be a host name, not an address or a number"));
        }
        Ok(Self(name.to_owned()))
    }

    /// The same, also of one label, as machines are called in a network of one's own: `db01`,
    /// `localhost`.
    pub fn parse_local(text: &str) -> Result<Self, Invalid> {
        let label = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if is_label(&label) && !is_number(&label) { Ok(Self(label)) } else { Self::parse(text) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it never leads to a public host: it has one label, or its last one is reserved (RFC
    /// 6761 and others), or undelegated and in private use. `test` and `invalid` are not among them:
    /// nobody's machines have such names, and things are tried out with them.
    pub fn is_special_use(&self) -> bool {
        self.0.rsplit_once('.').is_none_or(|(_, last)| SPECIAL_USE.contains(&last))
    }
}

impl std::fmt::Display for DomainName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for DomainName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl TryFrom<String> for DomainName {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl From<DomainName> for String {
    fn from(name: DomainName) -> Self {
        name.0
    }
}

/// What an on-demand check may be pointed at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Name(DomainName),
    Address(IpAddr),
}

impl Target {
    /// An IP literal in the spelling that `IpAddr` itself reads (no brackets, no zone), or a name.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(address) => Ok(Self::Address(address)),
            Err(_) => DomainName::parse(text).map(Self::Name),
        }
    }

    /// The same, also a name of one label.
    pub fn parse_local(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(address) => Ok(Self::Address(address)),
            Err(_) => DomainName::parse_local(text).map(Self::Name),
        }
    }
}

impl From<DomainName> for Target {
    fn from(name: DomainName) -> Self {
        Self::Name(name)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}

fn invalid(reason: &'static str) -> Invalid {
    Invalid::new("domain", reason)
}

/// Underscores are legal in names that are only looked up; hyphens stand between others.
pub(crate) fn is_label(label: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(allowed)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether some programs would read an address where this is the last label.
fn is_number(label: &str) -> bool {
    label.starts_with("0x") || label.bytes().all(|b| b.is_ascii_digit())
}

/// What would make it a URL, a port, a user, a query, an escape or a bracketed address.
const NEVER: &str = r"/\:@?#%[]";

const LONGEST_NAME: usize = 253;

const SPECIAL_USE: [&str; 11] = [
    "localhost",
    "local",
    "internal",
    "onion",
    "alt",
    "arpa",
    "lan",
    "home",
    "corp",
    "localdomain",
    "consul",
];

#[cfg(test)]
mod tests;
