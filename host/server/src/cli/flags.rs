//! Flags that several commands share, and how flags become a layer of the configuration.

use std::path::PathBuf;

use clap::Args;
use toml::{Table, Value};

use crate::config::set;

/// Which networks may be reached, and through which resolver.
#[derive(Args)]
pub(super) struct Network {
    /// Open a private range for checks and webhooks, e.g. 10.0.0.0/8 (repeatable)
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    egress_allow: Vec<String>,
    /// Ask this resolver: ADDR or ADDR:PORT, tcp://ADDR, tls://ADDR#NAME or
    /// https://ADDR/dns-query#NAME (repeatable)
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    dns_server: Vec<String>,
    /// Trust the roots in this PEM file too (repeatable)
    #[arg(long, value_name = "PEM")]
    ca_file: Vec<PathBuf>,
}

impl Network {
    pub(super) fn layer(&self, table: &mut Table) {
        let ca_file: Vec<_> = self.ca_file.iter().map(|path| path.display().to_string()).collect();
        list(table, "egress.allow", &self.egress_allow);
        list(table, "dns_server", &self.dns_server);
        list(table, "ca_file", &ca_file);
    }
}

/// A chain to judge in place of a server's.
#[derive(Args)]
pub(super) struct Chain {
    /// Judge the certificates of this PEM file, leaf first, without a network (ssl only)
    #[arg(
        long,
        value_name = "PEM",
        requires = "name",
        conflicts_with_all = ["target", "port", "origin_ip", "config"],
    )]
    pub(super) chain_file: Option<PathBuf>,
    /// With --chain-file: the name or address that the certificate has to be for
    #[arg(long, value_name = "NAME", requires = "chain_file", conflicts_with = "target")]
    pub(super) name: Option<String>,
    /// With --chain-file: judge at this moment, e.g. 2026-11-20 or 2026-11-20T15:04:05Z
    #[arg(long, value_name = "TIME", requires = "chain_file", conflicts_with = "target")]
    pub(super) at: Option<String>,
}

/// Sets a key where its flag was given.
pub(super) fn text(table: &mut Table, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        set(table, key, Value::String(value.clone()));
    }
}

/// Sets a key where its flag was given at least once.
pub(super) fn list(table: &mut Table, key: &str, values: &[String]) {
    if !values.is_empty() {
        let values = values.iter().cloned().map(Value::String).collect();
        set(table, key, Value::Array(values));
    }
}
