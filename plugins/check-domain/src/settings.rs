//! What the operator set for this check: where its two sources begin.
//!
//! *Invariant:* what is kept for other settings is never read: an operator who points the check at
//! servers of their own gets the answers of those servers.

use serde::Deserialize;
use vedette_sdk::{CheckError, Job, Problem};

use crate::{config::Config, server::Server, shared::digest};

/// The operator's `[plugins.domain]`, with the public sources where it is silent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The RDAP bootstrap file (RFC 9224).
    pub(crate) bootstrap_url: String,
    /// The WHOIS server that knows the server of every TLD.
    pub(crate) whois_root: Server,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    rdap_bootstrap_url: Option<String>,
    whois_root: Option<String>,
}

impl Settings {
    /// Reads the settings of a run.
    pub(crate) fn of(job: &Job<Config>) -> Result<Self, CheckError> {
        let written: Written = job.settings()?;
        let bootstrap_url = written.rdap_bootstrap_url.unwrap_or_else(|| BOOTSTRAP_URL.to_owned());
        let whois_root = match written.whois_root {
            None => Server::new(WHOIS_ROOT, WHOIS_PORT),
            Some(text) => Server::parse(&text, WHOIS_PORT).ok_or_else(|| {
                let message = format!("must be host:port, not {text:?}");
                CheckError::InvalidConfig(vec![Problem {
                    pointer: "/whois_root".to_owned(),
                    message,
                }])
            })?,
        };
        Ok(Self { bootstrap_url, whois_root })
    }

    pub(crate) fn has_public_bootstrap(&self) -> bool {
        self.bootstrap_url == BOOTSTRAP_URL
    }

    pub(crate) fn has_public_root(&self) -> bool {
        self.whois_root.host == WHOIS_ROOT
    }

    /// Where WHOIS servers listen: a root on a port of its own has its registries there too.
    pub(crate) fn whois_port(&self) -> u16 {
        self.whois_root.port
    }

    /// Tells what was found out under these settings from what was found out under others.
    pub(crate) fn realm(&self) -> String {
        digest(&format!("{} {}", self.bootstrap_url, self.whois_root))
    }
}

/// RFC 9224, 3: where IANA publishes the file.
const BOOTSTRAP_URL: &str = "https://data.iana.org/rdap/dns.json";
const WHOIS_ROOT: &str = "whois.iana.org";
/// RFC 3912.
pub(crate) const WHOIS_PORT: u16 = 43;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &str) -> Result<Settings, CheckError> {
        let mut job = Job::new("example.com", Config::default());
        job.settings = settings.to_owned();
        Settings::of(&job)
    }

    #[test]
    fn silence_means_the_public_sources() {
        for text in ["{}", r#"{"rdap_bootstrap_url":null,"whois_root":null}"#] {
            let settings = read(text).expect("it fits");
            assert!(settings.has_public_bootstrap() && settings.has_public_root());
            assert_eq!(settings.whois_port(), 43);
        }
        let stated = r#"{"rdap_bootstrap_url":"https://data.iana.org/rdap/dns.json","whois_root":"whois.iana.org:43"}"#;
        assert_eq!(read(stated).ok(), read("{}").ok());
    }

    #[test]
    fn own_sources_are_told_apart() {
        let own = r#"{"rdap_bootstrap_url":"http://127.0.0.1:81/dns.json","whois_root":"127.0.0.1:4343"}"#;
        let settings = read(own).expect("it fits");
        assert!(!settings.has_public_bootstrap() && !settings.has_public_root());
        assert_eq!(settings.whois_port(), 4343);
        assert_ne!(settings.realm(), read("{}").expect("it fits").realm());
    }

    #[test]
    fn root_that_is_no_host_and_port_is_the_operators_problem() {
        for text in [r#"{"whois_root":"a b:43"}"#, r#"{"whois_root":"x:0"}"#, r#"{"whois_root":7}"#]
        {
            assert!(matches!(read(text), Err(CheckError::InvalidConfig(_))), "{text}");
        }
    }
}
