//! `vedette account …`: speaks to the operator's port of a running service.

use std::io::Write;

use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};
use uuid::Uuid;

use super::operator_port::{self, Admin};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create an account and print it, with its API key, as one JSON object
    Create {
        /// The address that its mail goes to, unless its settings name others
        #[arg(long, value_name = "ADDRESS")]
        email: String,
        /// free, starter or pro; in the team edition free, pro or team
        #[arg(long)]
        plan: String,
        /// standard or team [default: the first that the service serves]
        #[arg(long)]
        edition: Option<String>,
        #[command(flatten)]
        admin: Admin,
    },
    /// Give one account another address, as when its owner's has changed
    Email {
        /// The account's id, as `create` and `list` print it
        #[arg(value_name = "ACCOUNT-ID", value_parser = account_id)]
        account: Uuid,
        /// The address that its mail goes to, unless its settings name others
        address: String,
        #[command(flatten)]
        admin: Admin,
    },
    /// Move one account to another plan of its edition
    Plan {
        /// The account's id, as `create` and `list` print it
        #[arg(value_name = "ACCOUNT-ID", value_parser = account_id)]
        account: Uuid,
        /// free, starter or pro; in the team edition free, pro or team
        plan: String,
        #[command(flatten)]
        admin: Admin,
    },
    /// Make another API key for one account, whose owner has lost theirs, and print it as one JSON
    /// object
    Key {
        /// The account's id, as `create` and `list` print it
        #[arg(value_name = "ACCOUNT-ID", value_parser = account_id)]
        account: Uuid,
        /// Give this key a new secret instead, if the plan allows no more keys; without this flag
        /// the refusal names the existing ones
        #[arg(long, value_name = "KEY-ID")]
        roll: Option<Uuid>,
        #[command(flatten)]
        admin: Admin,
    },
    /// Delete one account with all its data, for good; its subscriptions are cancelled first
    Delete {
        /// The account's id, as `create` and `list` print it
        #[arg(value_name = "ACCOUNT-ID", value_parser = account_id)]
        account: Uuid,
        #[command(flatten)]
        admin: Admin,
    },
    /// Switch the deprecated certificate renewal on or off for one account
    Renewal {
        /// The account's id, as `create` and `list` print it
        #[arg(value_name = "ACCOUNT-ID", value_parser = account_id)]
        account: Uuid,
        /// Whoever switches it on agrees to the terms of the certificate authority
        switch: Switch,
        #[command(flatten)]
        admin: Admin,
    },
    /// Print all accounts as one JSON object
    List {
        #[command(flatten)]
        admin: Admin,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

/// Clap says which text is meant.
fn account_id(text: &str) -> Result<Uuid, &'static str> {
    text.parse().map_err(|_| {
        "an account's id looks like 01890a5d-ac96-774b-bcce-b302099a8057; `vedette account list` \
         lists them all"
    })
}

pub(super) async fn run(command: Command) -> anyhow::Result<()> {
    let answer = match command {
        Command::Create { email, plan, edition, admin } => {
            let mut body = json!({ "email": email, "plan": plan });
            if let Some(edition) = edition {
                body["edition"] = edition.into();
            }
            let (client, url) = admin.accounts()?;
            admin.send(client.post(url).json(&body)).await?
        }
        Command::Email { account, address, admin } => {
            admin.change(account, json!({ "email": address })).await?
        }
        Command::Plan { account, plan, admin } => {
            admin.change(account, json!({ "plan": plan })).await?
        }
        Command::Key { account, roll, admin } => {
            let body = roll.map_or_else(|| json!({}), |key| json!({ "roll": key }));
            let (client, url) = admin.account(account)?;
            let keys = format!("{}/keys", url.path());
            let url = url.join(&keys).context("--admin is not a base address")?;
            admin.send(client.post(url).json(&body)).await?
        }
        Command::Delete { account, admin } => {
            let (client, url) = admin.account(account)?;
            // The provider is asked to cancel first, and then site after site goes.
            let request = client.delete(url).timeout(operator_port::LONG_PATIENCE);
            admin.send(request).await?
        }
        Command::Renewal { account, switch, admin } => {
            let on = matches!(switch, Switch::On);
            admin.change(account, json!({ "renewal": on })).await?
        }
        Command::List { admin } => json!({ "accounts": all_accounts(&admin).await? }),
    };
    writeln!(std::io::stdout(), "{answer}").context("cannot write the answer")
}

async fn all_accounts(admin: &Admin) -> anyhow::Result<Vec<Value>> {
    let (client, url) = admin.accounts()?;
    let mut accounts = Vec::new();
    loop {
        let mut page = url.clone();
        page.query_pairs_mut()
            .append_pair("limit", &PAGE.to_string())
            .append_pair("offset", &accounts.len().to_string());
        let mut answer = admin.send(client.get(page)).await?;
        let Value::Array(items) = answer["accounts"].take() else {
            bail!("the operator's port answered no accounts")
        };
        let last = items.len() < PAGE;
        accounts.extend(items);
        if last {
            return Ok(accounts);
        }
    }
}

impl Admin {
    fn accounts(&self) -> anyhow::Result<(Client, Url)> {
        let url = self.admin.join("/admin/accounts").context("--admin is not a base address")?;
        Ok((operator_port::client()?, url))
    }

    fn account(&self, account: Uuid) -> anyhow::Result<(Client, Url)> {
        let (client, mut url) = self.accounts()?;
        url.set_path(&format!("{}/{account}", url.path()));
        Ok((client, url))
    }

    async fn change(&self, account: Uuid, body: Value) -> anyhow::Result<Value> {
        let (client, url) = self.account(account)?;
        self.send(client.patch(url).json(&body)).await
    }

    async fn send(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        operator_port::send(&self.admin, request).await
    }
}

const PAGE: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_none_is_told_with_one_and_where_they_are_listed() {
        let id = Uuid::now_v7();
        assert_eq!(account_id(&id.to_string()), Ok(id));
        for text in ["", "7", "owner@example.com"] {
            let said = account_id(text).expect_err(text);
            let shown = said
                .split_ascii_whitespace()
                .find_map(|word| account_id(word.trim_end_matches(';')).ok());
            assert!(shown.is_some() && said.contains("vedette account list"), "{said}");
        }
    }
}
