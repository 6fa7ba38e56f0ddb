//! Queries at their bounds and one beyond: what does not fit is refused by name, never ignored.

use crate::{refusal::refused, tenant::Tenant, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_taken_at_their_bounds_and_refused_by_name_beyond() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let checks = tenant.fill("/checks?site_id={site}&check_type=ssl");
    for query in [
        "limit=1",
        "limit=200",
        "offset=0",
        "offset=4294967295",
        "limit=1&offset=1",
        "unknown=1&unknown=2",
    ] {
        tenant.client().get(&format!("{checks}&{query}")).await.expect(200);
        tenant.client().get(&format!("/alerts?{query}")).await.expect(200);
    }
    for query in [
        "from=2020-02-29",
        "from=0000-01-01&to=9999-12-31",
        "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
        "from=2026-01-01T23:59:59.999Z&to=2026-01-01",
        "from=2026-01-01T00:00:00+02:00",
        "from=2026-01-01T00:00:00%2B02:00",
        "from=2026-01-01%2000:00:00Z",
        "from=2026-01-01+00:00:00+02:00",
    ] {
        tenant.client().get(&format!("{checks}&{query}")).await.expect(200);
    }
    let numbers = ["", "-1", "+1", "1.0", "1e2", "0x10", "%201", "ten", "4294967296", "%EF%BC%91"];
    let both = ["limit", "offset"].into_iter().flat_map(|field| numbers.map(|bad| (field, bad)));
    for (field, bad) in both.chain([("limit", "0"), ("limit", "201"), ("limit", "1&limit=1")]) {
        for path in [checks.as_str(), "/alerts?resolved=all"] {
            let path = format!("{path}&{field}={bad}");
            let answer = tenant.client().get(&path).await;
            assert!(refused(&answer, 400, &path).contains(field), "{path}: {}", answer.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_words_of_a_query_that_do_not_fit_are_refused_by_name() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let checks = tenant.fill("/checks?site_id={site}");
    for bad in [
        "",
        "yesterday",
        "2026",
        "2026-1-1",
        "20260101",
        "2026-00-10",
        "2026-13-01",
        "2026-02-30",
        "2026-01-01T",
        "2026-01-01T25:00:00Z",
        "2026-01-01T00:00:00+99:00",
        "10000-01-01",
        "-001-01-01",
        "1767225600",
    ] {
        for field in ["from", "to"] {
            let path = format!("{checks}&{field}={bad}");
            let answer = tenant.client().get(&path).await;
            assert!(refused(&answer, 400, &path).contains(field), "{path}: {}", answer.text);
        }
    }
    for (path, field) in [
        (format!("{checks}&from=2026-01-02&to=2026-01-01"), "from"),
        (format!("{checks}&from=2026-01-01T00:00:01Z&to=2026-01-01T00:00:00Z"), "from"),
        (format!("{checks}&from=2026-01-01T00:00:00-12:00&to=2026-01-01T00:00:00Z"), "from"),
        (format!("{checks}&from=2026-01-01&from=2026-01-01"), "from"),
        (format!("{checks}&check_type="), "check_type"),
        (format!("{checks}&check_type=SSL"), "check_type"),
        (format!("{checks}&check_type=tls"), "check_type"),
        (format!("{checks}&check_type=ssl&check_type=dns"), "check_type"),
        ("/alerts?type=".to_owned(), "type"),
        ("/alerts?type=SSL".to_owned(), "type"),
        ("/alerts?type=tls".to_owned(), "type"),
        ("/alerts?severity=".to_owned(), "severity"),
        ("/alerts?severity=high".to_owned(), "severity"),
        ("/alerts?severity=info&severity=info".to_owned(), "severity"),
        ("/alerts?resolved=".to_owned(), "resolved"),
        ("/alerts?resolved=True".to_owned(), "resolved"),
        ("/alerts?resolved=1".to_owned(), "resolved"),
    ] {
        let answer = tenant.client().get(&path).await;
        assert!(refused(&answer, 400, &path).contains(field), "{path}: {}", answer.text);
    }
    refused(&tenant.client().get("/alerts?type=%ff").await, 400, "bytes that are no text");
}
