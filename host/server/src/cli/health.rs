//! `vedette health`: asks the operator's port how a running service is, for probes of containers
//! and for timers: the port may want a token, which no HTTP probe takes from a secret.

use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value;

use super::operator_port::{self, Admin};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Ask whether requests can be served now, rather than whether the work keeps up: this asks the
    /// database too, so a service that is not ready does not necessarily need a restart
    #[arg(long)]
    ready: bool,
    /// Ask only whether the process answers at all: for whatever restarts it when it does not
    #[arg(long, conflicts_with = "ready")]
    live: bool,
    #[command(flatten)]
    admin: Admin,
}

/// Exits with 0 if the service says that it is well, 1 if it says otherwise or nothing.
pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Args { ready, live, admin: Admin { admin } } = args;
    let path = match (ready, live) {
        (true, _) => "/readyz",
        (_, true) => "/livez",
        (false, false) => "/healthz",
    };
    let url = admin.join(path).context("--admin is not a base address")?;
    let request = operator_port::client()?.get(url).timeout(PATIENCE);
    let (status, answer) = operator_port::ask(&admin, request).await?;
    let said = said(&answer);
    if status.is_success() {
        println!("{said}");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("vedette: {said}");
    Ok(ExitCode::FAILURE)
}

/// One line of an answer: its status, or what went wrong.
fn said(answer: &Value) -> String {
    let word = |name: &str| answer[name].as_str().map(str::to_owned);
    let said = match (word("status"), word("message")) {
        (Some(status), Some(why)) => format!("{status}: {why}"),
        (status, why) => status.or(why).unwrap_or_else(|| answer.to_string()),
    };
    match answer["seconds"].as_u64() {
        Some(seconds) if said == "behind" => format!("{said} by {seconds} s"),
        Some(seconds) => format!("{said} for {seconds} s"),
        None => said,
    }
}

/// Probes ask again soon.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_one_line() {
        for (answer, line) in [
            (json!({ "status": "ok" }), "ok"),
            (json!({ "status": "behind", "seconds": 42 }), "behind by 42 s"),
            (json!({ "status": "offline", "seconds": 420 }), "offline for 420 s"),
            (json!({ "status": "not ready", "message": "no disk" }), "not ready: no disk"),
            (json!({ "error": "unauthorized", "message": "send a token" }), "send a token"),
            (json!([]), "[]"),
        ] {
            assert_eq!(said(&answer), line);
        }
    }
}
