//! A result as comparisons see it.

use std::collections::BTreeMap;

use crate::{
    canonical,
    facts::NXDOMAIN,
    record_type::RecordType,
    result::{DnsResult, Dnssec},
};

/// What one result says. Types that failed are missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub(super) domain: String,
    /// Whether there is such a name.
    pub(super) exists: bool,
    sets: BTreeMap<RecordType, Vec<String>>,
    pub(super) dnssec: Option<Dnssec>,
    pub(super) rotating: bool,
    /// Addresses that the name showed in the run besides those of its sets.
    pub(super) turns: Vec<String>,
}

impl State {
    /// Made canonical here too: a result may come from anyone.
    pub(super) fn of(result: &DnsResult) -> Self {
        // Behind any other error, no values may as well mean no answer.
        let exists = result.error.as_deref() != Some(NXDOMAIN);
        let is_sure = result.error.is_none() || !exists;
        let set = |rtype: RecordType| {
            let values = result.values(rtype).map(|text| canonical::value(rtype, text));
            canonical::set(rtype, values)
        };
        let answered = RecordType::ALL.into_iter().filter(|rtype| !result.failed(*rtype));
        let sets = answered.map(|rtype| (rtype, set(rtype)));
        Self {
            domain: canonical::name(&result.domain).chars().take(MAX_DOMAIN).collect(),
            exists,
            sets: sets.filter(|(_, set)| is_sure || !set.is_empty()).collect(),
            dnssec: result.dnssec,
            rotating: result.rotating,
            turns: result.turns.clone(),
        }
    }

    /// The set of a type; none = not known.
    pub(super) fn set(&self, rtype: RecordType) -> Option<&[String]> {
        self.sets.get(&rtype).map(Vec::as_slice)
    }

    /// Whether the name has an address of either family, as far as is known.
    pub(super) fn has_address(&self) -> bool {
        let addresses = [RecordType::A, RecordType::Aaaa].into_iter();
        addresses.filter_map(|rtype| self.set(rtype)).any(|set| !set.is_empty())
    }
}

/// Of a name, in characters.
const MAX_DOMAIN: usize = 253;
