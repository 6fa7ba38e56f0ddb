//! The command line: `serve`, `check`, `account`, `health`, `plugin`, `secrets`, `mcp`,
//! `agent`.
//!
//! *Invariant:* what a program may read goes to standard output, everything else to standard
//! error.

mod account;
mod agent;
mod chain;
mod check;
mod client;
mod flags;
mod health;
mod log_lines;
mod mcp;
mod operator_port;
mod plugin;
mod print;
mod secrets;
mod serve;
mod signals;
mod token;
mod watchdog;

use std::{io::IsTerminal, process::ExitCode, sync::Mutex};

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use self::log_lines::LogLines;
use crate::config::{Log, LogFormat};

/// Watches certificates, names and sites, and tells you before your users do.
#[derive(Parser)]
#[command(name = "vedette", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service: API, scheduler, notifier and, unless --db says otherwise, the database
    Serve(Box<serve::Args>),
    /// Run one check now and print what it saw; exits with 0 ok, 1 findings, 2 could not check
    Check(check::Args),
    /// Create, list, change and delete accounts of a running service, through its operator's port
    #[command(subcommand)]
    Account(account::Command),
    /// Ask a running service whether it is well; exits with 0 if it is, 1 if not
    Health(health::Args),
    /// Write, build, install and approve plugins of your own; exits with 0 fine, 1 the plugin is at
    /// fault, 2 anything else
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Open a database whose key is lost, discarding what was encrypted
    #[command(subcommand)]
    Secrets(secrets::Command),
    /// Carry MCP between standard input and output and a running service, for AI assistants that
    /// only start programs
    Mcp(mcp::Args),
    /// Look at certificates that the service cannot reach, and report them to it (team edition);
    /// exits with 0 told to stop, or with --once everything delivered, 2 anything else
    Agent(Box<agent::Args>),
}

/// Does what the command line says and answers the exit code.
pub async fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve::run(*args).await.map(|()| ExitCode::SUCCESS),
        Command::Check(args) => return check::run(args).await,
        Command::Account(command) => account::run(command).await.map(|()| ExitCode::SUCCESS),
        Command::Health(args) => health::run(args).await,
        Command::Plugin(command) => return plugin::run(command).await,
        Command::Secrets(command) => secrets::run(command).await.map(|()| ExitCode::SUCCESS),
        Command::Mcp(args) => mcp::run(args).await,
        Command::Agent(args) => return agent::run(*args).await,
    };
    done.unwrap_or_else(|cause| {
        eprintln!("vedette: {cause:#}");
        ExitCode::FAILURE
    })
}

/// Starts the log on standard error.
fn start_log(log: &Log) -> anyhow::Result<()> {
    // The library would take a blank for a part of a name.
    let filter = log.directives().collect::<Vec<_>>().join(",");
    let filter = EnvFilter::try_new(filter)
        .map_err(|cause| anyhow::anyhow!("log.filter cannot be read: {cause}"))?;
    let log_lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(Mutex::new(LogLines::to(std::io::stderr())));
    let started = match log.format {
        LogFormat::Text => log_lines.try_init(),
        LogFormat::Json => log_lines.json().try_init(),
    };
    started.map_err(|cause| anyhow::anyhow!("cannot start the log: {cause}"))
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `1 file`, `2 files`.
fn counted(count: usize, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// The exit code of commands whose 1 is an answer: there is none.
const COULD_NOT: u8 = 2;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn one_is_counted_in_the_singular() {
        let told = [0, 1, 2].map(|count| super::counted(count, "file"));
        assert_eq!(told, ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
