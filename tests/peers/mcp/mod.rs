//! The service as clients that others wrote meet it: the official SDKs of MCP in Python and
//! TypeScript and the command line of its inspector, over HTTP and over `vedette mcp`, in both
//! eras of the protocol; and both SDKs as subscribers (`Client.listen`, as `mcp` 2.3 and
//! `@modelcontextprotocol/client` 2.4 have it).
//!
//! The scripts beside this file do the talking and print what they saw; what that must be stands
//! in `report`.

mod report;
mod world;

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use vedette_tests::program;

use self::world::World;
use crate::program::{command, has_node, installed, output, pass_over, turn};

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_agrees_with_every_tool_in_both_eras() {
    if !has_python_sdk().await {
        return;
    }
    let _turn = turn().await;
    let world = World::start().await.expect("the service starts");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/mcp/client.py");
    let mut python = command("python");
    python.arg(script).arg(world.task("").to_string());
    report::judge(&said(&mut python).await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_sdks_agree_with_every_tool_in_both_eras() {
    let Some(packages) = packages().await else { return };
    let _turn = turn().await;
    let world = World::start().await.expect("the service starts");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/mcp/client.mjs");
    let mut node = command("node");
    node.arg(script).arg(world.task(&packages.display().to_string()).to_string());
    report::judge(&said(&mut node).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_with_the_python_sdk_is_told_what_changes() {
    if !has_python_sdk().await {
        return;
    }
    let _turn = turn().await;
    let world = World::start().await.expect("the service starts");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/mcp/listen.py");
    let mut python = command("python");
    python.arg(script).arg(world.task("").to_string());
    report::subscribed(&said(&mut python).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_with_the_typescript_sdk_is_told_what_changes() {
    let Some(packages) = packages().await else { return };
    let _turn = turn().await;
    let world = World::start().await.expect("the service starts");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/mcp/listen.mjs");
    let mut node = command("node");
    node.arg(script).arg(world.task(&packages.display().to_string()).to_string());
    report::subscribed(&said(&mut node).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_finds_nothing_to_complain_of() {
    let Some(packages) = packages().await else { return };
    let _turn = turn().await;
    let world = World::start().await.expect("the service starts");
    let home = TempDir::with_prefix("vedette-inspector-").expect("a folder");
    let inspect = |arguments: &[&str]| {
        let mut node = command("node");
        node.arg(packages.join("node_modules").join(INSPECTOR)).args(["--cli", "--format", "json"]);
        node.args(arguments).env("HOME", home.path()).env("NO_PROXY", "127.0.0.1");
        node
    };
    let bearer = format!("Authorization: Bearer {}", world.owner.key);
    let url = world.url("/mcp");
    for era in ["legacy", "modern"] {
        let http = ["--server-url", &url, "--transport", "http", "--header", &bearer];
        let asked = [&http[..], &["--protocol-era", era]].concat();
        // Exits with 6 where a schema is one that some clients cannot use.
        let list = [&asked[..], &["--method", "tools/list", "--strict"]].concat();
        let listed = said(&mut inspect(&list)).await;
        report::documented(&listed["result"]["tools"], era);

        let call = ["--method", "tools/call", "--tool-name", "check_dns"];
        let domain = format!("{{\"domain\": \"{}\"}}", world::DOMAIN);
        let call = [&asked[..], &call, &["--tool-args-json", &domain]].concat();
        let called = said(&mut inspect(&call)).await;
        assert_eq!(
            called["result"]["structuredContent"]["records"][0]["type"], "A",
            "{era}: {called}"
        );
    }
    let program = program().expect("it was built").display().to_string();
    let key = format!("VEDETTE_KEY={}", world.owner.key);
    let stdio = ["-e", &key, "--protocol-era", "auto", "--method", "tools/list", "--strict", "--"];
    let started = [&stdio[..], &[program.as_str(), "mcp", "--url", &url]].concat();
    let listed = said(&mut inspect(&started)).await;
    report::documented(&listed["result"]["tools"], "stdio");
}

/// What a program printed as JSON, and it ended well.
async fn said(command: &mut Command) -> Value {
    let ended = output(command).await.expect("it ends");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}: {errors}", ended.status);
    let text = String::from_utf8_lossy(&ended.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}\n{errors}"))
}

async fn has_python_sdk() -> bool {
    if !installed(&[("python", "python3-venv")]) {
        return false;
    }
    let found = output(command("python").args(["-c", "import mcp"])).await;
    let found = found.is_ok_and(|ended| ended.status.success());
    if !found {
        pass_over("the Python SDK of MCP");
    }
    found
}

/// The folder above `node_modules`, where that has all of them and Node is one that runs them.
async fn packages() -> Option<PathBuf> {
    if !has_node().await {
        return None;
    }
    let folder = PathBuf::from(std::env::var_os("VEDETTE_PEERS").unwrap_or_default());
    let scope = folder.join("node_modules/@modelcontextprotocol");
    let missing = ["sdk", "client", "inspector"].iter().find(|name| !scope.join(name).is_dir());
    if let Some(name) = missing {
        pass_over(&format!("@modelcontextprotocol/{name}"));
        return None;
    }
    std::path::absolute(folder).ok()
}

const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
