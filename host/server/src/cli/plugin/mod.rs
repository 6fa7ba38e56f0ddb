//! `vedette plugin …`: for those who write plugins.

mod build;
mod new;
mod template;

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Write a project for a new plugin: small, complete, with tests
    New(new::Args),
    /// Build a plugin's project to the one file that is installed
    Build(build::Args),
}

pub(super) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::New(args) => new::run(args),
        Command::Build(args) => build::run(args),
    }
}
