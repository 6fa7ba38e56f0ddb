//! What a site may set for this check (nothing), and what the operator sets for all sites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;
use vedette_sdk::{CheckError, Job, Problem};

use crate::{digest::mark, key::LogKey};

/// Empty: which certificates are expected is said by CAA records and by what the site serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// The operator's `[plugins.ct]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    sources: Vec<Setting>,
}

/// One of the operator's sources as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    kind: Kind,
    url: String,
    /// Of a log: base64 of its public key (DER SubjectPublicKeyInfo, ECDSA P-256), as log lists
    /// have it. With it, tree heads count only when the log signed them; without, the log is as
    /// trustworthy as the connection to it.
    #[serde(default)]
    key: Option<String>,
}

/// Where certificates are looked up. Tried in the operator's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// The base of all requests, without a slash at its end.
    pub(crate) url: String,
    /// A log's; none where signatures of tree heads are not verified.
    pub(crate) key: Option<LogKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Crtsh,
    Certspotter,
    Static,
}

impl Kind {
    /// As results and settings say it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Crtsh => "crtsh",
            Self::Certspotter => "certspotter",
            Self::Static => "static",
        }
    }
}

impl Source {
    #[cfg(test)]
    pub(crate) fn new(kind: Kind, url: &str) -> Self {
        Self { kind, url: url.to_owned(), key: None }
    }

    /// Names the source in what is kept between runs.
    pub(crate) fn mark(&self) -> String {
        mark(&["source", self.kind.as_str(), &self.url])
    }
}

impl Setting {
    /// An error is the field that cannot be used, and why.
    fn accept(self) -> Result<Source, (&'static str, String)> {
        let Self { kind, url, key } = self;
        let url = url.trim_end_matches('/').to_owned();
        let usable = Url::parse(&url).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.has_host()
                && url.query().is_none()
                && url.fragment().is_none()
        });
        if !usable {
            return Err(("url", "must be an http or https URL without query".to_owned()));
        }
        // Better none than a key that nobody holds anything against.
        if key.is_some() && kind != Kind::Static {
            return Err(("key", "is for logs (kind static): nothing else is signed".to_owned()));
        }
        let key = key.map(|key| LogKey::parse(&key)).transpose();
        let key = key.map_err(|told| ("key", told.to_owned()))?;
        Ok(Source { kind, url, key })
    }
}

impl Default for Settings {
    fn default() -> Self {
        let source = |kind, url: &str| Setting { kind, url: url.to_owned(), key: None };
        Self {
            sources: vec![
                source(Kind::Crtsh, "https://crt.sh"),
                source(Kind::Certspotter, "https://api.certspotter.com"),
            ],
        }
    }
}

/// The operator's sources; if none are named, none is asked. An error is
/// `CheckError::InvalidConfig`.
pub(crate) fn sources<C>(job: &Job<C>) -> Result<Vec<Source>, CheckError> {
    let Settings { sources: settings } = job.settings()?;
    let mut problems: Vec<Problem> = Vec::new();
    let mut sources = Vec::with_capacity(settings.len());
    for (index, setting) in settings.into_iter().enumerate() {
        match setting.accept() {
            Ok(source) => sources.push(source),
            Err((field, message)) => {
                problems.push(Problem { pointer: format!("/sources/{index}/{field}"), message });
            }
        }
    }
    if problems.is_empty() { Ok(sources) } else { Err(CheckError::InvalidConfig(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key;

    fn read(settings: &str) -> Result<Vec<Source>, CheckError> {
        let job = Job::new("example.com", Config::default());
        sources(&Job { settings: settings.to_owned(), ..job })
    }

    #[test]
    fn crtsh_then_certspotter_unless_the_operator_says_otherwise() {
        let kinds: Vec<Kind> =
            read("{}").expect("defaults").iter().map(|source| source.kind).collect();
        assert_eq!(kinds, [Kind::Crtsh, Kind::Certspotter]);
        let set = r#"{"sources":[{"kind":"static","url":"http://127.0.0.1:1/log//"}]}"#;
        let sources = read(set).expect("a log");
        assert_eq!(sources, [Source::new(Kind::Static, "http://127.0.0.1:1/log")]);
    }

    #[test]
    fn settings_that_make_no_sense_are_told() {
        for (settings, pointer) in [
            (r#"{"sources":[{"kind":"crtsh","url":"crt.sh"}]}"#, "/sources/0/url"),
            (r#"{"sources":[{"kind":"crtsh","url":"https://crt.sh/?a=1"}]}"#, "/sources/0/url"),
            (r#"{"sources":[{"kind":"crtsh","url":"ftp://crt.sh"}]}"#, "/sources/0/url"),
            (
                r#"{"sources":[{"kind":"static","url":"https://l.example","key":"AA=="}]}"#,
                "/sources/0/key",
            ),
            (
                r#"{"sources":[{"kind":"crtsh","url":"https://crt.sh"},
                               {"kind":"static","url":"https://l.example","key":""}]}"#,
                "/sources/1/key",
            ),
            (r#"{"sources":[{"kind":"other","url":"https://crt.sh"}]}"#, ""),
            (r#"{"source":[]}"#, ""),
        ] {
            let Err(CheckError::InvalidConfig(problems)) = read(settings) else {
                panic!("{settings} is accepted")
            };
            assert_eq!(problems[0].pointer, pointer, "{settings}");
        }
    }

    #[test]
    fn log_may_have_a_key_and_nothing_else_may() {
        let of = |kind: &str, key: &str| {
            let url = "https://l.example";
            read(
                &serde_json::json!({"sources": [{"kind": kind, "url": url, "key": key}]})
                    .to_string(),
            )
        };
        let known = key::tests::encoded(&key::tests::signing(7));
        let sources = of("static", &known).expect("a log with its key");
        assert_eq!(sources[0].key, Some(LogKey::parse(&known).expect("a key")));
        for (kind, key, told) in [
            ("static", key::tests::RSA, "only ECDSA P-256 keys"),
            ("static", "AA==", "DER SubjectPublicKeyInfo"),
            ("crtsh", known.as_str(), "is for logs"),
            ("certspotter", known.as_str(), "is for logs"),
        ] {
            let Err(CheckError::InvalidConfig(problems)) = of(kind, key) else {
                panic!("{kind} with the key {key} is accepted")
            };
            assert_eq!(problems[0].pointer, "/sources/0/key");
            assert!(problems[0].message.contains(told), "{}", problems[0].message);
        }
    }
}
