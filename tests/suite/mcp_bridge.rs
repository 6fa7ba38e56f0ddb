//! `vedette mcp`: what a client that only starts programs meets.

mod stream;
mod subscription;

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpListener,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use vedette_tests::{Leaf, program};

use crate::world::World;

/// A line comes, and the program ends, in this time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// More than it has on its way at once, fewer than the service takes from an address.
const ASKED: i64 = 40;

/// As many as it has on its way at once.
const AT_ONCE: i64 = 16;

/// A running bridge; ends with the value.
struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Bridge {
    fn start(arguments: &[&str], key: Option<&str>) -> Self {
        let mut command = Command::new(program().expect("it was built"));
        command.arg("mcp").args(arguments).env("NO_PROXY", "127.0.0.1").env_remove("VEDETTE_KEY");
        command.envs(key.map(|key| ("VEDETTE_KEY", key)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { input: child.stdin.take(), child, output }
    }

    /// The owner's, at the private endpoint.
    fn of(world: &World) -> Self {
        Self::start(&["--url", &url(world)], Some(&world.owner.key))
    }

    async fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("not yet closed");
        input.write_all(format!("{line}\n").as_bytes()).await.expect("it reads");
        input.flush().await.expect("it reads");
    }

    async fn read(&mut self) -> Value {
        let line = timeout(PATIENCE, self.output.next_line()).await.expect("a line in time");
        let line = line.expect("it can be read").expect("it has not ended");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    async fn ask(&mut self, request: Value) -> Value {
        self.write(&request.to_string()).await;
        self.read().await
    }

    /// Closes its input. Answers what it still wrote, what it logged, and its exit code.
    async fn end(mut self) -> (Vec<Value>, String, Option<i32>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Some(line) = timeout(PATIENCE, self.output.next_line())
            .await
            .expect("it ends in time")
            .expect("it can be read")
        {
            rest.push(serde_json::from_str(&line).expect("every line is JSON"));
        }
        let mut log = String::new();
        let mut errors = self.child.stderr.take().expect("piped");
        errors.read_to_string(&mut log).await.expect("it can be read");
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends in time");
        (rest, log, status.expect("it ran").code())
    }
}

fn url(world: &World) -> String {
    format!("http://{}/v1/mcp", world.service.api)
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "suite", "version": "1"},
    });
    request("first", "initialize", params)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_runs_over_standard_input_and_output() {
    let world = World::start().await;
    let mut bridge = Bridge::of(&world);
    let begun = bridge.ask(initialize()).await;
    assert_eq!((&begun["id"], &begun["jsonrpc"]), (&json!("first"), &json!("2.0")), "{begun}");
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");

    // Nothing answers a notification or an empty line: the next line is that of the next request.
    bridge
        .write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())
        .await;
    bridge.write("").await;
    let listed = bridge.ask(request(2, "tools/list", json!({}))).await;
    assert_eq!(listed["id"], 2);
    let tools = listed["result"]["tools"].as_array().expect("a list");
    assert!(tools.iter().any(|tool| tool["name"] == "list_sites"), "{listed}");

    let call = json!({"name": "add_site", "arguments": {"domain": "shop.example"}});
    let added = bridge.ask(request(3, "tools/call", call)).await;
    assert_eq!((&added["id"], added["result"]["isError"] == true), (&json!(3), false), "{added}");
    let sites = world.owner.client.get("/sites").await.expect(200);
    assert_eq!(sites["sites"][0]["domain"], "shop.example", "{sites}");

    let (rest, log, code) = bridge.end().await;
    assert_eq!((rest, log, code), (Vec::<Value>::new(), String::new(), Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_shows_what_openssl_makes_is_trusted_by_that_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    let made = Leaf::for_names(&["127.0.0.1"]).self_signed_as_authority().expect("signed");
    std::fs::write(&cert, made.chain_pem()).expect("writable");
    std::fs::write(&key, made.key_pem()).expect("writable");
    let toml = format!("[tls]\ncert_file = {cert:?}\nkey_file = {key:?}\n");
    let world = World::with(|settings| settings.toml = toml).await;
    let url = format!("https://{}/v1/mcp", world.service.api);
    let file = cert.to_str().expect("a plain path");

    let mut trusting = Bridge::start(&["--url", &url, "--ca-file", file], Some(&world.owner.key));
    let begun = trusting.ask(initialize()).await;
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18", "{begun}");
    let mut stranger = Bridge::start(&["--url", &url], Some(&world.owner.key));
    let refused = stranger.ask(initialize()).await;
    assert!(refused["error"].is_object(), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_its_version_needs_no_session() {
    let world = World::start().await;
    let mut bridge = Bridge::of(&world);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // The service compares headers and body: a header that the bridge forgot would be an error.
    for (method, params) in [
        ("server/discover", json!({"_meta": meta})),
        ("tools/list", json!({"_meta": meta})),
        ("tools/call", json!({"name": "list_alerts", "arguments": {}, "_meta": meta})),
    ] {
        let answer = bridge.ask(request(method, method, params)).await;
        assert_eq!(answer["id"], method);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
    assert_eq!(bridge.end().await.2, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_was_asked_is_answered_after_the_end_of_input() {
    let world = World::start().await;
    let mut bridge = Bridge::of(&world);
    for id in 0..ASKED {
        bridge.write(&request(id, "ping", json!({})).to_string()).await;
    }
    let (answers, _, code) = bridge.end().await;
    let mut ids: Vec<_> = answers.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, Vec::from_iter(0..ASKED));
    assert!(answers.iter().all(|answer| answer["result"] == json!({})), "{answers:?}");
    assert_eq!(code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_is_read_while_a_request_waits_for_its_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/v1/mcp", listener.local_addr().expect("bound"));
    let mut bridge = Bridge::start(&["--url", &url], Some("ct_any"));
    // None of them is answered.
    let mut connections = Vec::new();
    for id in 0..AT_ONCE {
        bridge.write(&request(id, "ping", json!({})).to_string()).await;
        let connection = timeout(PATIENCE, listener.accept()).await.expect("it connects in time");
        connections.push(connection.expect("it connects"));
    }
    bridge.write(&request(AT_ONCE, "ping", json!({})).to_string()).await;
    let cancelled = json!({"method": "notifications/cancelled", "params": {"requestId": 0}});
    bridge.write(&cancelled.to_string()).await;
    let next = timeout(PATIENCE, listener.accept()).await;
    assert!(next.is_ok(), "the last one still waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_line_is_answered_and_does_not_end_the_session() {
    let world = World::start().await;
    let mut bridge = Bridge::of(&world);
    let long = format!("\"{}\"", "a".repeat(1 << 20));
    for (line, code) in
        [("{\"jsonrpc\":", -32700), ("no", -32700), ("[]", -32600), (long.as_str(), -32600)]
    {
        bridge.write(line).await;
        let answer = bridge.read().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{answer}"
        );
    }
    // Larger than the service takes, and still one that can be answered by its id.
    let large = bridge.ask(request(1, "ping", json!({"pad": "a".repeat(100_000)}))).await;
    assert_eq!((&large["id"], &large["error"]["data"]["status"]), (&json!(1), &json!(413)));
    let unknown = bridge.ask(request(2, "no/such/method", json!({}))).await;
    assert_eq!((&unknown["id"], &unknown["error"]["code"]), (&json!(2), &json!(-32601)));
    assert_eq!(bridge.ask(request(3, "ping", json!({}))).await["result"], json!({}));
    assert_eq!(bridge.end().await.2, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hinders_it_is_said_with_what_to_do() {
    let world = World::start().await;
    let wrong = "ct_nonsense";
    let mut refused = Bridge::start(&["--url", &url(&world)], Some(wrong));
    let answer = refused.ask(initialize()).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("first"), &json!(-32603)));
    assert_eq!(answer["error"]["data"]["status"], 401);
    says(&answer, "VEDETTE_KEY");
    let (_, log, code) = refused.end().await;
    assert_eq!(code, Some(0));
    assert!(!log.contains(wrong), "the key is in the log: {log}");

    let nobody = vedette_tests::free_port().await.expect("a port");
    let nowhere = format!("http://{nobody}/v1/mcp");
    let mut lonely = Bridge::start(&["--url", &nowhere], Some(&world.owner.key));
    says(&lonely.ask(initialize()).await, &nowhere);
    assert_eq!(lonely.end().await.2, Some(0));

    // Without a key there is only the public endpoint, and that must be asked for.
    let (answers, log, code) = Bridge::start(&["--url", &url(&world)], None).end().await;
    assert_eq!((answers.len(), code), (0, Some(1)));
    assert!(log.contains("VEDETTE_KEY") && log.contains("--public"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_endpoint_needs_no_key_and_tells_when_to_come_back() {
    let world = World::start().await;
    let mut bridge = Bridge::start(&["--url", &url(&world), "--public"], None);
    let listed = bridge.ask(request(1, "tools/list", json!({}))).await;
    let tools = listed["result"]["tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 3, "{listed}");
    for id in 2..=10 {
        let answer = bridge.ask(request(id, "ping", json!({}))).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let limited = bridge.ask(request(11, "ping", json!({}))).await;
    let data = &limited["error"]["data"];
    assert_eq!((&limited["id"], &data["status"]), (&json!(11), &json!(429)), "{limited}");
    let wait = data["retry_after"].as_u64().expect("seconds");
    assert!((1..=60).contains(&wait));
    says(&limited, &format!("{wait} s"));
    assert_eq!(bridge.end().await.2, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_it_cleanly() {
    let world = World::start().await;
    let mut bridge = Bridge::of(&world);
    bridge.ask(initialize()).await;
    let pid = bridge.child.id().expect("it runs").to_string();
    let killed = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(killed.is_ok_and(|status| status.success()));
    let status = timeout(PATIENCE, bridge.child.wait()).await.expect("it ends in time");
    assert_eq!(status.expect("it ran").code(), Some(0));
}

#[track_caller]
fn says(answer: &Value, words: &str) {
    let message = answer["error"]["message"].as_str().expect("a sentence");
    assert!(message.contains(words), "{message:?} lacks {words:?}");
}
