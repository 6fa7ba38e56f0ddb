//! The record types of the result, in its order.

/// A record type that this check asks for (spec: DNS check result).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordType {
    A,
    Aaaa,
    Cname,
    Mx,
    Txt,
    Caa,
    Ns,
}

impl RecordType {
    /// In the order of the result.
    pub(crate) const ALL: [Self; 7] =
        [Self::A, Self::Aaaa, Self::Cname, Self::Mx, Self::Txt, Self::Caa, Self::Ns];

    /// The mnemonic.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Cname => "CNAME",
            Self::Mx => "MX",
            Self::Txt => "TXT",
            Self::Caa => "CAA",
            Self::Ns => "NS",
        }
    }

    /// By its mnemonic, in any case.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rtype| rtype.name().eq_ignore_ascii_case(name.trim()))
    }

    pub(crate) fn is_address(self) -> bool {
        matches!(self, Self::A | Self::Aaaa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_read_back() {
        for rtype in RecordType::ALL {
            assert_eq!(RecordType::parse(&rtype.name().to_lowercase()), Some(rtype));
        }
        assert_eq!(RecordType::parse("SOA"), None);
    }
}
