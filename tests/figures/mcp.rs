//! What a tool costs beside the route that answers the same.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use vedette_tests::{Client, Lab, Service};

use crate::print_row;

/// What the plan `pro` holds.
const SITES: usize = 50;
/// Of each of three requests: with the one before, fewer than the plan admits in ten seconds.
const ROUNDS: usize = 30;
/// Longer than the window in which the plan counts queries.
const WINDOW: Duration = Duration::from_secs(11);

/// `tools/list` and `list_sites` against `GET /sites`, taken in turns.
pub(crate) async fn measure(lab: &Lab) -> anyhow::Result<()> {
    let service = Service::start(lab.settings()).await?;
    let account = service.account("figures@example.com", "pro").await?;
    let client = &account.client;
    for number in 0..SITES {
        let body = json!({"domain": format!("{number}.example"), "monitoring_enabled": false});
        client.post("/sites", body).await.expect(200);
    }
    tokio::time::sleep(WINDOW).await;
    let call = json!({"name": "list_sites", "arguments": {}});
    let (mut rest, mut list, mut sites) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let listed = client.get("/sites").await.expect(200);
        let of_rest = started.elapsed();
        ensure!(count(&listed["sites"]) == SITES, "{listed}");
        let (of_list, answer) = ask(client, round, "tools/list", json!({})).await;
        ensure!(count(&answer["tools"]) > 0, "{answer}");
        let (of_sites, answer) = ask(client, round, "tools/call", call.clone()).await;
        // What a model can read of them in one answer.
        ensure!(answer["structuredContent"]["total"] == SITES, "{answer}");
        // The first of each fills caches and opens connections.
        if round > 0 {
            rest.push(of_rest);
            list.push(of_list);
            sites.push(of_sites);
        }
    }
    println!("MCP beside REST, {SITES} sites, {ROUNDS} rounds");
    print_row("  GET /sites", &mut rest);
    for (what, times) in [("  tools/list", &mut list), ("  tools/call list_sites", &mut sites)] {
        print_row(what, times);
        println!("{what}: {:.2} times GET /sites", median(times) / median(&rest));
    }
    Ok(())
}

/// Each round with an id of its own, as clients count: only answers whose id does not matter can
/// come from memory.
async fn ask(client: &Client, id: usize, method: &str, params: Value) -> (Duration, Value) {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let started = Instant::now();
    let answer = client.post("/mcp", request).await.expect(200);
    (started.elapsed(), answer["result"].clone())
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// In seconds; of times that are sorted.
fn median(times: &[Duration]) -> f64 {
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64()
}
