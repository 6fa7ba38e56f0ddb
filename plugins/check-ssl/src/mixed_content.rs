//! Plain-http references in a page that was served over TLS: a static scan of its HTML.
//!
//! *Invariant:* nothing that the page names is ever fetched.

use std::borrow::Cow;

use url::{Host, Url};
use vedette_sdk::charset;

use crate::result::{Example, Kind, MixedContent};
use markup::{Markup, Piece, Tag};

mod css;
mod markup;
mod rules;

#[cfg(test)]
mod tests;

/// The largest page that is looked at, in bytes.
pub(crate) const MAX_PAGE: u32 = 2 << 20;

const MAX_EXAMPLES: usize = 10;
/// Longer URLs are cut in the examples.
const MAX_URL: usize = 2_000;
/// URLs that are read in full. Beyond, one that looks like plain http is taken for it: the count
/// says enough by then, and a page must not decide how long it is looked at.
const MAX_READ: u32 = 5_000;
/// Each costs as much as a hundred bytes of text, and a run has 200 ms of a machine that may be busy.
const MAX_STOPS: usize = 150_000;
/// A page that has to be converted may become three times as long, and memory is limited.
const MAX_CONVERTED: usize = 1 << 20;
/// A longer base is no base; otherwise each reference would cost as much as it is long.
const MAX_BASE: usize = 2_000;

/// A page as it was served, in full.
pub(crate) struct Page<'a> {
    /// Where it came from in the end.
    pub(crate) url: &'a Url,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: &'a [u8],
}

/// Counts the references of a page; none when it is no HTML, or too much of it.
pub(crate) fn scan(page: &Page<'_>) -> Option<MixedContent> {
    let content_type = header(page.headers, "content-type").next();
    let xhtml = is_xhtml(content_type.unwrap_or_default(), page.body)?;
    if header(page.headers, "content-security-policy").any(upgrades) {
        return Some(MixedContent::default());
    }
    let served = charset::Page::of(page.body, content_type);
    let text = match served.as_utf8() {
        Some(text) => Cow::Borrowed(text),
        None if page.body.len() > MAX_CONVERTED => return None,
        None => served.text(),
    };
    if holds_up(&text) { None } else { read(&text, xhtml, page.url) }
}

/// Whether the reader of the markup would have to stop too often. It does so for itself, so that
/// nothing it tells can be counted: at what may be a tag or an entity, at the old line ends, and at bytes
/// that no page has.
fn holds_up(text: &str) -> bool {
    let is_stop = |byte: &u8| {
        matches!(byte, b'&' | b'<') || byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n')
    };
    text.as_bytes().iter().filter(|byte| is_stop(byte)).count() > MAX_STOPS
}

/// Whether the page is XHTML; none when it is neither that nor HTML. A page of no stated type is
/// HTML if it starts like it.
fn is_xhtml(content_type: &str, body: &[u8]) -> Option<bool> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "text/html" => Some(false),
        "application/xhtml+xml" => Some(true),
        "" => {
            let start = body.trim_ascii_start();
            let starts_with =
                |tag: &[u8]| start.get(..tag.len()).is_some_and(|s| s.eq_ignore_ascii_case(tag));
            (starts_with(b"<!doctype html") || starts_with(b"<html")).then_some(false)
        }
        _ => None,
    }
}

fn read(text: &str, xhtml: bool, url: &Url) -> Option<MixedContent> {
    let mut tally = Tally::new(url);
    let mut templates = 0_usize;
    let mut media = 0_usize;
    for piece in Markup::new(text, xhtml) {
        match piece {
            Piece::TooMuch => return None,
            Piece::Start(tag) if tag.name == "template" => templates += 1,
            Piece::End(name) if name == "template" => templates = templates.saturating_sub(1),
            // The content of a template is inert.
            _ if templates > 0 => {}
            Piece::Start(tag) if is_upgrade(&tag) => return Some(MixedContent::default()),
            Piece::Start(tag) => {
                tally.rebase(&tag);
                media += usize::from(is_media(&tag.name));
                rules::references(&tag, media > 0, &mut |kind, url| {
                    tally.add(kind, &tag.name, url)
                });
            }
            Piece::End(name) => media = media.saturating_sub(usize::from(is_media(&name))),
            Piece::Style(css) => {
                css::references(&css, &mut |kind, url| tally.add(kind, "style", url));
            }
        }
    }
    Some(tally.counts)
}

fn is_media(name: &str) -> bool {
    matches!(name, "video" | "audio")
}

/// `<meta http-equiv="Content-Security-Policy" content="upgrade-insecure-requests">`.
fn is_upgrade(tag: &Tag) -> bool {
    let pragma = tag.attribute("http-equiv").unwrap_or_default().trim();
    tag.name == "meta"
        && pragma.eq_ignore_ascii_case("content-security-policy")
        && tag.attribute("content").is_some_and(upgrades)
}

/// Whether a list of policies (CSP 3, 2.2) makes the browser fetch everything over TLS.
fn upgrades(policies: &str) -> bool {
    let directives = policies.split([',', ';']);
    let mut names = directives.filter_map(|directive| directive.split_ascii_whitespace().next());
    names.any(|name| name.eq_ignore_ascii_case("upgrade-insecure-requests"))
}

struct Tally {
    base: Url,
    /// The first `<base href>` has been seen.
    fixed: bool,
    /// References that were read in full.
    read: u32,
    counts: MixedContent,
}

impl Tally {
    fn new(url: &Url) -> Self {
        Self { base: url.clone(), fixed: false, read: 0, counts: MixedContent::default() }
    }

    /// The first `<base href>` counts for what follows it, unless it is nothing to fetch from.
    fn rebase(&mut self, tag: &Tag) {
        if self.fixed || tag.name != "base" {
            return;
        }
        let Some(href) = tag.attribute("href") else { return };
        self.fixed = true;
        if let Ok(base) = self.base.join(href)
            && matches!(base.scheme(), "http" | "https")
            && base.as_str().len() <= MAX_BASE
        {
            self.base = base;
        }
    }

    fn add(&mut self, kind: Kind, tag: &str, reference: &str) {
        let trimmed = reference.trim_matches(|c| c <= ' ');
        // Anything else inherits the scheme, and most references are of this kind.
        if trimmed.is_empty() || (self.base.scheme() == "https" && !names_http(trimmed)) {
            return;
        }
        if self.read >= MAX_READ {
            self.count(kind);
        } else if let Some(url) = self.plain(reference) {
            self.count(kind);
            self.show(kind, tag, &url);
        }
    }

    /// The plain-http URL that a reference means; none when it is secure, local or no URL.
    fn plain(&mut self, reference: &str) -> Option<Url> {
        self.read += 1;
        let url = self.base.join(reference).ok()?;
        (url.scheme() == "http" && !is_local(&url)).then_some(url)
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Passive => self.counts.passive_count += 1,
            Kind::Active => self.counts.active_count += 1,
        }
    }

    fn show(&mut self, kind: Kind, tag: &str, url: &Url) {
        let examples = &mut self.counts.examples;
        if examples.len() == MAX_EXAMPLES {
            return;
        }
        let url = url.as_str().chars().take(MAX_URL).collect();
        let example = Example { url, tag: tag.to_owned(), kind };
        if !examples.contains(&example) {
            examples.push(example);
        }
    }
}

/// Browsers drop tabs and line breaks anywhere in a URL.
fn names_http(reference: &str) -> bool {
    let written = reference.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    written.take(5).map(|c| c.to_ascii_lowercase()).eq("http:".chars())
}

/// Hosts that browsers trust without TLS.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> impl Iterator<Item = &'a str> {
    let fields = headers.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name));
    fields.map(|(_, value)| value.as_str())
}
