//! The alerting rules of `deploy/` in the hands of Prometheus: each fires on the trouble that it is
//! about.

use std::path::Path;

use crate::program::{command, installed, succeed};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[tokio::test]
async fn every_alert_fires_on_its_trouble() {
    let rules = Path::new(ROOT).join("deploy/alerts.yaml");
    let troubles = Path::new(ROOT).join("tests/peers/alerts/rules.yaml");
    let read = |file| std::fs::read_to_string(file).expect("it is in the repository");
    let (told, tried) = (read(&rules), read(&troubles));
    for name in told.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tried.contains(&format!("- name: {name}\n")), "nothing makes {name} fire");
    }
    if !installed(&[("promtool", "prometheus")]) {
        return;
    }
    for (kind, file) in [("check", &rules), ("test", &troubles)] {
        let ran = succeed(command("promtool").args([kind, "rules"]).arg(file)).await;
        ran.expect("the rules hold");
    }
}
