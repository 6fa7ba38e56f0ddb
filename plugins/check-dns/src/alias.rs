//! Chains of aliases.
//!
//! *Invariant:* a chain is followed over at most [`MAX_LINKS`] links, wherever they lead.

use std::collections::BTreeMap;

use vedette_sdk::dns::Rr;

use crate::canonical;

/// Links of a chain; one with more leads nowhere.
pub(crate) const MAX_LINKS: usize = 8;

/// The names from a target to where its aliases end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The target first.
    names: Vec<String>,
    /// A loop, or too long.
    pub(crate) endless: bool,
}

impl Chain {
    /// Follows the aliases among `records` from `target`. Of several of one owner the first counts.
    pub(crate) fn follow<'a>(target: &str, records: impl IntoIterator<Item = &'a Rr>) -> Self {
        let mut aliases: BTreeMap<String, String> = BTreeMap::new();
        for alias in records.into_iter().filter(|rr| rr.rrtype.eq_ignore_ascii_case("CNAME")) {
            let owner = canonical::name(&alias.name);
            aliases.entry(owner).or_insert_with(|| canonical::name(&alias.data));
        }
        let mut chain = Self { names: vec![canonical::name(target)], endless: false };
        while let Some(next) = aliases.get(chain.end()) {
            chain.extend(next.clone());
            if chain.endless {
                break;
            }
        }
        chain
    }

    /// Adds one link.
    pub(crate) fn extend(&mut self, next: String) {
        self.endless |= self.links() == MAX_LINKS || self.names.contains(&next);
        self.names.push(next);
    }

    pub(crate) fn links(&self) -> usize {
        self.names.len() - 1
    }

    /// The last name.
    pub(crate) fn end(&self) -> &str {
        self.names.last().expect("a chain has at least its target")
    }

    /// Whether records of this owner are about the target.
    pub(crate) fn passes(&self, owner: &str) -> bool {
        let owner = canonical::name(owner);
        self.names.contains(&owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::rr;

    fn chain(target: &str, links: &[(&str, &str)]) -> Chain {
        let records: Vec<Rr> = links.iter().map(|(from, to)| rr(from, "CNAME", to)).collect();
        Chain::follow(target, &records)
    }

    #[test]
    fn chain_is_followed_whatever_the_order_and_the_case() {
        let found = chain("a.example", &[("B.example.", "c.example."), ("a.example", "B.Example")]);
        assert_eq!((found.end(), found.links(), found.endless), ("c.example", 2, false));
        assert!(found.passes("B.EXAMPLE.") && !found.passes("d.example"));
        assert_eq!(chain("a.example", &[("x.example", "y.example")]).links(), 0);
    }

    #[test]
    fn loops_and_long_chains_are_endless() {
        assert!(chain("a.example", &[("a.example", "a.example")]).endless);
        assert!(
            chain("a.example", &[("a.example", "b.example"), ("b.example", "a.example")]).endless
        );
        let names: Vec<String> = (0..12).map(|n| format!("n{n}.example")).collect();
        let links: Vec<(&str, &str)> =
            names.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        assert!(!chain("n0.example", &links[..8]).endless);
        assert!(chain("n0.example", &links[..9]).endless);
    }

    #[test]
    fn first_alias_of_an_owner_counts() {
        let found = chain("a.example", &[("a.example", "b.example"), ("a.example", "c.example")]);
        assert_eq!(found.end(), "b.example");
    }
}
