//! What is logged. The filter is held to levels and `crate=level`: the library takes a level that is
//! misspelled for a crate, and logs next to nothing.

use serde::Deserialize;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

use super::Error;

/// What is logged, and in which form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// A filter such as `info` or `warn,vedette_server=debug`.
    pub filter: String,
    pub format: LogFormat,
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: DEFAULT_FILTER.into(), format: LogFormat::Text }
    }
}

impl Log {
    /// What the filter is made of.
    pub(crate) fn directives(&self) -> impl Iterator<Item = &str> {
        self.filter.split(',').map(str::trim).filter(|directive| !directive.is_empty())
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        match self.directives().find(|directive| !is_directive(directive)) {
            None => Ok(()),
            Some(unknown) => {
                let reason = format!(
                    "holds {unknown}, which is neither a level (error, warn, info, debug, trace or \
                     off) nor crate=level, as in warn,vedette_server=debug"
                );
                Err(Error::key("log.filter", reason))
            }
        }
    }
}

/// Stricter than the library, which takes a word that is no level for a crate that is to log
/// everything, and what holds two directives without a comma for one of a crate with a strange name.
fn is_directive(text: &str) -> bool {
    if text.contains('[') {
        return EnvFilter::try_new(text).is_ok();
    }
    let Some((target, level)) = text.split_once('=') else {
        return text.parse::<LevelFilter>().is_ok();
    };
    // A crate's name has `_` in logs where it is written with `-`.
    let belongs = |c: char| c.is_alphanumeric() || "_:./".contains(c);
    !target.is_empty()
        && target.chars().all(belongs)
        && !level.is_empty()
        && level.parse::<LevelFilter>().is_ok()
}

/// What we do ourselves; of the libraries only what is wrong. When the embedded database closes,
/// its second handle complains that the first has closed it; the resolver tells of every answer of
/// a name server that DNSSEC cannot use, also as errors: zones without an end make hundreds in one
/// look; the database warns of each commit that fails, without the reason. Errors that matter come as
/// results.
const DEFAULT_FILTER: &str = "warn,vedette_server=info,vedette_store=info,vedette_sandbox=info,\
     surrealdb::core::kvs::ds=off,surrealdb::core::kvs::tx=error,surrealkv=error,hickory_net=error,\
     hickory_net::dnssec=off,salvo_core::service=error,rmcp=error";
