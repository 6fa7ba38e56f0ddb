//! `vedette plugin …`: plugins of one's own, from the first line to one that runs.
//!
//! `new` (a project) → `build` (a file) → `install` (a copy in the folder: pending) → `approve` (an
//! entry in the lock) → the service reads the lock again. One file per command.
//!
//! *Invariant:* plugins run here only by `run` and `test`, behind the gate that a service has: the
//! rest is for the service.
//! *Invariant:* the exit code says what is at fault: 0 nothing, 1 the plugin, 2 anything else.

mod approve;
mod asked;
mod build;
mod case;
mod inspect;
mod install;
mod list;
mod mask;
mod new;
mod outcome;
mod place;
mod reload;
mod remove;
mod rollback;
mod run;
mod set;
mod switch;
mod template;
mod test;
mod trial;

use std::{io::Write, process::ExitCode};

use clap::Subcommand;
use serde_json::json;

use super::COULD_NOT;
use outcome::{Done, Failure, Said};
use switch::Switch;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Write a project for a new plugin: small, complete, with tests
    New(new::Args),
    /// Build a plugin's project to the one file that is installed
    Build(build::Args),
    /// Show what a component is, what it asks for, and why it would be refused; nothing of it runs
    Inspect(inspect::Args),
    /// Run a check once, installed or not, with all that it asks for, and say what it cost
    Run(run::Args),
    /// Run a check again as it was recorded, without a network, and compare what it sees
    Test(test::Args),
    /// Copy a component into the plugin folder, where it waits for approval
    Install(install::Args),
    /// Let a waiting plugin run, with what it asks for or with less
    Approve(approve::Args),
    /// List the plugins of the folder, or with --admin all that the service has
    List(list::Args),
    /// Let a disabled plugin run again
    Enable(switch::Args),
    /// Keep a plugin from running; its approval stays
    Disable(switch::Args),
    /// Set a check plugin's settings, and how often it runs
    Set(set::Args),
    /// Go back to a plugin's previous version; a second time undoes that
    Rollback(rollback::Args),
    /// Remove a plugin and its files from the folder
    Remove(remove::Args),
    /// Have a running service read plugins.lock again, and list what it has then
    Reload(reload::Args),
}

/// Does what the command line says, prints it, and answers the exit code.
pub(super) async fn run(command: Command) -> ExitCode {
    match command {
        Command::New(args) => finish(args.json, new::run(&args)),
        Command::Build(args) => {
            finish(args.json, tokio::task::block_in_place(|| build::run(&args)))
        }
        Command::Inspect(args) => finish(args.place.json, inspect::run(&args)),
        Command::Run(args) => finish(args.json, run::run(&args).await),
        Command::Test(args) => finish(args.json, test::run(&args).await),
        Command::Install(args) => finish(args.place.json, install::run(&args)),
        Command::Approve(args) => finish(args.place.json, approve::run(&args).await),
        Command::List(args) => finish(args.place.json, list::run(&args).await),
        Command::Enable(args) => finish(args.place.json, switch::run(&args, Switch::On).await),
        Command::Disable(args) => finish(args.place.json, switch::run(&args, Switch::Off).await),
        Command::Set(args) => finish(args.place.json, set::run(&args).await),
        Command::Rollback(args) => finish(args.place.json, rollback::run(&args).await),
        Command::Remove(args) => finish(args.place.json, remove::run(&args).await),
        Command::Reload(args) => finish(args.json, reload::run(&args).await),
    }
}

fn finish(as_json: bool, done: Done) -> ExitCode {
    let (code, text) = match done {
        Ok(said) if as_json => (FINE, format!("{}\n", said.json)),
        Ok(said) => (FINE, said.text),
        Err(failure) => {
            let nothing = Said { json: json!({}), text: String::new() };
            let (code, who, said, cause) = match failure {
                Failure::Plugin(cause) => (AT_FAULT, "plugin", nothing, cause),
                Failure::Refused(said, cause) => (AT_FAULT, "plugin", said, cause),
                Failure::Environment(cause) => (COULD_NOT, "environment", nothing, cause),
            };
            if !as_json {
                print(&said.text);
                eprintln!("vedette: {cause:#}");
                return ExitCode::from(code);
            }
            let mut json = said.json;
            json["error"] = who.into();
            json["message"] = format!("{cause:#}").into();
            (code, format!("{json}\n"))
        }
    };
    print(&text);
    ExitCode::from(code)
}

/// A reader that went away (`| head`) is no reason to say anything else.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

const FINE: u8 = 0;
const AT_FAULT: u8 = 1;
