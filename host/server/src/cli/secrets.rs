//! `vedette secrets`: goes on with a database whose key is lost. It opens the database itself, so the
//! service must not run.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anyhow::ensure;
use toml::Table;
use vedette_model::AccountId;
use vedette_store::{Discarded, Store};

use super::{counted, environment, flags, start_log};
use crate::{Config, database};

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Open a database whose key is lost, discarding what was encrypted with it; prints what that
    /// was. Stop the service first (on several machines: all of them)
    Discard(Args),
}

#[derive(clap::Args)]
pub(super) struct Args {
    /// The configuration of the service; flags and VEDETTE_… variables win over it
    #[arg(long, value_name = "FILE", env = "VEDETTE_CONFIG")]
    config: Option<PathBuf>,
    /// The database, as for serve [default: surrealkv://data/vedette]
    #[arg(long, value_name = "URL")]
    db: Option<String>,
    /// Do it: what is discarded does not come back, not even with the key
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    let Command::Discard(args) = command;
    let mut table = Table::new();
    flags::text(&mut table, "db", args.db.as_ref());
    let config = Config::load(args.config.as_deref(), environment, table)?;
    ensure!(args.yes, "{WARNING}");
    start_log(&config.log)?;
    let (store, discarded) = database::open_discarding(&config).await?;
    let told = told(&store, &discarded).await;
    store.close().await?;
    let mut out = io::stdout().lock();
    told?.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

/// A line for each account that has lost something, and for what is nobody's.
async fn told(store: &Store, discarded: &Discarded) -> anyhow::Result<Vec<String>> {
    let Discarded { settings, sites, certificates, acme_accounts, letters, .. } = discarded;
    let mut lines = Vec::new();
    for account in settings {
        let whose = owner(store, *account).await?;
        lines.push(format!(
            "{whose}: its notification settings are the defaults again, which notify nobody"
        ));
    }
    for (account, domain) in sites {
        let whose = owner(store, *account).await?;
        lines.push(format!("{whose}: {domain} has no dns_provider_config and deploy_config"));
    }
    for (count, noun) in [
        (*certificates, "renewed certificate"),
        (*acme_accounts, "ACME account"),
        (*letters, "mail"),
    ] {
        if count > 0 {
            lines.push(format!("discarded {}", counted(count, noun)));
        }
    }
    if lines.is_empty() {
        lines.push("nothing was discarded".to_owned());
    }
    lines.push("the database now belongs to the present key: start the service".to_owned());
    Ok(lines)
}

/// As the operator knows an account.
async fn owner(store: &Store, account: AccountId) -> anyhow::Result<String> {
    let found = store.account(account).await?;
    Ok(match found {
        Some(found) => format!("account {account} ({})", found.email),
        None => format!("account {account}"),
    })
}

const WARNING: &str = "this discards, for good, what was encrypted with a key that you no longer have: the \
     notification settings of every account, the dns_provider_config and deploy_config of its sites, renewed \
     certificates, and mails on their way. Sites, checks, alerts, accounts and API keys stay. If the \
     key may yet be found, look for it first. To go on without it, add --yes";
