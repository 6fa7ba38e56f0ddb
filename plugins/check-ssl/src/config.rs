//! What a site may set for this check, and what its port says where it sets nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vedette_sdk::tls;

/// Empty by default: the port says how the conversation starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The protocol that is spoken in clear before TLS. Absent: by port (25 and 587 smtp, 143
    /// imap, 110 pop3, 21 ftp, 5432 postgres, 5222 xmpp, any other none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starttls: Option<Starttls>,
    /// Tells of an expiry only once an automatic renewal is overdue: within `alert_days`, when less
    /// than a quarter of the certificate's lifetime is left. Absent: within `alert_days`, except for
    /// certificates that live for less than two days.
    #[serde(skip_serializing_if = "is_unset")]
    pub only_overdue: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Starttls {
    /// TLS from the first byte.
    None,
    Smtp,
    Imap,
    Pop3,
    Ftp,
    Postgres,
    Xmpp,
}

impl Config {
    /// How TLS starts on this port.
    pub(crate) fn starttls(&self, port: u16) -> Option<tls::Starttls> {
        match self.starttls.unwrap_or_else(|| usual(port)) {
            Starttls::None => None,
            Starttls::Smtp => Some(tls::Starttls::Smtp),
            Starttls::Imap => Some(tls::Starttls::Imap),
            Starttls::Pop3 => Some(tls::Starttls::Pop3),
            Starttls::Ftp => Some(tls::Starttls::Ftp),
            Starttls::Postgres => Some(tls::Starttls::Postgres),
            Starttls::Xmpp => Some(tls::Starttls::Xmpp),
        }
    }
}

fn is_unset(only_overdue: &bool) -> bool {
    !only_overdue
}

fn usual(port: u16) -> Starttls {
    match port {
        25 | 587 => Starttls::Smtp,
        143 => Starttls::Imap,
        110 => Starttls::Pop3,
        21 => Starttls::Ftp,
        5432 => Starttls::Postgres,
        5222 => Starttls::Xmpp,
        _ => Starttls::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_decides_unless_configured() {
        let unset = Config::default();
        assert_eq!(unset.starttls(587), Some(tls::Starttls::Smtp));
        assert_eq!(unset.starttls(5432), Some(tls::Starttls::Postgres));
        assert_eq!(unset.starttls(443), None);
        assert_eq!(unset.starttls(993), None);
        let off = Config { starttls: Some(Starttls::None), ..Config::default() };
        assert_eq!(off.starttls(25), None);
        let imap = Config { starttls: Some(Starttls::Imap), ..Config::default() };
        assert_eq!(imap.starttls(1143), Some(tls::Starttls::Imap));
    }

    #[test]
    fn empty_configuration_stays_empty_and_unknown_fields_are_refused() {
        let config: Config =
            serde_json::from_str("{}").expect("the empty object is a configuration");
        assert_eq!(serde_json::to_string(&config).expect("it has a form in JSON"), "{}");
        let overdue: Config =
            serde_json::from_str(r#"{"only_overdue":true}"#).expect("it is a configuration");
        assert!(overdue.only_overdue);
        assert!(serde_json::from_str::<Config>(r#"{"sni":"x"}"#).is_err());
        assert!(serde_json::from_str::<Config>(r#"{"starttls":"telnet"}"#).is_err());
    }
}
