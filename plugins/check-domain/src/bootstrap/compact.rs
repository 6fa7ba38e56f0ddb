//! The bootstrap file in a form that is small and quick to search: a line for each server, its
//! base URLs and then the domains that it answers for. Lines that begin with `#` are comments.

use std::fmt::Write;

use super::document::{Document, Service};
use crate::name::is_below;

/// A file in this form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a>(pub(crate) &'a str);

/// An entry that matches a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) label: &'a str,
    line: &'a str,
}

impl<'a> Entry<'a> {
    /// The base URLs of its server, the preferred one first.
    pub(crate) fn bases(self) -> impl Iterator<Item = &'a str> {
        self.line.split_ascii_whitespace().take_while(|word| is_base(word))
    }
}

impl<'a> Table<'a> {
    /// The entry that has most labels in common with the name (RFC 9224, 4).
    pub(crate) fn find(self, name: &str) -> Option<Entry<'a>> {
        let matching =
            self.entries().filter(|entry| entry.label == name || is_below(name, entry.label));
        matching.max_by_key(|entry| entry.label.len())
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(|line| {
            let labels = line.split_ascii_whitespace().skip_while(|word| is_base(word));
            labels.map(move |label| Entry { label, line })
        })
    }
}

/// No label has a colon.
fn is_base(word: &str) -> bool {
    word.contains("://")
}

/// The services in this form.
pub fn write(services: &[Service]) -> String {
    let mut text = String::new();
    for service in services {
        text.push_str(&service.bases.join(" "));
        for label in &service.labels {
            text.push(' ');
            text.push_str(label);
        }
        text.push('\n');
    }
    text
}

/// A whole file in this form, sorted, below a head that says what it is.
pub fn write_file(document: &Document) -> String {
    let mut services = document.services.clone();
    services.iter_mut().for_each(|service| service.labels.sort_unstable());
    services.sort_unstable_by(|one, other| one.bases.cmp(&other.bases));
    let mut text = String::new();
    for line in HEAD {
        writeln!(text, "# {line}").expect("writing to a string succeeds");
    }
    writeln!(text, "# publication: {}", document.publication).expect("as above");
    text + &write(&services)
}

const HEAD: &[&str] = &[
    "RDAP servers by top-level domain: IANA's bootstrap file (RFC 9224) in a compact form, a line",
    "for each server: its base URLs, then the domains that it answers for.",
    "It is refreshed at run time; the copy here counts where that has not happened yet. To renew it:",
    "  curl -s https://data.iana.org/rdap/dns.json | cargo run -p check-domain --example bootstrap \\",
    "    > plugins/check-domain/data/rdap-bootstrap.txt",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table<'static> = Table(
        "# https://comment.example/ com\n\
         https://com.example/ com net\n\
         \n\
         https://uk.example/ uk\n\
         https://co.example/ co.uk\n",
    );

    #[test]
    fn longest_match_wins_by_whole_labels() {
        for (name, base) in [
            ("example.com", Some("https://com.example/")),
            ("example.net", Some("https://com.example/")),
            ("example.org.uk", Some("https://uk.example/")),
            ("example.co.uk", Some("https://co.example/")),
            ("notco.uk", Some("https://uk.example/")),
            ("example.telecom", None),
            ("https://com.example/", None),
        ] {
            let found = TABLE.find(name).and_then(|entry| entry.bases().next());
            assert_eq!(found, base, "{name}");
        }
    }

    #[test]
    fn written_files_read_back() {
        let service = |bases: &[&str], labels: &[&str]| Service {
            bases: bases.iter().map(|&base| base.to_owned()).collect(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
        };
        let document = Document {
            publication: "2026-01-01T00:00:00Z".to_owned(),
            services: vec![
                service(&["https://b.example/", "http://b.example/"], &["y", "x"]),
                service(&["http://a.example/"], &["z"]),
            ],
        };
        let text = write_file(&document);
        let bases = |entry: Entry<'_>| entry.bases().collect::<Vec<_>>().join(" ");
        let read: Vec<(String, &str)> =
            Table(&text).entries().map(|entry| (bases(entry), entry.label)).collect();
        let both = || "https://b.example/ http://b.example/".to_owned();
        assert_eq!(read, [("http://a.example/".to_owned(), "z"), (both(), "x"), (both(), "y")]);
        assert!(text.contains("# publication: 2026-01-01T00:00:00Z\n"));
    }
}
