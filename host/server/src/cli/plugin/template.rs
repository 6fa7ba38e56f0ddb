//! The projects that `vedette plugin new` begins: the files of `sdk/templates`, and what fills
//! their gaps.
//!
//! *Invariant:* a gap is `{{word}}`, and each word has one meaning in all files.

use clap::ValueEnum;

/// What a plugin plugs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Looks at sites
    Check,
    /// Tells people
    Notifier,
}

/// What fills the gaps.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// `publisher.name`.
    pub(super) id: String,
    /// The crate's name.
    pub(super) package: String,
    /// A few words for people.
    pub(super) title: String,
    /// The check's type or the channel's name.
    pub(super) named: String,
    /// Where `vedette-sdk` comes from, as keys of its inline table.
    pub(super) sdk: String,
}

/// The files of a new project: each one's path, and its text.
pub(super) fn files(kind: Kind, gaps: &Gaps) -> Vec<(&'static str, String)> {
    let files = match kind {
        Kind::Check => &CHECK,
        Kind::Notifier => &NOTIFIER,
    };
    files.iter().map(|&(path, text)| (path, gaps.fill(text))).collect()
}

impl Gaps {
    fn fill(&self, text: &str) -> String {
        let words = [
            ("{{id}}", self.id.as_str()),
            ("{{package}}", self.package.as_str()),
            ("{{title}}", self.title.as_str()),
            ("{{type}}", self.named.as_str()),
            ("{{version}}", VERSION),
            // The last, since a path may hold anything.
            ("{{sdk}}", self.sdk.as_str()),
        ];
        words.into_iter().fold(text.to_owned(), |text, (gap, word)| text.replace(gap, word))
    }
}

/// What every new plugin begins with.
const VERSION: &str = "0.1.0";

const IGNORED: &str = "/target\n/*.wasm\n";

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/templates/", $path))
    };
}

static CHECK: [(&str, &str); 6] = [
    (".gitignore", IGNORED),
    ("Cargo.toml", template!("rust-check/Cargo.toml.in")),
    ("README.md", template!("rust-check/README.md")),
    ("plugin.toml", template!("rust-check/plugin.toml")),
    ("src/lib.rs", template!("rust-check/src/lib.rs")),
    ("src/tests.rs", template!("rust-check/src/tests.rs")),
];

static NOTIFIER: [(&str, &str); 6] = [
    (".gitignore", IGNORED),
    ("Cargo.toml", template!("rust-notifier/Cargo.toml.in")),
    ("README.md", template!("rust-notifier/README.md")),
    ("plugin.toml", template!("rust-notifier/plugin.toml")),
    ("src/lib.rs", template!("rust-notifier/src/lib.rs")),
    ("src/tests.rs", template!("rust-notifier/src/tests.rs")),
];

#[cfg(test)]
mod tests {
    use toml::Table;
    use vedette_sandbox::{Kind as Plugs, Manifest, Settings};

    use super::*;

    fn filled(kind: Kind) -> Vec<(&'static str, String)> {
        let gaps = Gaps {
            id: "acme.smtp-banner".to_owned(),
            package: "acme-smtp-banner".to_owned(),
            title: "Smtp banner".to_owned(),
            named: "smtp_banner".to_owned(),
            sdk: "path = \"/vedette/sdk/rust\"".to_owned(),
        };
        files(kind, &gaps)
    }

    fn text(kind: Kind, path: &str) -> String {
        let file = filled(kind).into_iter().find(|(name, _)| *name == path);
        file.expect("the project has such a file").1
    }

    #[test]
    fn no_gap_is_left() {
        for kind in [Kind::Check, Kind::Notifier] {
            for (path, text) in filled(kind) {
                assert!(!text.contains("{{") && !text.contains("}}"), "{kind:?} {path}");
            }
        }
    }

    #[test]
    fn manifests_are_what_the_sandbox_reads() {
        for (kind, plugs) in [
            (Kind::Check, Plugs::Check("smtp_banner".parse().expect("a check type"))),
            (Kind::Notifier, Plugs::Notifier("smtp_banner".to_owned())),
        ] {
            let manifest = Manifest::parse(&text(kind, "plugin.toml"), &Settings::new());
            let manifest = manifest.expect("a manifest");
            assert_eq!(
                (manifest.id.as_str(), manifest.version.as_str()),
                ("acme.smtp-banner", VERSION)
            );
            assert_eq!(manifest.kind, plugs);
        }
    }

    #[test]
    fn crates_are_components_with_the_sdk_that_was_named() {
        for kind in [Kind::Check, Kind::Notifier] {
            let cargo: Table = text(kind, "Cargo.toml").parse().expect("TOML");
            assert_eq!(cargo["package"]["name"].as_str(), Some("acme-smtp-banner"));
            assert_eq!(cargo["package"]["version"].as_str(), Some(VERSION));
            assert_eq!(cargo["lib"]["crate-type"][0].as_str(), Some("cdylib"));
            for dependencies in ["dependencies", "dev-dependencies"] {
                let sdk = &cargo[dependencies]["vedette-sdk"];
                assert_eq!(sdk["path"].as_str(), Some("/vedette/sdk/rust"));
            }
        }
    }
}
