use super::*;

/// One row of the tables under Limits.
type Row = (&'static str, u32, u64, u32, u32);

fn rows(edition: &Edition) -> Vec<Row> {
    let row = |plan: &Plan| (plan.id, plan.qps, plan.monthly_calls, plan.api_keys, plan.sites);
    edition.plans.iter().map(row).collect()
}

#[test]
fn the_tables_are_those_of_the_contract() {
    assert_eq!(
        rows(&STANDARD),
        [("free", 10, 100, 1, 2), ("starter", 50, 2_000, 3, 10), ("pro", 100, 10_000, 5, 50)]
    );
    assert_eq!(
        rows(&TEAM),
        [("free", 10, 100, 1, 2), ("pro", 100, 10_000, 5, 20), ("team", 300, 50_000, 10, 80)]
    );
}

#[test]
fn every_feature_has_a_lowest_plan() {
    for (edition, feature, plan) in [
        (&STANDARD, Feature::Email, "starter"),
        (&STANDARD, Feature::ChatWebhooks, "starter"),
        (&STANDARD, Feature::CustomWebhook, "starter"),
        (&STANDARD, Feature::StatusPageStyle, "pro"),
        (&STANDARD, Feature::Renewal, "pro"),
        (&TEAM, Feature::Email, "pro"),
        (&TEAM, Feature::ChatWebhooks, "team"),
        (&TEAM, Feature::CustomWebhook, "team"),
        (&TEAM, Feature::StatusPageStyle, "team"),
        (&TEAM, Feature::Renewal, "pro"),
    ] {
        assert_eq!(
            edition.lowest_plan_with(feature).map(|plan| plan.id),
            Some(plan),
            "{feature:?}"
        );
    }
}

#[test]
fn a_higher_plan_lacks_nothing_of_a_lower_one() {
    for edition in Edition::all() {
        for pair in edition.plans.windows(2) {
            let (lower, higher) = (&pair[0], &pair[1]);
            assert!(lower.features.iter().all(|feature| higher.includes(*feature)));
            assert!(lower.qps <= higher.qps && lower.monthly_calls <= higher.monthly_calls);
            assert!(lower.api_keys <= higher.api_keys && lower.sites <= higher.sites);
        }
    }
}

#[test]
fn a_used_up_count_names_the_next_plan_that_has_more() {
    let sites = |plan: &Plan| plan.sites;
    let next = |id| STANDARD.lowest_plan_above(STANDARD.plan(id).unwrap(), sites).map(|p| p.id);
    assert_eq!(next("free"), Some("starter"));
    assert_eq!(next("starter"), Some("pro"));
    assert_eq!(next("pro"), None);
}

#[test]
fn editions_and_plans_are_found_by_their_ids_alone() {
    assert_eq!(Edition::by_id("standard"), Some(&STANDARD));
    assert_eq!(Edition::by_id("team"), Some(&TEAM));
    assert_eq!(Edition::by_id("Standard"), None);
    assert_eq!(STANDARD.highest_plan().id, "pro");
    assert_eq!(TEAM.highest_plan().id, "team");
    assert_eq!(STANDARD.lowest_plan().id, "free");
    assert!(STANDARD.plan("team").is_none());
    assert!(TEAM.plan("starter").is_none());
}

#[test]
fn only_free_plans_slow_uptime_down() {
    let (uptime, ssl) = ("uptime".parse().unwrap(), "ssl".parse().unwrap());
    for edition in Edition::all() {
        assert_eq!(edition.lowest_plan().min_interval(&uptime), Duration::from_secs(300));
        assert_eq!(edition.highest_plan().min_interval(&uptime), Duration::ZERO);
        assert_eq!(edition.lowest_plan().min_interval(&ssl), Duration::ZERO);
    }
}

#[test]
fn what_an_edition_leaves_out_is_left_out_of_the_check_that_has_it() {
    let omitted = |edition: &Edition, name: &str| {
        let check_type: CheckType = name.parse().expect("the name of a check");
        edition.omitted(&check_type)
    };
    assert_eq!(omitted(&STANDARD, "ssl"), ["tls_grade"]);
    assert_eq!(omitted(&TEAM, "dns"), ["records/CAA"]);
    for (edition, name) in
        [(&STANDARD, "dns"), (&TEAM, "ssl"), (&STANDARD, "banner"), (&TEAM, "banner")]
    {
        assert!(omitted(edition, name).is_empty(), "{name}");
    }
}
