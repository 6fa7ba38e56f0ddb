//! The clock of a server that nodes share.

use super::*;

#[test]
fn only_a_server_has_a_clock_of_its_own() {
    on_both(|store| async move {
        let before = Utc::now() - seconds(1);
        let shown = store.server_time().await.unwrap();
        assert_eq!(shown.is_none(), store.embedded());
        // The tests' own server is on this machine.
        assert!(shown.is_none_or(|shown| before < shown && shown <= Utc::now()), "{shown:?}");
    });
}
