use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use vedette_model::billing::{Stop, Subscription};
use vedette_model::status_page::{response, uptime};
use vedette_model::{AccountId, SiteId};

use super::*;
use crate::open::embedded;
use crate::{Forgotten, Options, Seal, StateScope, tests};

async fn at_version(version: usize) -> Store {
    let store = unsettled("mem://").await;
    store.run(&MIGRATIONS[..version]).await.unwrap();
    store
}

/// As it lies there, with a key of its own.
async fn unsettled(url: &str) -> Store {
    let options = Options::new(Seal::ephemeral());
    let engine = embedded(url, &options).await.unwrap();
    Store::new(Arc::new(engine), options.seal)
}

/// The one migration that asks the time does it to leave out what nobody will see.
fn today() -> DateTime<Utc> {
    std::time::SystemTime::now().into()
}

#[test]
fn another_key_is_refused_before_anything_is_migrated() {
    tests::runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("surrealkv://{}", folder.path().display());
        let before = MIGRATIONS.len() - 1;
        let store = unsettled(&url).await;
        store.run(&MIGRATIONS[..before]).await.unwrap();
        store.settle_seal().await.unwrap();
        store.close().await.unwrap();
        drop(store);

        let refused = Store::open(&url, Options::new(Seal::ephemeral())).await;
        assert!(matches!(refused, Err(Error::WrongKey(_))), "{refused:?}");

        let store = unsettled(&url).await;
        let reached = store.reached().await.unwrap();
        assert_eq!(reached, Some(i64::try_from(before).unwrap()), "the version before can go on");
        store.close().await.unwrap();
    });
}

#[test]
fn what_was_counted_by_rows_is_counted_on() {
    tests::runtime().block_on(async {
        let store = at_version(12).await;
        let (site, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (day, hour) = (uptime::day(today()), response::hour(today()));
        let unit = "
            CREATE check_memory:[$site, 'uptime'] SET doc = '{\"state\":{\"version\":1}}';
            CREATE check_memory:[$site, 'ssl'] SET doc = '{\"state\":{\"version\":2}}';
            CREATE check_memory:[$other, 'uptime'] SET doc = '{\"state\":{\"version\":3}}';
            FOR $n IN [[0, 7], [1, 8], [90, 9]] {
                CREATE type::record('check_day', [$site, 'uptime', $n[0] - $day])
                    SET day = $n[0] - $day, runs = 10, ok = $n[1], degraded = 1, down = 2,
                    unknown = 0, duration_ms = 5;
            };
            CREATE type::record('response_hour', [$site, $hour % 24])
                SET hour = $hour, answers = 3, total_ms = 99;";
        let binds = Binds::new()
            .with("site", site)
            .with("other", other)
            .with("day", day)
            .with("hour", hour);
        store.write(unit, binds).await.unwrap();
        store.migrate().await.unwrap();
        let docs: Vec<String> =
            store.read("SELECT VALUE doc FROM check_memory", Binds::new()).await.unwrap();
        let docs: Vec<Value> = docs.iter().map(|doc| serde_json::from_str(doc).unwrap()).collect();
        let days = json!([[day - 1, 8, 1, 2, 0], [day, 7, 1, 2, 0]]);
        let counted = json!({ "days": days, "hours": [[hour, 3, 99]] });
        let nothing = json!({ "days": [], "hours": [] });
        assert_eq!(
            docs,
            [
                json!({ "state": { "version": 2 } }),
                json!({ "state": { "version": 1 }, "tally": counted }),
                json!({ "state": { "version": 3 }, "tally": nothing }),
            ]
        );
    });
}

#[test]
fn history_from_before_it_was_limited_is_found_by_its_age() {
    tests::runtime().block_on(async {
        let store = at_version(28).await;
        let (account, site) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let unit = "
            FOR $n IN [[1, true], [2, true], [3, false]] {
                CREATE type::record('alert', [$account, $n[0]]) SET account = $account,
                    site = $site, check_type = 'ssl', alert_type = 'ssl', key = 'ssl f1',
                    severity = 'info', is_resolved = $n[1], rev = 0 - $n[0], doc = '{}';
            };
            CREATE type::record('alert_count', [$account, $site, 'ssl', 'info', true]) SET n = 2;
            CREATE type::record('check_state', [$site, 'ssl'])
                SET check_type = 'ssl', version = 0, runs = 1;
            CREATE type::record('check_day', [$site, 'ssl', 0])
                SET day = 0, runs = 1, ok = 1, degraded = 0, down = 0, unknown = 0,
                duration_ms = 5;
            CREATE type::record('check', [$site, 'ssl', -7, $site])
                SET site = $site, check_type = 'ssl', rev = -7, doc = '{}';";
        let binds = Binds::new().with("account", account).with("site", site);
        store.write(unit, binds).await.unwrap();
        let migrated = Utc::now();
        store.migrate().await.unwrap();
        let forgotten = store.forget_alerts(migrated, 9).await.unwrap();
        assert_eq!(forgotten, Forgotten::Nothing, "when they were resolved, nobody knows");
        let later = Utc::now() + TimeDelta::seconds(1);
        let forgotten = store.forget_alerts(later, 9).await.unwrap();
        assert_eq!(forgotten, Forgotten::Removed(2), "not what is open");
        let counts: Vec<i64> =
            store.read("SELECT VALUE n FROM alert_count", Binds::new()).await.unwrap();
        assert_eq!(counts, [0]);
        let forgotten = store.forget_checks(today(), 0, 9).await.unwrap();
        assert_eq!(forgotten, Forgotten::Removed(1));
    });
}

#[test]
fn batch_from_before_its_sites_were_kept_is_no_trouble_and_holds_nothing_back() {
    tests::runtime().block_on(async {
        let store = at_version(30).await;
        let (account, now) = (Uuid::from_u128(1), today());
        let unit = "
            FOR $row IN [['sent', false], ['waits', true]] {
                CREATE type::record('delivery', $row[0]) SET account = $account,
                    site = $account, channel = 'webhook', waits = $row[1], finished = false,
                    due_at = $now, owner = '', epoch = 1, doc = '{}';
            };";
        let binds = Binds::new().with("account", account).with("now", now);
        store.write(unit, binds).await.unwrap();
        store.migrate().await.unwrap();
        let lane = (account.into(), "webhook".to_owned());
        let read = store.lanes(std::slice::from_ref(&lane), &[], now).await.unwrap();
        let [Err(cause)] = &read[..] else { panic!("what waits was not found: {read:?}") };
        assert!(matches!(cause, Error::Corrupt { what: "delivery", .. }), "{cause}");
        let unit = "DELETE delivery:waits RETURN NONE";
        store.write(unit, Binds::new()).await.unwrap();
        let read = store.lanes(&[lane], &[], now).await.unwrap();
        let [Ok(context)] = &read[..] else { panic!("{read:?}") };
        assert_eq!((context.waiting.len(), context.behind.len()), (0, 0));
    });
}

#[test]
fn delivery_from_before_is_found_by_the_alerts_that_it_told_of() {
    tests::runtime().block_on(async {
        let store = at_version(32).await;
        let [account, own, other] = [1, 2, 3].map(Uuid::from_u128);
        let notices = json!([{ "alert_id": own }, { "alert_id": other }]);
        let batch = json!({ "notices": notices, "own": [own] }).to_string();
        // Of a time when nothing was gathered.
        let oldest = json!({ "notices": notices }).to_string();
        let letter = json!({ "notices": [], "own": [] }).to_string();
        let unit = "
            FOR $doc IN $docs {
                CREATE delivery SET account = $account, site = $account, channel = 'webhook',
                    waits = false, finished = true, due_at = $now, owner = '', epoch = 1,
                    doc = $doc;
            };";
        let docs = vec![batch.clone(), oldest.clone(), letter, "damaged".to_owned()];
        let binds = Binds::new().with("account", account).with("now", today()).with("docs", docs);
        store.write(unit, binds).await.unwrap();
        store.migrate().await.unwrap();
        for (alert, found) in [(own, vec![batch, oldest.clone()]), (other, vec![oldest])] {
            let statement = "SELECT VALUE doc FROM delivery WHERE alerts CONTAINS $alert";
            let binds = Binds::new().with("alert", alert);
            let mut docs: Vec<String> = store.read(statement, binds).await.unwrap();
            docs.sort_by_key(|doc| !doc.contains("own"));
            assert_eq!(docs, found);
        }
    });
}

#[test]
fn what_an_agent_looks_at_from_before_counts_as_named_now() {
    tests::runtime().block_on(async {
        let store = at_version(37).await;
        let [account, agent, target] = [1, 2, 3].map(Uuid::from_u128);
        let long_ago = today() - TimeDelta::days(30);
        let unit = "
            CREATE type::record('agent_target', [$account, $target]) SET account = $account,
                agent = $agent, version = 1, doc = '', sealed = '', host = 'db01', port = 443,
                is_valid = true, seen_at = $long_ago;";
        let binds = Binds::new()
            .with("account", account)
            .with("agent", agent)
            .with("target", target)
            .with("long_ago", long_ago);
        store.write(unit, binds).await.unwrap();
        let migrated = Utc::now();
        store.migrate().await.unwrap();
        let known = store.sightings_of(account.into(), agent.into()).await.unwrap();
        let [one] = &known[..] else { panic!("{known:?}") };
        assert_eq!(one.at, long_ago);
        assert!(one.named_at >= migrated, "{one:?}");
        let places = [SiteId(target)];
        let gone = store.let_go(account.into(), agent.into(), &places, migrated).await;
        assert_eq!(gone.unwrap(), 0);
    });
}

#[test]
fn what_was_known_of_payments_is_kept_by_subscription() {
    tests::runtime().block_on(async {
        let store = at_version(37).await;
        let [paid, paused, ended, in_doubt, refunded, unknown] =
            [1, 2, 3, 4, 5, 6].map(|nth| AccountId(Uuid::from_u128(nth)));
        let at = |second: i64| DateTime::from_timestamp(1_790_000_000 + second, 0);
        let unit = "
            FOR $row IN [[$paid, 'pro', 's1'], [$paused, 'free', 's1'],
                [$ended, 'free', NONE], [$in_doubt, 'free', NONE], [$refunded, 'free', 's1'],
                [$unknown, 'pro', NONE]] {
                CREATE type::record('account', $row[0]) SET email = 'anna@example.com',
                    edition = 'team', plan = $row[1], created_at = $at, sites = 0, api_keys = 0;
                CREATE type::record('billing', $row[0]) SET version = 7, plan = 'pro',
                    subscription_id = $row[2], newest_at = $at,
                    customer = type::record('billing_customer', 'cus_1');
            };
            UPDATE type::record('billing', $ended) SET ended_subscription_id = 's1',
                succeeded_after = $before, ended_at = $at;
            UPDATE type::record('billing', $in_doubt) SET ended_subscription_id = 's1';
            UPDATE type::record('billing', $refunded) SET revoked_at = $before;
            UPDATE type::record('billing', $unknown) SET plan = NONE;";
        let binds = Binds::new()
            .with("paid", paid.0)
            .with("paused", paused.0)
            .with("ended", ended.0)
            .with("in_doubt", in_doubt.0)
            .with("refunded", refunded.0)
            .with("unknown", unknown.0)
            .with("before", at(1))
            .with("at", at(9));
        store.write(unit, binds).await.unwrap();
        store.migrate().await.unwrap();
        let known = |since: i64, stopped| Subscription {
            id: Some("s1".to_owned()),
            customer_id: None,
            plan: Some("pro".to_owned()),
            planned_at: at(9),
            bought_at: at(since),
            paid_at: at(since),
            stopped,
        };
        let stop = |is_over| Some(Stop { at: at(9), is_over });
        let doubt = Subscription { stopped: stop(false), ..Subscription::default() };
        for (account, expected) in [
            (paid, vec![known(9, None)]),
            (paused, vec![known(9, stop(false))]),
            (ended, vec![known(1, stop(true))]),
            (in_doubt, vec![doubt, known(9, stop(true))]),
            (refunded, vec![known(1, stop(false))]),
            (unknown, Vec::new()),
        ] {
            let billing = store.billing(account).await.unwrap();
            assert_eq!((billing.version, billing.subscriptions), (7, expected));
            assert_eq!(billing.customer_id.as_deref(), Some("cus_1"));
            let revoked_at = at(1).filter(|_| account == refunded);
            assert_eq!(billing.revoked_at, revoked_at);
        }
        // The index has what was there before it.
        let found = store.account_of_subscription("s1").await.unwrap();
        assert!(found.is_some_and(|account| account != unknown), "{found:?}");
    });
}

#[test]
fn what_plugins_shared_before_makes_room_as_well() {
    tests::runtime().block_on(async {
        let store = at_version(24).await;
        let unit = "
            CREATE plugin_state:['shared', 'domain', 'old']
                SET value = <bytes>'old', size = 90, expires_at = $soon;
            CREATE plugin_state_size:['shared', 'domain'] SET used = 90;";
        let now = today();
        let binds = Binds::new().with("soon", now + TimeDelta::hours(1));
        store.write(unit, binds).await.unwrap();
        store.migrate().await.unwrap();
        let scope = StateScope { plugin: "domain", site: None };
        assert!(store.plugin_state_get(scope, "old", now).await.unwrap().is_some());
        store.plugin_state_set(scope, "new", &[7; 50], None, now, 100).await.unwrap();
        assert_eq!(store.plugin_state_get(scope, "old", now).await.unwrap(), None);
    });
}
