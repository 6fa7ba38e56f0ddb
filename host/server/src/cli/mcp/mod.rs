//! `vedette mcp`: carries MCP between a client that only starts programs, over standard input and
//! output, and the HTTP endpoint of a service.
//!
//! A line comes in ([`lines`]), is read as far as carrying it needs ([`message`]), is posted
//! ([`endpoint`]), and what comes back goes out as lines ([`answer`], [`events`]); [`bridge`] does
//! that for many at once.
//!
//! *Invariant:* standard output carries JSON-RPC and nothing else, one message a line. No database
//! is opened and no configuration is read.

mod answer;
mod bridge;
mod endpoint;
mod events;
mod lines;
mod message;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use reqwest::Url;
use tokio::{
    io::{AsyncWriteExt, BufReader, Stdout},
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use self::{bridge::Bridge, endpoint::Endpoint};
use super::start_log;
use crate::config::{Log, LogFormat};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The MCP endpoint of the service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080/v1/mcp")]
    url: Url,
    /// The API key to call it with; better left to VEDETTE_KEY, for every user of this machine can
    /// read a flag while it runs
    #[arg(long, env = "VEDETTE_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Use the public endpoint: three tools, no key
    #[arg(long)]
    public: bool,
    /// Trust the roots in this PEM file too (repeatable)
    #[arg(long, value_name = "PEM", env = "VEDETTE_CA_FILE", value_delimiter = ',')]
    ca_file: Vec<PathBuf>,
}

/// Carries until standard input ends and everything is answered, or until a signal.
pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    start_log(&Log { filter: "warn".into(), format: LogFormat::Text })?;
    let url = address(args.url, args.public)?;
    // A public endpoint asks for no key, so it is told none.
    let key = args.key.filter(|key| !key.is_empty() && !is_public(&url));
    ensure!(
        key.is_some() || is_public(&url),
        "no API key: set VEDETTE_KEY or give --key; with --public three tools need none"
    );
    let endpoint = Endpoint::new(url, key.as_deref(), &args.ca_file)?;
    tokio::select! {
        carried = carry(endpoint) => carried.map(|()| ExitCode::SUCCESS),
        _ = interrupt.recv() => Ok(ExitCode::SUCCESS),
        _ = terminate.recv() => Ok(ExitCode::SUCCESS),
    }
}

async fn carry(endpoint: Endpoint) -> anyhow::Result<()> {
    let (output, lines) = mpsc::channel(BACKLOG);
    let writer = tokio::spawn(write(tokio::io::stdout(), lines));
    Bridge::new(endpoint, output).carry(BufReader::new(tokio::io::stdin())).await?;
    writer.await?.context("cannot write to standard output")
}

/// The only task that writes, so that lines never mix, and never end halfway because their sender
/// was told to stop.
async fn write(mut output: Stdout, mut lines: mpsc::Receiver<String>) -> std::io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

/// The endpoint that the flags mean.
fn address(mut url: Url, public: bool) -> anyhow::Result<Url> {
    ensure!(
        matches!(url.scheme(), "http" | "https") && url.path().ends_with("/mcp"),
        "--url is the address of the endpoint, such as https://vedette.example.com/v1/mcp"
    );
    if public && !is_public(&url) {
        let base = url.path().strip_suffix("/mcp").unwrap_or_default().to_owned();
        url.set_path(&format!("{base}{PUBLIC}"));
    }
    Ok(url)
}

fn is_public(url: &Url) -> bool {
    url.path().ends_with(PUBLIC)
}

/// Spec: MCP.
const PUBLIC: &str = "/public/mcp";
/// Lines that wait for a client that does not read.
const BACKLOG: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_is_the_other_endpoint_of_the_same_service() {
        for (given, public, expected) in [
            ("https://v.example/v1/mcp", false, Some("https://v.example/v1/mcp")),
            ("https://v.example/v1/mcp", true, Some("https://v.example/v1/public/mcp")),
            ("https://v.example/api/public/mcp", false, Some("https://v.example/api/public/mcp")),
            ("https://v.example/api/public/mcp", true, Some("https://v.example/api/public/mcp")),
            ("https://v.example/", false, None),
            ("ftp://v.example/v1/mcp", false, None),
        ] {
            let url = address(given.parse().expect("a URL"), public);
            assert_eq!(url.ok().as_ref().map(Url::as_str), expected, "{given} {public}");
        }
    }
}
