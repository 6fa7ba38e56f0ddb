//! Runs that were recorded, and had again without a network.

use std::{fs, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use vedette_model::{CheckType, domain_name::Target};
use vedette_sandbox::{
    Grant, Job, Recorder, Recording, RunError, Sandbox,
    egress::{self, Audience, Refusal},
};
use vedette_tests::{Lab, Manner, Peer, Ran, Reply, free_port, plugin};

use super::{path, project::built, sandbox_with};
use crate::world::in_some_round;

/// One run of a new project's check, live and then from its case.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_is_had_again_and_compared() {
    let place = TempDir::with_prefix("vedette-case-").expect("a folder");
    let (component, _) = built("acme.greeting", &place.path().join("greeting"), "check").await;
    let case = place.path().join("greeting/tests/esmtp.toml");
    let peer = Peer::start(Manner::Banner(b"220 mx.example ESMTP\r\n".to_vec())).await;
    let peer = peer.expect("free ports");
    let config = format!("port = {}\nexpected = 'ESMTP'", peer.port());
    let record = async || {
        let network = ["--config", &config, "--egress-allow", "127.0.0.0/8"];
        let run = ["run", path(&component), "--target", "127.0.0.1", "--record", path(&case)];
        plugin(&[&run[..], &network].concat()).await.expect("the program runs")
    };
    let recorded = record().await;
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    let again = record().await;
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.errors.contains("is there already; remove it"), "{again:?}");
    drop(peer);

    let test = async || -> Ran {
        let arguments = ["test", path(&component), path(&case), "--json"];
        plugin(&arguments).await.expect("the program runs")
    };
    let passed = test().await;
    assert_eq!(passed.code, Some(0), "{passed:?}");
    let expected = json!({ "file": path(&case), "passed": true, "differences": [], "unused": [] });
    assert_eq!(passed.json()["cases"], json!([expected]));

    let text = fs::read_to_string(&case).expect("the case");
    for (from, to, said) in [
        ("matched = true", "matched = false", "result.matched: expected false, saw true"),
        ("health = \"ok\"", "health = \"down\"", r#"health: expected "down", saw "ok""#),
        ("call = \"tcp.read\"", "call = \"dns.lookup\"", "no recorded answer to tcp.read"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&case, text.replace(from, to)).expect("written");
        let failed = test().await;
        assert_eq!(failed.code, Some(1), "{failed:?}");
        let verdict = failed.json();
        let differences = verdict["cases"][0]["differences"].as_array().expect("a list");
        let mut differences = differences.iter().filter_map(Value::as_str);
        assert!(differences.any(|difference| difference.contains(said)), "{failed:?}");
        assert!(verdict["message"].as_str().is_some_and(|text| text.contains("1 of 1")));
    }
    fs::write(&case, "[job]\ntarget = 7\n").expect("written");
    let unread = test().await;
    assert_eq!(unread.code, Some(2), "{unread:?}");
}

/// Our own checks ask all that there is to ask: what was written down of their probes is enough
/// to have the same run again.
#[tokio::test(flavor = "multi_thread")]
async fn checks_of_ours_see_the_same_again() {
    let lab = Lab::start().await.expect("a lab");
    let domain = "shop.example";
    let certificate = lab.certificate(domain, 60).expect("a certificate");
    let site = lab.site(domain, certificate).await.expect("a site");
    lab.dns.answer(domain, Reply::address(site.address().ip()));
    let sandbox = sandbox(&lab);
    for name in ["ssl", "dns", "uptime"] {
        let check: CheckType = name.parse().expect("a check type");
        let given = json!({});
        let config = sandbox.validate(&check, domain, &given).await.expect("a configuration");
        let job = Job { config, ..job(domain, site.port()) };
        let recorder = Arc::<Recorder>::default();
        let live = sandbox.record(&check, job.clone(), Arc::clone(&recorder)).await;
        let live = live.expect("an observation").observation.result;
        let recorded = recorder.take();
        assert!(!recorded.probes.is_empty(), "{name}");
        // As a case file has them.
        let probes = serde_json::to_string(&recorded.probes).expect("JSON");
        let recording = Recording::new(serde_json::from_str(&probes).expect("probes"));
        let recording = Arc::new(recording.with_addresses(recorded.addresses));
        let again = sandbox.replay(&check, job, Arc::clone(&recording)).await;
        let again = again.expect("the same again").observation.result;
        assert_eq!(untimed(again), untimed(live), "{name}");
        assert!(recording.unused().is_empty(), "{name}: {:?}", recording.unused());
    }
}

/// The sandbox and the plugin each have a list of ports, and neither sees the other's: a port that
/// no request may go to would be a site that is down.
#[tokio::test(flavor = "multi_thread")]
async fn uptime_asks_no_port_that_the_sandbox_would_refuse() {
    let lab = Lab::start().await.expect("a lab");
    let (sandbox, domain) = (sandbox(&lab), "shop.example");
    let uptime: CheckType = "uptime".parse().expect("a check type");
    let config = sandbox.validate(&uptime, domain, &json!({})).await.expect("a configuration");
    let refused = |port: &u16| {
        let url = format!("http://{domain}:{port}/");
        matches!(egress::url::parse(&url), Err(Refusal::Port(_)))
    };
    let nothing = Arc::new(Recording::new(Vec::new()));
    let ports: Vec<u16> = (1..=u16::MAX).filter(refused).collect();
    assert!(ports.len() > 50, "{ports:?}");
    for port in ports {
        let job = Job { config: config.clone(), ..job(domain, port) };
        let ran = sandbox.replay(&uptime, job, Arc::clone(&nothing)).await;
        assert!(matches!(ran, Err(RunError::UnsupportedTarget(_))), "{port}: {ran:?}");
    }
}

/// Whoever asks for checks of a host that is silent takes nothing away from those who watch it.
#[tokio::test(flavor = "multi_thread")]
async fn runs_that_somebody_asked_for_keep_no_planned_one_from_a_host() {
    let lab = Lab::start().await.expect("a lab");
    let sandbox = Arc::new(sandbox(&lab));
    in_some_round("the planned run ends before those that wait for the server", async |round| {
        is_run_beside_them(&lab, &sandbox, &format!("shop-{round}.example")).await
    })
    .await;
}

/// Whether a planned run came while those that somebody asked for waited for the silent server still.
/// A machine can be too busy for that.
async fn is_run_beside_them(lab: &Lab, sandbox: &Arc<Sandbox>, domain: &str) -> bool {
    lab.dns.answer(domain, Reply::address("127.0.0.1".parse().expect("an address")));
    let ssl: CheckType = "ssl".parse().expect("a check type");
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("free ports");
    let port = silent.local_addr().expect("it is bound").port();
    let asked: Vec<_> = (0..3)
        .map(|nth| {
            // Each asks for something else: those who ask the same share a run.
            let job = Job { omit: vec![format!("nothing_{nth}")], ..job(domain, port) };
            let (sandbox, ssl) = (Arc::clone(sandbox), ssl.clone());
            tokio::spawn(async move { sandbox.run(&ssl, job).await })
        })
        .collect();
    let mut kept = Vec::new();
    for _ in 0..2 {
        kept.push(silent.accept().await.expect("a check connects"));
    }
    // Nobody listens there, so it ends at once.
    let closed = free_port().await.expect("free ports");
    let planned = Job { watched: true, ..job(domain, closed.port()) };
    let seen = sandbox.run(&ssl, planned).await.expect("an observation");
    assert_eq!(seen.observation.result["error"], "connection_refused");
    let all_wait = asked.iter().all(|run| !run.is_finished());
    asked.iter().for_each(|run| run.abort());
    all_wait
}

fn job(domain: &str, port: u16) -> Job {
    Job {
        run_id: "case".to_owned(),
        target: Target::parse(domain).expect("a target"),
        port: Some(port),
        connect_to: None,
        config: json!({}),
        omit: Vec::new(),
        now: chrono::Utc::now(),
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    }
}

/// Without what a run measured by its clock, which stands in a replay.
fn untimed(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        fields.retain(|name, _| !name.ends_with("_ms"));
        for value in fields.values_mut() {
            *value = untimed(value.take());
        }
    }
    result
}

fn sandbox(lab: &Lab) -> Sandbox {
    let sandbox = sandbox_with(lab.dns.address().into(), vec![lab.authority.root_der()]);
    for plugin in vedette_bundle::BUILT_IN {
        if ["vedette.check-ssl", "vedette.check-dns", "vedette.check-uptime"].contains(&plugin.id) {
            sandbox.install(plugin.component, Grant::AsAsked).expect(plugin.id);
        }
    }
    sandbox
}
