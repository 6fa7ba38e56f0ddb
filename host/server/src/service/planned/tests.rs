//! A check that has to wait, for its host or for trouble of ours to pass.

use std::future::{pending, ready};

use futures::future::join_all;
use serde_json::json;
use tokio::{sync::oneshot, task::yield_now};
use uuid::Uuid;
use vedette_model::{AccountId, CheckType, Observation, edition::STANDARD};
use vedette_sandbox::{Cost, TARGET_RUNS};

use super::{places::Taken, *};
use crate::{Caller, Clock, Config, config::Egress, instance, service};

#[test]
fn check_that_waits_for_its_host_is_late_and_the_node_is_not_behind() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        let site = site(&app, &owner).await;
        let planned_for = app.clock.now();

        let busy = all_places(&app, &site);
        // For longer than twice its interval.
        for _ in 0..5 {
            let lease = take(&app).await;
            let ending = run_within(&app, &lease, ready(())).await;
            assert!(matches!(ending, Ending::PutOff), "{ending:?}");
            give_back(&app, &lease, app.clock.now() + put_off(&lease)).await;
            hand.advance(2 * PUT_OFF);
        }
        drop(busy);
        let (lease, now) = (take(&app).await, app.clock.now());
        assert_eq!(lease.due_at, planned_for);
        assert_eq!(app.pulse.late(lease.due_at, now), Duration::from_secs(150));
        app.pulse.looked(now, false);
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        assert_eq!(app.pulse.behind(now), None);
    });
}

#[test]
fn check_that_waits_for_its_host_has_no_turn_and_goes_on_when_there_is_a_place() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        let site = site(&app, &owner).await;
        let busy = all_places(&app, &site);
        let lease = take(&app).await;
        let makes_room = async {
            // It takes its turn with the first step, and gives it back to wait.
            while app.planned.in_flight() > 0 {
                yield_now().await;
            }
            hand.advance(Duration::from_secs(150));
            app.pulse.looked(app.clock.now(), false);
            drop(busy);
        };
        let (ending, ()) = tokio::join!(run_within(&app, &lease, pending()), makes_room);
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        assert_eq!(app.pulse.behind(app.clock.now()), None, "the node had room for it");
        assert_eq!(app.planned.in_flight(), 0);
        drop(all_places(&app, &site));
    });
}

#[test]
fn all_who_wait_to_look_at_the_same_have_one_run() {
    const MANY: usize = 5;

    let (clock, _) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let sites = sites_of(&app, MANY).await;
        let busy = all_places(&app, &sites[0]);
        let mut found_busy = Vec::new();
        for _ in 0..MANY {
            let lease = take_ssl(&app).await;
            match go(&app, &lease, Source::Scheduler, None).await {
                Go::Busy(wanted, look) => found_busy.push((lease, wanted, look)),
                Go::Ended(ending) => panic!("there was a place: {ending:?}"),
            }
        }
        let runs_itself = async |lease: &Lease, wanted: &Wanted, look: Option<Arc<Look>>| {
            let waited = means::wait(&app, wanted, look, Rank::of(lease), pending()).await;
            let (means, _, _turn) = waited.expect("nothing ends its wait");
            let runs_itself = matches!(means, Means::Run(..));
            let went = go(&app, lease, Source::Scheduler, Some(means)).await;
            assert!(matches!(went, Go::Ended(Ending::Stored { .. })));
            runs_itself
        };
        let all =
            found_busy.iter().map(|(lease, wanted, look)| runs_itself(lease, wanted, look.clone()));
        let all = join_all(all);
        // They wait by then.
        let makes_room = async { drop(busy) };
        let (ran, ()) = tokio::join!(all, makes_room);
        assert_eq!(ran.into_iter().filter(|itself| *itself).count(), 1);
        assert_eq!(app.planned.in_flight(), 0);
    });
}

#[test]
fn who_waits_with_a_check_that_is_given_up_looks_instead() {
    let (clock, _) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let sites = sites_of(&app, 2).await;
        let busy = all_places(&app, &sites[0]);
        let (first, second) = (take_ssl(&app).await, take_ssl(&app).await);
        let (give_up, given_up) = oneshot::channel();
        let over = async { given_up.await.expect("told") };
        let makes_room = async {
            while app.planned.in_flight() > 0 || app.planned.waiting() < 2 {
                yield_now().await;
            }
            give_up.send(()).expect("it waits");
            while app.planned.waiting() > 1 {
                yield_now().await;
            }
            drop(busy);
        };
        let runs = futures::future::join(
            run_within(&app, &first, over),
            run_within(&app, &second, pending()),
        );
        let ((led, followed), ()) = tokio::join!(runs, makes_room);
        assert!(matches!(led, Ending::PutOff), "{led:?}");
        assert!(matches!(followed, Ending::Stored { .. }), "{followed:?}");
    });
}

#[test]
fn check_whose_site_moved_while_it_waited_takes_a_place_of_its_host() {
    let (clock, _) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        let site = site(&app, &owner).await;
        let waited_for = Wanted { host: Some("before.example".to_owned()), ..wanted(&app, &site) };
        let places = app.planned.places.take(&waited_for).map(|places| Means::Run(places, None));
        let busy = all_places(&app, &site);
        let lease = take(&app).await;
        let went = go(&app, &lease, Source::Scheduler, places).await;
        assert!(matches!(went, Go::Busy(found, _) if found == wanted(&app, &site)));
        drop(busy);
    });
}

#[test]
fn check_whose_plugin_has_no_room_waits_for_it_here() {
    let (clock, _) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        site(&app, &owner).await;
        let rooms = app.sandbox.planned_rooms(&uptime()[0]);
        let least = rooms.iter().map(|room| room.runs).min().expect("it is installed");
        // It runs elsewhere, at a host of its own each.
        let run = |nth: u32| {
            let account = AccountId(Uuid::from_u128(nth.into()));
            let wanted = Wanted { host: None, account, rooms: rooms.clone(), is_slow: false };
            app.planned.places.take(&wanted).expect("there is room")
        };
        let mut runs: Vec<_> = (0..least).map(run).collect();
        let lease = take(&app).await;
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::PutOff), "{ending:?}");
        runs.pop();
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        drop(runs);
    });
}

#[test]
fn check_that_was_slow_waits_for_others_that_were_until_it_is_quick() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        site(&app, &owner).await;
        // Sites of others hang, each at a host of its own, and have all turns of those that are slow.
        let hang = |nth: usize| {
            let account = AccountId(Uuid::from_u128(nth as u128));
            let host = Some(format!("{nth}.example"));
            let places = app.planned.places.take(&Wanted {
                host,
                account,
                rooms: Vec::new(),
                is_slow: true,
            });
            places.expect("there is room")
        };
        let mut hanging: Vec<_> = (0..MOST_RUNS / 2).map(hang).collect();
        let lease = take(&app).await;
        app.planned.memory.learn(&lease, SLOW);
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::PutOff), "{ending:?}");
        hanging.pop();
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");

        hanging.push(hang(MOST_RUNS));
        hand.advance(Duration::from_secs(3600));
        let lease = take(&app).await;
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        drop(hanging);
    });
}

#[test]
fn how_long_a_check_takes_through_trouble_of_ours_says_nothing_of_it() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(without_dns(), clock, |app| async move {
        let version = app.sandbox.version(&uptime()[0]).expect("it is installed");
        let ran = |stood_still| Ran {
            version: version.clone(),
            observation: Observation {
                result: json!({}),
                summary: String::new(),
                metrics: Vec::new(),
                next_run_in_s: None,
            },
            duration: SLOW,
            host_time: SLOW,
            stood_still,
            cost: Cost::default(),
        };
        let stopped = |why| RunError::Broken { why, message: String::new() };
        for (ran, pace) in [
            (Ok(ran(Duration::ZERO)), Some(SLOW)),
            (Ok(ran(Duration::from_secs(1))), None),
            (Err(stopped(Stop::Wall)), Some(SLOW)),
            (Err(stopped(Stop::Failed)), None),
            (Err(RunError::Overloaded), None),
        ] {
            assert_eq!(pace_of(&ran), pace, "{ran:?}");
        }

        let owner = instance::owner(&app, &STANDARD).await;
        site(&app, &owner).await;
        // Without an answer from the DNS each run takes its time, and says nothing.
        for was_slow in [false, true] {
            let lease = take(&app).await;
            app.planned.memory.learn(&lease, if was_slow { SLOW } else { Duration::ZERO });
            app.guard.lock().resolved(false);
            let ending = run_within(&app, &lease, ready(())).await;
            assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
            assert_eq!(app.planned.memory.is_slow(&lease), was_slow);
            hand.advance(Duration::from_secs(3600));
        }
    });
}

#[test]
fn check_that_cannot_be_done_waits_longer_and_longer_and_is_the_later() {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_idle_app(config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        site(&app, &owner).await;
        let planned_for = app.clock.now();
        let account = owner.account.id;
        // What bounds its checks cannot be told.
        app.store.set_plan(account, "gone").await.expect("it is written");
        // In seconds: after `confirm.recheck`, twice what was waited, as often as it runs at most;
        // up to as long again by site.
        for [least, most] in [[10, 20], [20, 80], [60, 120], [60, 120]] {
            let lease = take(&app).await;
            assert_eq!(lease.due_at, planned_for);
            let ending = run_within(&app, &lease, ready(())).await;
            assert!(matches!(ending, Ending::Failed), "{ending:?}");
            let again = app.store.next_due(&uptime()).await.expect("the schedule is read");
            let wait = again.expect("it is planned") - app.clock.now();
            let wait = wait.to_std().expect("it is not tried at once");
            assert!((least..most).contains(&wait.as_secs()), "{wait:?}, not {least} to {most} s");
            hand.advance(wait);
        }
        app.store.set_plan(account, STANDARD.highest_plan().id).await.expect("it is written");
        let lease = take(&app).await;
        let ending = run_within(&app, &lease, ready(())).await;
        assert!(matches!(ending, Ending::Stored { .. }), "{ending:?}");
        let late = app.pulse.late(lease.due_at, app.clock.now());
        assert!(late >= Duration::from_secs(150), "{late:?}");
    });
}

async fn run_within(app: &App, lease: &Lease, over: impl Future<Output = ()>) -> Ending {
    run(app, lease, Source::Scheduler, app.planned.turn().await, over).await
}

/// Those of its host.
fn all_places(app: &App, site: &Site) -> Vec<Taken> {
    let places = (0..TARGET_RUNS).map(|_| app.planned.places.take(&wanted(app, site)));
    places.map(|places| places.expect("nobody has it")).collect()
}

fn wanted(app: &App, site: &Site) -> Wanted {
    let host = Some(site.domain.as_str().to_owned());
    let rooms = app.sandbox.planned_rooms(&uptime()[0]);
    Wanted { host, account: site.account_id, rooms, is_slow: false }
}

/// The same site of so many accounts.
async fn sites_of(app: &App, accounts: usize) -> Vec<Site> {
    let mut sites = Vec::new();
    for nth in 0..accounts {
        let owner = instance::owner_of(app, &STANDARD, &format!("{nth}@shop.example")).await;
        sites.push(site(app, &owner).await);
    }
    sites
}

/// Where nobody listens.
async fn site(app: &App, owner: &Caller) -> Site {
    let body = json!({
        "domain": "shop.example", "origin_ip": "127.0.0.1", "custom_port": 1,
        "check_types": ["ssl"],
    });
    service::site::create(app, owner, &body).await.expect("a good body")
}

/// The uptime check, which is due.
async fn take(app: &App) -> Lease {
    take_of(app, &uptime()).await
}

/// The check that connects to where a site says.
async fn take_ssl(app: &App) -> Lease {
    take_of(app, &["ssl".parse().expect("a check's name")]).await
}

async fn take_of(app: &App, types: &[CheckType]) -> Lease {
    let leased = app.store.lease_due(&app.node, types, app.clock.now(), LEASE, 1).await;
    leased.expect("the schedule is read").pop().expect("it is due")
}

fn uptime() -> [CheckType; 1] {
    ["uptime".parse().expect("a check's name")]
}

/// Nobody answers there.
fn without_dns() -> Config {
    let nobody = "127.0.0.1:9".parse().expect("an address");
    Config { dns_server: vec![nobody], ..config() }
}

fn config() -> Config {
    let loopback = "127.0.0.0/8".parse().expect("a range");
    Config { egress: Egress { allow: vec![loopback], ..Egress::default() }, ..instance::config() }
}
