//! A check that has to wait for its host.

use serde_json::json;
use vedette_model::edition::STANDARD;

use super::*;
use crate::{Clock, Config, config::Egress, instance, service};

#[test]
fn check_that_waits_for_its_host_is_late_and_the_node_is_not_behind() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        // Nobody listens there.
        let body = json!({
            "domain": "shop.example", "origin_ip": "127.0.0.1", "custom_port": 1,
            "check_types": ["ssl"],
        });
        let site = service::site::create(&app, &owner, &body).await.expect("a good body");
        let planned_for = app.clock.now();
        let uptime: [CheckType; 1] = ["uptime".parse().expect("a check's name")];
        let take = async || {
            let now = app.clock.now();
            let leased = app.store.lease_due(&app.node, &uptime, now, LEASE, 1).await;
            leased.expect("the schedule is read").pop().expect("it is due")
        };

        let host = site.domain.as_str().to_owned();
        let busy: Vec<_> = (0..TARGET_RUNS).map(|_| app.planned.hosts.take(&host)).collect();
        // For longer than twice its interval.
        for _ in 0..70 {
            let lease = take().await;
            let ending = run(&app, &lease, Source::Scheduler).await;
            assert!(matches!(ending, Ending::PutOff), "{ending:?}");
            give_back(&app, &lease, app.clock.now() + put_off(&lease)).await;
            hand.advance(Duration::from_secs(2));
        }
        drop(busy);
        let (lease, now) = (take().await, app.clock.now());
        assert_eq!(lease.due_at, planned_for);
        assert_eq!(app.pulse.late(lease.due_at, now), Duration::from_secs(140));
        app.pulse.looked(now, false);
        let ending = run(&app, &lease, Source::Scheduler).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        assert_eq!(app.pulse.behind(now), None);
    });
}

fn config() -> Config {
    let loopback = "127.0.0.0/8".parse().expect("a range");
    Config { egress: Egress { allow: vec![loopback], ..Egress::default() }, ..instance::config() }
}
