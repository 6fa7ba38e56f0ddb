//! Claims of which nobody heard what became of them.

use vedette_model::edition::STANDARD;

use super::*;
use crate::{
    Clock, instance,
    work::sample::{at, queue, telling},
};

#[test]
fn claim_that_was_written_unheard_is_known_to_be_ours() {
    let (clock, _) = Clock::manual(at(1));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        let account = owner.account.id;
        queue(&app, &owner, &[telling(account, "webhook", 1)]).await;
        let lane = [(account, "webhook".to_owned())];
        let read = plans(&app, &lane, app.clock.now()).await.expect("the store answers");
        let Some((_, versions, Plan::Gather(gathering))) = read.made.into_iter().next() else {
            panic!("it waits");
        };
        assert!(!is_claimed(&app, &gathering).await, "nobody has claimed it");
        let claim = |node| Claim {
            node,
            account_id: account,
            channel: "webhook",
            expected_version: versions.lane,
            expected_windows: versions.windows,
            gathering: &gathering,
            now: app.clock.now(),
            lease: LEASE,
        };
        assert!(app.store.claim(claim(app.node.as_str())).await.expect("the store answers"));
        assert!(is_claimed(&app, &gathering).await);
        let again = app.store.claim(claim("another")).await.expect("the store answers");
        assert!(!again && is_claimed(&app, &gathering).await, "and stays so");
    });
}
