//! How the layers become one table: file, then environment, then flags.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use vedette_sandbox::mistake::{self, Spot};

use super::{Config, unknown};

/// Why there is no configuration; names the file, the key or the variable. It ends up in a journal:
/// no line of the file is quoted, since any may hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {path}: {cause}", path = path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("{path}: line {line}, column {column}: {reason}", path = path.display())]
    File { path: PathBuf, line: usize, column: usize, reason: String },
    #[error("{variable}: {reason}")]
    Variable { variable: &'static str, reason: String },
    #[error("{key} {reason}")]
    Key { key: String, reason: String },
}

/// How the text of an environment variable is read.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// Separated by commas.
    List,
    /// `true` or `false`.
    Switch,
    /// Any TOML value, such as this one.
    Toml(&'static str),
}

impl Config {
    /// Reads `file` (where there is one), lays the environment's `VEDETTE_…` and then `flags`
    /// over it, and checks the whole.
    ///
    /// # Errors
    /// [`Error`], for the first thing that is wrong.
    pub fn load(
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<String>,
        flags: Table,
    ) -> Result<Self, Error> {
        let mut table = file.map(read).transpose()?.unwrap_or_default();
        let mut layers = Vec::new();
        if let Some(path) = file {
            layers.push((format!("set in {}", path.display()), table.clone()));
        }
        for (key, variable, kind) in KEYS {
            if let Some(text) = environment(variable) {
                let value =
                    kind.value(&text).map_err(|reason| Error::Variable { variable, reason })?;
                let mut layer = Table::new();
                set(&mut layer, key, value.clone());
                layers.push((format!("set in {variable}"), layer));
                set(&mut table, key, value);
            }
        }
        layers.push(("set by a flag".to_owned(), flags.clone()));
        merge(&mut table, flags);
        let config: Result<Self, Error> =
            serde_path_to_error::deserialize(table).map_err(|cause| {
                Error::key(cause.path().to_string(), without_value(cause.inner().message()))
            });
        config.and_then(Self::check).map_err(|wrong| wrong.placed(&layers))
    }

    /// Whether a configuration may have this key at its top.
    pub fn has_key(name: &str) -> bool {
        KEYS.iter().any(|(key, ..)| key.split('.').next() == Some(name))
    }
}

impl Error {
    pub(super) fn key(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Key { key: key.into(), reason: reason.into() }
    }

    /// The same with the uppermost layer that holds the key; a key that is missing is in none.
    fn placed(self, layers: &[(String, Table)]) -> Self {
        let Self::Key { key, reason } = self else { return self };
        let layer = layers.iter().rev().find(|(_, table)| holds(table, &key));
        let reason = match layer {
            Some((place, _)) => format!("{reason} ({place})"),
            None => reason,
        };
        Self::Key { key, reason }
    }

    fn in_file(path: &Path, text: &str, cause: &toml::de::Error, reason: String) -> Self {
        let start = Spot { line: 1, column: 1 };
        let Spot { line, column } = mistake::spot(text, cause).unwrap_or(start);
        Self::File { path: path.to_owned(), line, column, reason }
    }
}

/// Of a value that is of the wrong type its kind alone: serde quotes numbers and texts.
fn without_value(message: &str) -> String {
    const FOUND: &str = "invalid type: ";
    let parts = message.strip_prefix(FOUND).and_then(|rest| rest.rsplit_once(", expected "));
    let Some((found, expected)) = parts else { return message.to_owned() };
    let kind = found.split(['`', '"']).next().unwrap_or_default().trim_end();
    format!("{FOUND}{kind}, expected {expected}")
}

/// Sets a dotted key such as `egress.allow`, making the tables on the way.
pub fn set(table: &mut Table, key: &str, value: Value) {
    let Some((section, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    if let Value::Table(inner) = inner {
        set(inner, rest, value);
    }
}

/// Whether the table says something about a key such as `egress.allow` or `plugins.ct.sources[0].url`.
/// What is no table comes from one layer as a whole.
fn holds(table: &Table, key: &str) -> bool {
    let (first, rest) = key.split_once(['.', '[']).unwrap_or((key, ""));
    match table.get(first) {
        Some(Value::Table(inner)) if !rest.is_empty() => holds(inner, rest),
        value => value.is_some(),
    }
}

/// The file alone must be a configuration too: its errors then carry line and column.
fn read(path: &Path) -> Result<Table, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    // What is no TOML has no keys.
    let syntax = |cause: toml::de::Error| {
        let reason = cause.message().to_owned();
        Error::in_file(path, &text, &cause, reason)
    };
    let document = toml::de::Deserializer::parse(&text).map_err(syntax)?;
    serde_path_to_error::deserialize::<_, Config>(document).map_err(|cause| {
        let reason = reason(&cause.path().to_string(), cause.inner().message());
        Error::in_file(path, &text, cause.inner(), reason)
    })?;
    toml::from_str(&text).map_err(syntax)
}

/// What is wrong with a key of the file.
fn reason(key: &str, message: &str) -> String {
    unknown::key(key, message).unwrap_or_else(|| format!("{key}: {}", without_value(message)))
}

impl Kind {
    fn value(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Text => Ok(Value::String(text.to_owned())),
            Self::List => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Ok(Value::Array(items.map(|item| Value::String(item.to_owned())).collect()))
            }
            Self::Switch => match text {
                "true" | "1" => Ok(Value::Boolean(true)),
                "false" | "0" => Ok(Value::Boolean(false)),
                _ => Err("must be true or false".into()),
            },
            // Of the text nothing is quoted, as of the file.
            Self::Toml(example) => toml::from_str::<Table>(&format!("value = {text}"))
                .map(|mut table| table.remove("value").expect("the text begins with it"))
                .map_err(|cause| {
                    format!("must be TOML such as {example}, but: {}", cause.message())
                }),
        }
    }
}

/// Lays `over` on `table`: tables key by key, everything else as a whole.
fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Every variable that the configuration is read from.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(_, variable, _)| *variable)
}

/// Every key that the environment can set, its variable, and how the text is read.
const KEYS: &[(&str, &str, Kind)] = &[
    ("listen", "VEDETTE_LISTEN", Kind::Text),
    ("admin_listen", "VEDETTE_ADMIN_LISTEN", Kind::Text),
    ("db", "VEDETTE_DB", Kind::Text),
    ("edition", "VEDETTE_EDITION", Kind::Text),
    ("public_url", "VEDETTE_PUBLIC_URL", Kind::Text),
    ("no_first_account", "VEDETTE_NO_FIRST_ACCOUNT", Kind::Switch),
    ("location", "VEDETTE_LOCATION", Kind::Text),
    ("cache_dir", "VEDETTE_CACHE_DIR", Kind::Text),
    ("dnssec_anchor", "VEDETTE_DNSSEC_ANCHOR", Kind::Text),
    ("dns_server", "VEDETTE_DNS_SERVER", Kind::List),
    ("ca_file", "VEDETTE_CA_FILE", Kind::List),
    ("trusted_proxy", "VEDETTE_TRUSTED_PROXY", Kind::List),
    ("tls.cert_file", "VEDETTE_TLS_CERT_FILE", Kind::Text),
    ("tls.key_file", "VEDETTE_TLS_KEY_FILE", Kind::Text),
    ("log.filter", "VEDETTE_LOG", Kind::Text),
    ("log.format", "VEDETTE_LOG_FORMAT", Kind::Text),
    ("admin.token", "VEDETTE_ADMIN_TOKEN", Kind::Text),
    ("cors.origins", "VEDETTE_CORS_ORIGINS", Kind::List),
    ("egress.allow", "VEDETTE_EGRESS_ALLOW", Kind::List),
    ("egress.deny", "VEDETTE_EGRESS_DENY", Kind::List),
    ("egress.public_allow", "VEDETTE_PUBLIC_EGRESS_ALLOW", Kind::List),
    ("intervals.ssl", "VEDETTE_INTERVALS_SSL", Kind::Text),
    ("intervals.dns", "VEDETTE_INTERVALS_DNS", Kind::Text),
    ("intervals.domain", "VEDETTE_INTERVALS_DOMAIN", Kind::Text),
    ("intervals.ct", "VEDETTE_INTERVALS_CT", Kind::Text),
    ("intervals.uptime", "VEDETTE_INTERVALS_UPTIME", Kind::Text),
    ("confirm.recheck", "VEDETTE_CONFIRM_RECHECK", Kind::Text),
    ("guard.late", "VEDETTE_GUARD_LATE", Kind::Text),
    ("retention.checks", "VEDETTE_RETENTION_CHECKS", Kind::Text),
    ("retention.alerts", "VEDETTE_RETENTION_ALERTS", Kind::Text),
    ("plugins.folder", "VEDETTE_PLUGINS_FOLDER", Kind::Text),
    ("plugins.domain.rdap_bootstrap_url", "VEDETTE_RDAP_BOOTSTRAP_URL", Kind::Text),
    ("plugins.domain.whois_root", "VEDETTE_WHOIS_ROOT", Kind::Text),
    (
        "plugins.ct.sources",
        "VEDETTE_CT_SOURCES",
        Kind::Toml(r#"[{ kind = "crtsh", url = "https://crt.sh/" }]"#),
    ),
    ("smtp.url", "VEDETTE_SMTP_URL", Kind::Text),
    ("smtp.from", "VEDETTE_SMTP_FROM", Kind::Text),
    ("oidc.issuer", "VEDETTE_OIDC_ISSUER", Kind::Text),
    ("oidc.jwks_url", "VEDETTE_OIDC_JWKS_URL", Kind::Text),
    ("oidc.audience", "VEDETTE_OIDC_AUDIENCE", Kind::Text),
    ("payments.secret", "VEDETTE_PAYMENTS_SECRET", Kind::Text),
    ("payments.api_base", "VEDETTE_PAYMENTS_API_BASE", Kind::Text),
    ("payments.api_key", "VEDETTE_PAYMENTS_API_KEY", Kind::Text),
    ("payments.success_url", "VEDETTE_PAYMENTS_SUCCESS_URL", Kind::Text),
    ("payments.products", "VEDETTE_PAYMENTS_PRODUCTS", Kind::Toml(r#"{ prod_1 = "pro" }"#)),
    ("cron.secret", "VEDETTE_CRON_SECRET", Kind::Text),
    ("renewal.directory_url", "VEDETTE_RENEWAL_DIRECTORY_URL", Kind::Text),
    ("renewal.contact", "VEDETTE_RENEWAL_CONTACT", Kind::Text),
    ("renewal.propagation", "VEDETTE_RENEWAL_PROPAGATION", Kind::Text),
    ("secrets.key_file", "VEDETTE_SECRETS_KEY_FILE", Kind::Text),
    ("heartbeat.url", "VEDETTE_HEARTBEAT_URL", Kind::Text),
    ("channels.extra_hosts", "VEDETTE_CHANNELS_EXTRA_HOSTS", Kind::List),
    ("signup.max_free_per_ip", "VEDETTE_SIGNUP_MAX_FREE_PER_IP", Kind::Toml("5")),
];

#[cfg(test)]
mod tests;
