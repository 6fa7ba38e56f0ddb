//! What holds after any sequence of results.

use proptest::prelude::*;

use super::*;

fn any_result() -> impl Strategy<Value = DnsResult> {
    let address = proptest::sample::select(vec!["192.0.2.1", "192.0.2.2", "192.0.2.3", "x"]);
    let rtype = proptest::sample::select(vec!["A", "AAAA", "CNAME", "MX", "TXT", "NS", "a", "SOA"]);
    let error = proptest::sample::select(vec![
        None,
        None,
        None,
        Some("nxdomain"),
        Some("servfail"),
        Some("timeout"),
        Some(""),
    ]);
    let set = (rtype.clone(), proptest::collection::vec(address, 0..4));
    let dnssec = proptest::option::of((any::<bool>(), proptest::option::of(any::<bool>())));
    (
        proptest::collection::vec(set, 0..6),
        proptest::collection::vec(rtype, 0..3),
        dnssec,
        error,
        any::<bool>(),
    )
        .prop_map(|(sets, failed, dnssec, error, rotating)| DnsResult {
            domain: NAME.to_owned(),
            records: sets
                .into_iter()
                .map(|(rtype, values)| crate::result::RecordSet {
                    rtype: rtype.to_owned(),
                    values: values.into_iter().map(str::to_owned).collect(),
                })
                .collect(),
            failed_types: failed.into_iter().map(str::to_owned).collect(),
            rotating,
            turns: Vec::new(),
            dnssec: dnssec.map(|(enabled, valid)| Dnssec { enabled, valid }),
            error: error.map(str::to_owned),
        })
}

proptest! {
    #[test]
    fn any_history_ends_in_silence_when_nothing_changes_any_more(
        history in proptest::collection::vec(any_result(), 0..12),
        last in any_result(),
    ) {
        let mut site = Site::new();
        for current in history {
            site.run(current);
        }
        site.counts(&last, 3);
        prop_assert_eq!(site.judge(last.clone()).findings, vec![]);
        let before = site.raised.len();
        site.counts(&last, 3);
        prop_assert_eq!(site.raised.len(), before);
    }

    #[test]
    fn what_is_raised_was_reported_with_enough_confirmations(
        history in proptest::collection::vec(any_result(), 1..12),
    ) {
        let mut site = Site::new();
        let mut previous: Option<DnsResult> = None;
        for current in history {
            let raised = !site.run(current.clone()).is_empty();
            // One sight of anything is never enough.
            prop_assert!(!raised || previous.is_some());
            previous = Some(current);
        }
    }
}
