//! The ssl check with probes that cost nothing to answer: what is left is the plugin and its cage.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use vedette_model::{CheckType, domain_name::Target};
use vedette_sandbox::{Job, Probe, Recording, Sandbox, egress::Audience};

const DOMAIN: &str = "stub.example";

/// What instances and whole runs took.
pub(crate) struct Cost {
    pub(crate) instances: Vec<Duration>,
    /// What the plugin and its cage take: the answers to its probes are the network's part.
    pub(crate) runs: Vec<Duration>,
    /// With what it takes to find the recorded answers and to read them.
    pub(crate) with_answers: Vec<Duration>,
    pub(crate) whole: Duration,
}

pub(crate) async fn measure(sandbox: &Sandbox, rounds: usize) -> anyhow::Result<Cost> {
    let ssl: CheckType = "ssl".parse()?;
    let instances = sandbox.instantiate(&ssl, rounds).await?;
    let recording = Arc::new(Recording::new(probes()));
    let job = Job {
        run_id: "stub".into(),
        target: Target::parse(DOMAIN)?,
        port: None,
        connect_to: None,
        config: json!({}),
        omit: vec!["tls_grade".into(), "ocsp_stapling".into()],
        now: chrono::Utc::now(),
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    };
    let (mut runs, mut with_answers) = (Vec::new(), Vec::new());
    let started = Instant::now();
    for _ in 0..rounds {
        let ran = sandbox.replay(&ssl, job.clone(), Arc::clone(&recording)).await?;
        anyhow::ensure!(ran.observation.result["valid"] == true, "{}", ran.observation.result);
        runs.push(ran.duration.saturating_sub(ran.host_time));
        with_answers.push(ran.duration);
    }
    Ok(Cost { instances, runs, with_answers, whole: started.elapsed() })
}

fn probes() -> Vec<Probe> {
    let chain =
        [certificate(DOMAIN, false), certificate("Stub CA", true), certificate("Stub Root", true)];
    let report = json!({
        "peer_address": "192.0.2.1", "version": 0x0304, "cipher": 0x1302, "alpn": null,
        "chain": ["hex:3000", "hex:3001", "hex:3002"],
        "examination": {"chain": chain, "verification": verification(), "ocsp_staple": null},
        "timing": timing(),
    });
    let page = json!({
        "status": 200,
        "headers": [["content-type", "text/html"], ["strict-transport-security", "max-age=31536000"]],
        "body": "<!doctype html><title>stub</title><img src=/a.png>", "truncated": false,
        "final_url": format!("https://{DOMAIN}/"), "hops": [], "peer_address": "192.0.2.1",
        "timing": timing(),
    });
    let accept = ["accept", "text/html,application/xhtml+xml,*/*;q=0.8"];
    vec![
        Probe {
            call: "tls.inspect".into(),
            request: json!({"endpoint": {"host": DOMAIN, "port": 443}, "complete": true}),
            response: json!({"Ok": report}),
        },
        Probe {
            call: "http.fetch_partial".into(),
            request: json!({
                "method": "GET", "url": format!("https://{DOMAIN}/"), "headers": [accept],
                "max_body": 2 << 20, "connect_to": "192.0.2.1",
            }),
            response: json!({"Ok": {"response": page, "failure": null}}),
        },
    ]
}

fn certificate(name: &str, is_ca: bool) -> Value {
    let now = chrono::Utc::now().timestamp();
    json!({
        "subject": format!("CN={name}"), "issuer": "CN=Stub CA,O=Stub", "issuer_cn": "Stub CA",
        "issuer_org": "Stub", "serial": "01ab", "not_before": now - 86_400, "not_after": now + 90 * 86_400,
        "san_dns": [DOMAIN], "san_ip": [], "signature_algorithm": "ecdsa-with-SHA256",
        "key_algorithm": "EC", "key_bits": 256, "sha256": "ab".repeat(32),
        "spki_sha256": "cd".repeat(32), "tbs_sha256": "ef".repeat(32), "is_ca": is_ca,
        "self_signed": false, "in_trust_path": true, "has_ocsp_url": false, "must_staple": false,
        "sct_count": 0,
    })
}

fn verification() -> Value {
    json!({
        "trusted": true, "chain_complete": true, "hostname_matches": true, "time_valid": true,
        "purpose_valid": true, "missing_issuer": null, "completed_by_aia": false, "error": null,
        "chain_error": null,
    })
}

fn timing() -> Value {
    json!({"resolve_us": null, "connect_us": 10, "tls_us": 10, "first_byte_us": null, "total_us": 20})
}

#[cfg(test)]
mod tests {
    use vedette_tests::Lab;

    use super::*;

    #[tokio::test]
    async fn the_plugin_asks_for_what_the_stubs_answer() {
        let lab = Lab::start().await.expect("a lab");
        let cost = measure(&crate::sandbox(&lab).expect("plugins"), 2).await.expect("runs");
        assert_eq!((cost.instances.len(), cost.runs.len()), (2, 2));
    }
}
