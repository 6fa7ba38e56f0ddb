//! `vedette health …`: what a probe learns of a running service.

use serde_json::json;
use vedette_tests::{Service, Settings, program};

use crate::world::{World, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_learns_whether_the_service_is_there() {
    let World { mut service, .. } = World::start().await;
    let admin = format!("http://{}", service.admin);
    let ask = async |flags: &[&str]| {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.arg("health").args(flags).args(["--admin", &admin]);
        let ran = command.output().await.expect("it runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    assert_eq!(ask(&[]).await, (Some(0), "ok\n".to_owned()));
    assert_eq!(ask(&["--ready"]).await, (Some(0), "ready\n".to_owned()));
    assert_eq!(ask(&["--live"]).await, (Some(0), "alive\n".to_owned()));
    service.stop().await.expect("it stops");
    assert_eq!(ask(&[]).await, (Some(1), String::new()));
    assert_eq!(ask(&["--live"]).await, (Some(1), String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_without_the_operators_token_is_told_the_variable() {
    let variable = "VEDETTE_ADMIN_TOKEN";
    let environment = vec![(variable.to_owned(), "watchword".to_owned())];
    let service = Service::start(Settings { environment, ..Settings::default() }).await;
    let service = service.expect("it starts");
    let admin = format!("http://{}", service.admin);
    for (token, code) in [(None, 1), (Some("guess"), 1), (Some("watchword"), 0)] {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.args(["health", "--admin", &admin]).env_remove(variable);
        if let Some(token) = token {
            command.env(variable, token);
        }
        let ran = command.output().await.expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), said.contains(variable)), (Some(code), code == 1), "{said}");
        assert!(!said.contains("watchword"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_the_services_file_needs_no_token_unless_it_opens_the_port() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("vedette.toml");
    let text = "listen = \"127.0.0.1:0\"\nadmin_listen = \"0.0.0.0:0\"\ndb = \"mem://\"\n";
    std::fs::write(&file, text).expect("ours");
    for (arguments, code) in [(["plugin", "list"].as_slice(), 0), (["serve"].as_slice(), 1)] {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.args(arguments).arg("--config").arg(&file).current_dir(home.path());
        command.env_remove("VEDETTE_ADMIN_TOKEN").env_remove("VEDETTE_ADMIN").kill_on_drop(true);
        let ran = command.output().await.expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(code), "{arguments:?}: {said}");
        assert_eq!(said.contains("admin.token is required"), code == 1, "{arguments:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_the_version_and_where_it_listens() {
    let service = World::start().await.service;
    let line = format!("vedette {} is up: the API at {}", env!("CARGO_PKG_VERSION"), service.api);
    until(&line, async || service.output().contains(&line).then_some(())).await;
    let migrated = service.output().lines().filter(|line| line.contains("migrated")).count();
    assert_eq!(migrated, 1, "{}", service.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_is_shown_with_its_help() {
    let world = World::start().await;
    let figures = world.service.operator().get("/metrics").await.text;
    let names = |start: &str| -> Vec<String> {
        let lines = figures.lines().filter_map(|line| line.strip_prefix(start));
        lines.filter_map(|line| line.split_once(' ')).map(|(name, _)| name.to_owned()).collect()
    };
    let shown = names("# TYPE ");
    assert!(!shown.is_empty(), "{figures}");
    assert_eq!(names("# HELP "), shown, "{figures}");
    // What alerting rules ask for is there before it happens: only what grows from 0 has grown.
    for line in [
        "vedette_checks_total{check_type=\"uptime\",status=\"down\"} 0",
        "vedette_checks_skipped_overload_total 0",
        "vedette_checks_unknown_total{check_type=\"dns\",error=\"plugin_unavailable\"} 0",
        "vedette_checks_unknown_total{check_type=\"dns\",error=\"not_done\"} 0",
        "vedette_delivery_attempts_total{channel=\"email\",outcome=\"unsent\"} 0",
        "vedette_deliveries_failed_total{channel=\"email\"} 0",
        "vedette_deliveries_failed_total{channel=\"letter\"} 0",
        "vedette_unwell_seconds{what=\"behind\"} 0",
        "vedette_unwell_seconds{what=\"clock_doubted\"} 0",
        "vedette_unwell_seconds{what=\"offline\"} 0",
        "vedette_unwell_seconds{what=\"overloaded\"} 0",
        "vedette_unwell_seconds{what=\"held_back\"} 0",
        concat!("vedette_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(figures.lines().any(|shown| shown == line), "{line}: {figures}");
    }
    let is_stop = |line: &str| {
        line.starts_with("vedette_plugin_stops_total{plugin=\"vedette.check-dns\"")
            && line.ends_with("why=\"trap\"} 0")
    };
    assert!(figures.lines().any(is_stop), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_anything_is_planned_is_shown_from_the_start_on() {
    let mut world = World::start().await;
    shows(&world.service, "vedette_checks_planned 0").await;
    let body = json!({"domain": "planned.example", "check_types": ["ssl"]});
    world.owner.client.post("/sites", body).await.expect(200);
    world.service.stop().await.expect("it stops");
    let service = world.service.start_again().await.expect("it starts again");
    shows(&service, "vedette_checks_planned 1").await;
}

/// Waits until this is a line of the metrics.
async fn shows(service: &Service, line: &str) {
    let operator = service.operator();
    until(line, async || {
        let figures = operator.get("/metrics").await.text;
        figures.lines().any(|shown| shown == line).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn how_late_planned_runs_begin_is_counted_in_steps_of_its_own() {
    let world = World::start().await;
    let site = world.site("planned.example", 90).await;
    world.watch("planned.example", &site).await;
    let operator = world.service.operator();
    let hours = "vedette_run_late_seconds_bucket{check_type=\"ssl\",le=\"14400\"} ";
    until("a planned run to be counted", async || {
        let figures = operator.get("/metrics").await.text;
        let counted = figures.lines().find_map(|line| line.strip_prefix(hours))?.parse::<u64>();
        counted.is_ok_and(|runs| runs > 0).then_some(())
    })
    .await;
}
