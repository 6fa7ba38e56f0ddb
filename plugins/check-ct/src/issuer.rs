//! Who issued a certificate, as far as sources and servers agree on how to say it.
//!
//! What all spellings of a distinguished name tell is the common name and the organisation, so
//! these two are the issuer here.
//!
//! *Invariant:* two spellings of one name are equal issuers.

use vedette_sdk::{dn, text::cut};

use crate::{
    authority::{self, Authority},
    digest::mark,
};

/// The issuer of a certificate, as shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Issuer {
    /// Common name, else organisation, unit, or the whole name.
    pub(crate) name: String,
    pub(crate) organisation: Option<String>,
}

impl Issuer {
    /// Of a distinguished name in either spelling.
    pub(crate) fn of_dn(dn: &str) -> Self {
        let dn = cut(dn, MAX_DN);
        let name = dn::Name::read(&dn);
        let organisation = name.value("O").map(|value| cut(value, MAX_NAME));
        Self { name: cut(name.label(), MAX_NAME), organisation }
    }

    /// Of what a result says. Clients may send a whole distinguished name as `issuer`.
    pub(crate) fn of_result(issuer: &str, organisation: Option<&str>) -> Self {
        let told = Self::of_dn(issuer);
        let organisation = organisation.filter(|org| !org.trim().is_empty());
        let organisation = organisation.map(|org| cut(org.trim(), MAX_NAME));
        Self { organisation: organisation.or(told.organisation), ..told }
    }

    /// What the certificates of one authority have in common: the authority itself if it is known,
    /// else its organisation, else the issuer's name. Authorities rotate their intermediates, so an
    /// accepted issuer stands for all of them. None when the certificate does not say who issued
    /// it.
    pub(crate) fn family(&self) -> Option<String> {
        if let Some(authority) = self.authority() {
            return Some(mark(&["authority", authority.name()]));
        }
        let organisation = self.organisation.as_deref().map(authority::plain);
        match organisation.filter(|plain| !plain.is_empty()) {
            Some(plain) => Some(mark(&["organisation", &plain])),
            None => (!self.name.is_empty()).then(|| mark(&["name", &folded(&self.name)])),
        }
    }

    /// The known authority behind the organisation, if it is one.
    pub(crate) fn authority(&self) -> Option<&'static Authority> {
        authority::of(self.organisation.as_deref().unwrap_or(&self.name))
    }

    /// For comparing certificates: equal for equal issuers.
    pub(crate) fn folded(&self) -> [String; 2] {
        [folded(&self.name), self.organisation.as_deref().map(folded).unwrap_or_default()]
    }

    /// For people: `R11, Let's Encrypt`.
    pub(crate) fn label(&self) -> String {
        match &self.organisation {
            Some(organisation) if *organisation != self.name => {
                format!("{}, {organisation}", self.name)
            }
            _ => self.name.clone(),
        }
    }
}

/// Lower case, runs of white space as one blank (RFC 5280, 7.1, as far as it matters here).
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// In characters.
const MAX_DN: usize = 2_000;
const MAX_NAME: usize = 128;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_spellings_are_one_issuer() {
        for (one, other) in [
            ("C=US, O=Let's Encrypt, CN=R11", "CN=R11,O=Let's Encrypt,C=US"),
            ("C=US, O=\"Acme, Inc.\", CN=Acme  CA", r"CN=acme ca,O=Acme\, Inc.,C=US"),
            ("C=FR, O=Caf\u{e9}, CN=X", r"CN=X,O=Caf\C3\A9,C=FR"),
            ("O=A, ST=Some State, CN=Z", "CN=Z,2.5.4.97=#0c01,O=A"),
        ] {
            assert_eq!(Issuer::of_dn(one).folded(), Issuer::of_dn(other).folded(), "{one}");
            assert_eq!(Issuer::of_dn(one).family(), Issuer::of_dn(other).family(), "{one}");
        }
    }

    #[test]
    fn result_of_a_client_may_carry_the_whole_name() {
        let told = Issuer::of_result("C=US, O=Let's Encrypt, CN=R11", None);
        assert_eq!(told, Issuer::of_result("R11", Some("Let's Encrypt")));
        assert_eq!(told.label(), "R11, Let's Encrypt");
        assert_eq!(Issuer::of_result("", None).family(), None);
    }

    #[test]
    fn intermediates_of_one_authority_are_one_family() {
        let family = |dn| Issuer::of_dn(dn).family();
        assert_eq!(family("C=US, O=Let's Encrypt, CN=R11"), family("C=US, O=Let's Encrypt, CN=E6"));
        assert_eq!(family("O=DigiCert Inc, CN=A"), family("O=\"DigiCert, Inc.\", CN=B"));
        assert_eq!(family("O=Lab, CN=One"), family("O=Lab, CN=Two"));
        assert_ne!(family("O=Lab, CN=One"), family("O=Other Lab, CN=One"));
        assert_ne!(family("CN=One"), family("CN=Two"));
    }

    #[test]
    fn name_is_called_by_its_most_telling_part() {
        for (dn, expected) in [
            ("C=US,O=Let's Encrypt,CN=R11", "R11"),
            ("OU=Web,O=Acme,C=US", "Acme"),
            ("C=US,OU=Web\\, Ops", "Web, Ops"),
            ("O=Smith, Jones, CN=", "Smith, Jones"),
            ("C=US", "C=US"),
            ("", ""),
        ] {
            assert_eq!(Issuer::of_dn(dn).name, expected, "{dn}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_read_and_bounded(dn in "[ -~é\"\\\\,+=]{0,300}") {
            let issuer = Issuer::of_dn(&dn);
            prop_assert!(issuer.name.chars().count() <= MAX_NAME + 1);
            let _ = (issuer.family(), issuer.folded(), issuer.label());
        }
    }
}
