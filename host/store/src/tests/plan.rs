//! The plans of the hot queries. A plan that scans, filters or sorts what it need not is found
//! here, before it is found in production.

use surrealdb::types::RecordId;

use super::*;
use crate::agent::target::{AT_HOSTS, LEFT, OF_AGENT, SEEN_LAST};
use crate::key;
use crate::tx::Binds;

#[test]
fn pages_and_queues_walk_one_index_up_to_their_limit() {
    runtime().block_on(async {
        let store = memory().await;
        let alerts = format!("{}{}", crate::alert::PAGE, crate::alert::ORDER);
        let all_alerts = format!("{}{}", crate::alert::PAGE_ALL, crate::alert::ORDER);
        let incidents = format!("{}{}", crate::incident::PAGE, crate::incident::ORDER);
        let all_incidents = format!("{}{}", crate::incident::PAGE_ALL, crate::incident::ORDER);
        let told = format!("{}{}", crate::delivery::COLUMNS, crate::delivery::OF_ALERT);
        for (statement, index) in [
            (crate::page::RECORDS, "check_page"),
            (&*alerts, "alert_page"),
            (&*all_alerts, "alert_page_all"),
            (&*incidents, "incident_page"),
            (&*all_incidents, "incident_page_all"),
            (crate::schedule::DUE, "schedule_due"),
            (crate::schedule::DUE_RECHECKS, "schedule_recheck"),
            (crate::schedule::NEXT_DUE, "schedule_due"),
            (crate::schedule::NEXT_TYPE, "schedule_due"),
            (crate::schedule::LYING, "schedule_due"),
            (crate::delivery::NEXT_DUE, "delivery_queue"),
            (&*told, "delivery_alert"),
            (crate::lane::WAITING, "delivery_queue"),
            (crate::lane::NEXT, "delivery_queue"),
            (crate::cert_history::CHANGES, "cert_history_page"),
            (crate::plugin_state::OLDEST, "plugin_state_written"),
            (crate::purge::BY_SITE_CHECKS, "check_page"),
            (crate::retention::OLD_DAY, "check_day_age"),
            (crate::retention::OLD_CHECKS, "check_page"),
            (crate::retention::OLD_ALERTS, "alert_ended"),
            (crate::purge::BY_SITE_WINDOWS, "maintenance_window_site"),
        ] {
            let plan = plan(&store, statement).await;
            let scan = format!("IndexScan [ctx: Db] [index: {index},");
            assert!(plan.contains(&scan), "{statement}\n{plan}");
            assert!(plan.contains("limit: "), "{statement}\n{plan}");
            assert_no_detour(statement, &plan);
        }
    });
}

#[test]
fn open_alerts_are_found_by_their_index() {
    runtime().block_on(async {
        let plan = plan(&memory().await, crate::check::OPEN).await;
        assert!(plan.contains("index: alert_open"), "{plan}");
        assert_no_detour(crate::check::OPEN, &plan);
    });
}

#[test]
fn batches_that_are_due_are_found_by_one_index_whoever_they_are_left_to() {
    runtime().block_on(async {
        let plan = plan(&memory().await, crate::delivery::DUE).await;
        let access = "index: delivery_queue, access: [false, false] LessThan";
        assert!(plan.contains(access), "{plan}");
        for detour in ["Bitmap", "TableScan", "Sort"] {
            assert!(!plan.contains(detour), "{plan}");
        }
    });
}

#[test]
fn what_is_under_way_in_a_lane_is_found_by_one_index() {
    runtime().block_on(async {
        let plan = plan(&memory().await, &crate::order::AHEAD.replace('#', "")).await;
        let access = "index: delivery_account, access: [";
        assert!(plan.contains(access) && plan.contains(", false, false] LessThan"), "{plan}");
        assert!(!plan.contains("Bitmap") && !plan.contains("TableScan"), "{plan}");
    });
}

#[test]
fn what_is_held_back_in_a_lane_is_found_by_one_index() {
    runtime().block_on(async {
        let held = format!("{}{}", crate::delivery::COLUMNS, crate::lane::HELD.replace('#', ""));
        let plan = plan(&memory().await, &held).await;
        let access = "index: delivery_account, access: [";
        assert!(plan.contains(access) && plan.contains(", true, false] MoreThan"), "{plan}");
        assert!(!plan.contains("Bitmap") && !plan.contains("TableScan"), "{plan}");
    });
}

#[test]
fn what_an_agent_looks_at_is_found_by_its_index() {
    runtime().block_on(async {
        let store = memory().await;
        let seen = [AT_HOSTS, OF_AGENT].map(|places| format!("{SEEN_LAST} {places}"));
        for statement in seen.into_iter().chain([LEFT.to_owned()]) {
            let plan = plan(&store, &statement).await;
            assert!(plan.contains("index: agent_target_owner"), "{plan}");
            assert!(!plan.contains("TableScan"), "{plan}");
        }
    });
}

#[test]
fn what_goes_with_an_account_is_found_by_an_index() {
    runtime().block_on(async {
        let store = memory().await;
        for (statement, index) in [
            (crate::purge::BY_ACCOUNT_DELIVERIES, "delivery_account"),
            (crate::purge::BY_ACCOUNT_LETTERS, "delivery_account"),
            (crate::billing::BY_SUBSCRIPTION, "billing_subscription"),
            ("SELECT VALUE id FROM identity WHERE account = $account", "identity_account"),
            ("SELECT id, created_at FROM signup WHERE account = $account", "signup_account"),
        ] {
            let plan = plan(&store, statement).await;
            assert!(plan.contains(&format!("index: {index}")), "{statement}\n{plan}");
            assert!(!plan.contains("TableScan"), "{statement}\n{plan}");
        }
    });
}

#[test]
fn leases_that_end_too_late_are_found_by_an_index() {
    runtime().block_on(async {
        let store = memory().await;
        for (held, index) in [
            (crate::schedule::HELD_AFTER, "schedule_due"),
            (crate::delivery::HELD_AFTER, "delivery_queue"),
        ] {
            let statement = format!("{held} AND {}", crate::node::OF_THE_GONE);
            let plan = plan(&store, &statement).await;
            assert!(plan.contains(&format!("index: {index}")), "{statement}\n{plan}");
            assert!(!plan.contains("TableScan"), "{statement}\n{plan}");
        }
    });
}

#[test]
fn rows_of_an_owner_are_a_range_of_ids_and_are_counted_by_their_keys() {
    runtime().block_on(async {
        let store = memory().await;
        let selected = plan(&store, "SELECT day, runs FROM $range").await;
        assert!(selected.contains("RecordIdScan"), "{selected}");
        let counted = plan(&store, "SELECT count() FROM $range GROUP ALL").await;
        assert!(counted.contains("CountScan"), "{counted}");
    });
}

fn assert_no_detour(statement: &str, plan: &str) {
    for detour in ["TableScan", "Filter", "Sort", "Limit ["] {
        assert!(!plan.contains(detour), "{statement}\n{plan}");
    }
}

async fn plan(store: &Store, statement: &str) -> String {
    let id = Uuid::new_v4();
    let range: RecordId = key::check_days(id.into(), &ssl(), -9, 9);
    let binds = Binds::new()
        .with("account", id)
        .with("agent", id)
        .with("alert", id)
        .with("hosts", vec!["db01".to_owned()])
        .with("site", id)
        .with("site_id", id)
        .with("of", id)
        .with("check_type", "ssl")
        .with("type", "ssl")
        .with("past", "dns")
        .with("letter", "letter")
        .with("own", "\"to\":\"ops@example.com\"")
        .with("is_resolved", false)
        .with("waits", true)
        .with("status", "resolved")
        .with("silenced", "silenced")
        .with("near", -5_i64)
        .with("now", noon())
        .with("since", noon())
        .with("horizon", noon())
        .with("at_work", vec!["a".to_owned()])
        .with("forgotten", noon())
        .with("furthest", noon())
        .with("others_first", noon())
        .with("channels", vec!["webhook".to_owned()])
        .with("held", vec![key::delivery(id.into())])
        .with("channel", "webhook")
        .with("limit", 50)
        .with("start", 10)
        .with("batch", 500)
        .with("plugin", "domain")
        .with("subscription", "sub_1")
        .with("most", 500)
        .with("old", -5_i64)
        .with("old_end", -5_i64)
        .with("passed", 3)
        .with("range", range);
    store.read(&format!("EXPLAIN {statement}"), binds).await.unwrap()
}
