//! `vedette agent`: looks at certificates where the service cannot, and reports them to it.
//!
//! ```text
//! places ([`targets`]) → the ssl plugin, every interval ([`round`]) → one entry each ([`entry`])
//! → reports of a size that the service takes ([`report`]) → files ([`queue`])
//! → the service ([`server`]), the oldest first ([`delivery`])
//! ```
//!
//! *Invariant:* a report is on disk before it is sent, and until the service has answered for it.
//! *Invariant:* the key is on no command line, in no file of ours and in no log.

mod delivery;
mod entry;
mod identity;
mod queue;
mod report;
mod round;
mod server;
mod targets;

use std::{fs, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use parking_lot::Mutex;
use reqwest::Url;
use tokio::{
    sync::Notify,
    task::block_in_place,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;
use toml::Table;
use vedette_model::Secret;

use self::{
    delivery::{Delivery, Sent},
    identity::Identity,
    queue::Queue,
    round::Looker,
    server::{About, Server},
    targets::{Host, Place},
};
use super::{COULD_NOT, counted, environment, flags, signals, start_log};
use crate::{Clock, Config, config::parse_span, default_folder};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The API of the service, with its prefix, e.g. https://vedette.example.com/api
    #[arg(long, value_name = "URL", value_parser = server::base)]
    url: Url,
    /// Look at the certificate there, on port 443 unless one is given (repeatable). Give names in
    /// full, such as db01.corp.example: no search domain is added and no hosts file is read, so
    /// that of one label those work that the resolver knows, and localhost
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        required_unless_present = "targets"
    )]
    target: Vec<Place>,
    /// Look at the places in this file too: one per line, comments after #
    #[arg(long, value_name = "FILE")]
    targets: Option<PathBuf>,
    /// Read the agent's key from this file [default: the variable VEDETTE_AGENT_KEY]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// How often to look, from 1m to 24h
    #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = pace)]
    interval: Duration,
    /// The folder for reports that wait; each agent needs its own [default: the state folder of
    /// the service manager or of the user]
    #[arg(long, value_name = "DIR")]
    queue: Option<PathBuf>,
    /// What the service calls this agent [default: the name that its key was made with]
    #[arg(long, value_name = "NAME", value_parser = label)]
    name: Option<String>,
    /// Look once, send all that waits, and exit with 0 if everything was delivered, else 2
    #[arg(long)]
    once: bool,
    /// A configuration as `vedette serve` reads it: resolvers, roots, egress.deny, log
    #[arg(long, value_name = "FILE", env = "VEDETTE_CONFIG")]
    config: Option<PathBuf>,
    /// Trust the roots in this PEM file too, at the places and at the service (repeatable)
    #[arg(long, value_name = "PEM")]
    ca_file: Vec<PathBuf>,
    /// Ask this resolver: ADDR or ADDR:PORT, tcp://ADDR, tls://ADDR#NAME or
    /// https://ADDR/dns-query#NAME (repeatable)
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    dns_server: Vec<String>,
}

/// 0 = told to stop, or with `--once` everything was delivered; 2 = anything else.
pub(super) async fn run(args: Args) -> ExitCode {
    match work(&args).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(COULD_NOT),
        Err(cause) => {
            eprintln!("vedette: {cause:#}");
            ExitCode::from(COULD_NOT)
        }
    }
}

/// Whether it ended as it should.
async fn work(args: &Args) -> anyhow::Result<bool> {
    let hosts = targets::all(&args.target, args.targets.as_deref())?;
    let key = args.key()?;
    let folder = args.queue_folder()?;
    let config = Config::load(args.config.as_deref(), environment, args.layer())?;
    start_log(&config.log)?;
    let shutdown = signals::stop(STOPPING)?;
    let server = Server::new(&args.url, key.expose(), &config.ca_file)?;
    let queue = Arc::new(Mutex::new(Queue::open(&folder)?));
    let identity = Identity::open(&folder, &args.url, key.expose());
    let mut delivery = Delivery::new(server, args.about(), identity, Arc::clone(&queue));
    let prepared = async {
        delivery.register().await?;
        Looker::start(&config).await
    };
    let Some(looker) = shutdown.run_until_cancelled(prepared).await else { return Ok(!args.once) };
    let looker = looker?;
    if args.once {
        return once(&looker, &hosts, &queue, delivery, &shutdown).await;
    }
    let fresh = Notify::new();
    let looking = keep_looking(&looker, &hosts, args.interval, &queue, &fresh, &shutdown);
    let sending = async {
        let ended = delivery.keep_sending(&fresh, &shutdown).await;
        // Nothing will be sent any more: then there is no reason to look.
        shutdown.cancel();
        ended
    };
    let ((), ended) = tokio::join!(looking, sending);
    ended.map(|()| true)
}

/// One round, and one attempt at all that waits.
async fn once(
    looker: &Looker,
    hosts: &[Host],
    queue: &Mutex<Queue>,
    mut delivery: Delivery,
    shutdown: &CancellationToken,
) -> anyhow::Result<bool> {
    let is_kept = match shutdown.run_until_cancelled(looker.round(hosts)).await {
        None => return Ok(false),
        Some(entries) => keep(queue, &report::cut(entries)),
    };
    let sent = delivery.send_all(shutdown).await?;
    let waiting = queue.lock().len();
    if waiting > 0 {
        tracing::warn!(waiting, "left for the next run: {}", counted(waiting, "report"));
    }
    Ok(is_kept && matches!(sent, Sent::All) && delivery.given_up() == 0)
}

/// Looks at once and then every interval, until it is told to stop.
async fn keep_looking(
    looker: &Looker,
    hosts: &[Host],
    every: Duration,
    queue: &Mutex<Queue>,
    fresh: &Notify,
    shutdown: &CancellationToken,
) {
    let mut ticks = interval(every);
    // A round that took longer than that is no reason for two at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let round = async {
            ticks.tick().await;
            looker.round(hosts).await
        };
        let Some(entries) = shutdown.run_until_cancelled(round).await else { return };
        keep(queue, &report::cut(entries));
        fresh.notify_one();
    }
}

/// Puts reports on disk; false where one could not be, which is lost then.
fn keep(queue: &Mutex<Queue>, reports: &[String]) -> bool {
    let mut is_kept = true;
    for report in reports {
        let now = Clock::System.now();
        if let Err(cause) = block_in_place(|| queue.lock().push(report, now)) {
            tracing::error!("a report was lost: {cause:#}");
            is_kept = false;
        }
    }
    is_kept
}

impl Args {
    fn key(&self) -> anyhow::Result<Secret<String>> {
        let text = match &self.key_file {
            Some(file) => fs::read_to_string(file)
                .with_context(|| format!("--key-file {}: cannot read it", file.display()))?,
            None => environment(KEY).unwrap_or_default(),
        };
        let key = text.trim();
        ensure!(
            !key.is_empty(),
            "no agent key: set {KEY}, or name a file that holds it with --key-file; \
             POST /agent/key makes one"
        );
        Ok(Secret::new(key.to_owned()))
    }

    fn queue_folder(&self) -> anyhow::Result<PathBuf> {
        let folder = self.queue.clone().or_else(default_folder::agent_queue);
        folder.context("there is no folder for reports that wait: name one with --queue")
    }

    /// Whoever runs an agent owns its network and named the places themselves: every address is
    /// open, except those of `egress.deny`.
    fn layer(&self) -> Table {
        let mut table = Table::new();
        let ca_file: Vec<_> = self.ca_file.iter().map(|path| path.display().to_string()).collect();
        flags::list(&mut table, "egress.allow", &EVERYWHERE.map(str::to_owned));
        flags::list(&mut table, "ca_file", &ca_file);
        flags::list(&mut table, "dns_server", &self.dns_server);
        table
    }

    fn about(&self) -> About {
        About {
            agent_name: self.name.clone(),
            hostname: hostname::get().ok().and_then(|name| name.into_string().ok()),
            version: env!("CARGO_PKG_VERSION"),
            os: std::env::consts::OS,
            interval_seconds: self.interval.as_secs(),
        }
    }
}

fn pace(text: &str) -> Result<Duration, String> {
    parse_span(text)
        .filter(|span| (SHORTEST..=LONGEST).contains(span))
        .ok_or_else(|| "must be a span from 1m to 24h, such as 15m or 6h".to_owned())
}

fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_line = !text.is_empty() && !text.chars().any(char::is_control);
    if is_line && text.chars().count() <= LONGEST_NAME {
        Ok(text.to_owned())
    } else {
        Err(format!("must be one line of 1 to {LONGEST_NAME} characters"))
    }
}

const KEY: &str = "VEDETTE_AGENT_KEY";
const EVERYWHERE: [&str; 2] = ["0.0.0.0/0", "::/0"];
const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// In characters.
const LONGEST_NAME: usize = 100;
const STOPPING: &str = "stopping once the current report is sent; a second signal stops at once";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_from_a_minute_to_a_day() {
        for (text, seconds) in [("1m", 60), ("60s", 60), ("1h", 3600), ("24h", 86_400)] {
            assert_eq!(pace(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["59s", "0m", "25h", "1441m", "1", "hourly", ""] {
            assert!(pace(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(label(" rack 7 "), Ok("rack 7".to_owned()));
        assert!(label(&"ü".repeat(100)).is_ok());
        for text in ["", "  ", "a\nb", &"ü".repeat(101)] {
            assert!(label(text).is_err(), "{text}");
        }
    }
}
