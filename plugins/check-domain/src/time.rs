//! How long one exchange may take.

use std::time::Duration;

use vedette_sdk::Cx;

/// The timeout of an exchange: `at_most`, or what is left of the run. None when that is too little
/// for one to be worth starting.
pub(crate) fn timeout_ms(cx: &Cx, at_most: Duration) -> Option<u32> {
    let left = cx.remaining().saturating_sub(RESERVE);
    (left.min(at_most) >= LEAST).then(|| cx.timeout_ms(at_most, RESERVE))
}

/// What a run needs after its last exchange.
const RESERVE: Duration = Duration::from_millis(500);
const LEAST: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use vedette_sdk::testing::Host;

    use super::*;

    #[test]
    fn exchange_ends_before_its_run_does() {
        let host = Host::new();
        for (left_ms, expected) in [
            (30_000, Some(8_000)),
            (5_000, Some(4_500)),
            (1_000, Some(500)),
            (900, None),
            (0, None),
        ] {
            host.set_remaining(Duration::from_millis(left_ms));
            assert_eq!(timeout_ms(&host.cx(), Duration::from_secs(8)), expected, "{left_ms}");
        }
        host.set_remaining(Duration::from_secs(30));
        assert_eq!(timeout_ms(&host.cx(), Duration::from_millis(400)), None);
    }
}
