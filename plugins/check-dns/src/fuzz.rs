//! The door of the fuzz targets (`tests/fuzz`): parsers that bytes alone should reach.
//!
//! It is compiled with everything else, so that it cannot go stale unnoticed; no code of the plugin
//! calls it, and a component exports nothing of it.

use crate::{canonical, record_type::RecordType};

/// The canonical set of records of each type in presentation form, and that set made canonical
/// once more.
pub fn record_sets(data: &[&str]) -> Vec<[Vec<String>; 2]> {
    let twice = |rtype| {
        let once = canonical::set(rtype, data.iter().map(|data| canonical::record(rtype, data)));
        let again = canonical::set(rtype, once.iter().map(|text| canonical::value(rtype, text)));
        [once, again]
    };
    RecordType::ALL.into_iter().map(twice).collect()
}
