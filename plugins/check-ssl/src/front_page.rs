//! The host's own first page: its HSTS header and its mixed content.
//!
//! The first response decides about HSTS, so redirects are not followed at first; only a page
//! that lies behind some costs another request.

use std::{net::IpAddr, time::Duration};

use url::{Host, Url};
use vedette_sdk::{
    Cx,
    http::{Request, Response},
    net::Endpoint,
};

use crate::{
    hsts,
    mixed_content::{self, MAX_PAGE, Page},
    result::{Hsts, MixedContent},
};

/// Redirects that a page may lie behind.
const MAX_REDIRECTS: u8 = 5;
/// A page that takes longer is given up; what its head did not tell is null.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a run needs after its last probe.
const RESERVE: Duration = Duration::from_millis(500);

/// What the page says; null where there was none to be had.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontPage {
    pub(crate) hsts: Option<Hsts>,
    pub(crate) mixed_content: Option<MixedContent>,
}

impl FrontPage {
    /// Asks the address that was inspected. Certificates are not verified: they were judged
    /// before, and the page is worth a look also behind a bad one.
    pub(crate) fn visit(cx: &Cx, endpoint: &Endpoint) -> Self {
        let Some(origin) = origin(&endpoint.host, endpoint.port) else {
            return Self::default();
        };
        let visit = Visit { cx, origin, connect_to: endpoint.connect_to.as_deref() };
        let Some(first) = visit.get(&visit.origin, 0) else {
            return Self::default();
        };
        Self { hsts: Some(visit.hsts(&first)), mixed_content: visit.mixed_content(first) }
    }
}

/// `https://host[:port]/`; none when the host can stand in no URL.
fn origin(host: &str, port: u16) -> Option<Url> {
    let host = match host.parse() {
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => host.to_owned(),
    };
    Url::parse(&format!("https://{host}:{port}/")).ok()
}

struct Visit<'a> {
    cx: &'a Cx,
    origin: Url,
    connect_to: Option<&'a str>,
}

impl Visit<'_> {
    fn get(&self, url: &Url, max_redirects: u8) -> Option<Response> {
        if self.cx.remaining() <= RESERVE {
            return None;
        }
        let timeout_ms = self.cx.timeout_ms(PATIENCE, RESERVE);
        let accept = ("accept".to_owned(), "text/html,application/xhtml+xml,*/*;q=0.8".to_owned());
        let request = Request {
            headers: vec![accept],
            max_redirects,
            verify_tls: false,
            connect_to: self.connect_to.map(str::to_owned),
            ..Request::get(url.as_str(), timeout_ms, MAX_PAGE)
        };
        // The head tells of HSTS, whatever becomes of the page behind it.
        self.cx.fetch_partial(&request).ok().map(|arrival| arrival.response)
    }

    /// An address has no HSTS (RFC 6797, 8.1.1), whatever its server sends.
    fn hsts(&self, first: &Response) -> Hsts {
        match self.origin.host() {
            Some(Host::Domain(_)) => hsts::policy(&first.headers),
            _ => Hsts::default(),
        }
    }

    fn mixed_content(&self, first: Response) -> Option<MixedContent> {
        let page = match redirect(&first).map(str::to_owned) {
            None => first,
            Some(location) => {
                // Two bodies at once are more than there is memory for.
                drop(first);
                self.follow(&self.origin.join(&location).ok()?)?
            }
        };
        let url = self.landing(&page)?;
        if page.truncated || redirect(&page).is_some() {
            return None;
        }
        mixed_content::scan(&Page { url: &url, headers: &page.headers, body: &page.body })
    }

    /// Goes on from where the first response pointed. Only the target itself may be asked for
    /// directly; to reach its `www.` the host has to be sent the same way again.
    fn follow(&self, location: &Url) -> Option<Response> {
        if !self.is_own(location) {
            return None;
        }
        if location.origin() == self.origin.origin() {
            self.get(location, MAX_REDIRECTS - 1)
        } else {
            self.get(&self.origin, MAX_REDIRECTS)
        }
    }

    /// Where the page came from; none when the way there left the host, or ended without TLS.
    fn landing(&self, page: &Response) -> Option<Url> {
        let landing = Url::parse(&page.final_url).ok().filter(|url| url.scheme() == "https")?;
        let mut here = self.origin.clone();
        for hop in &page.hops {
            here = here.join(&hop.location).ok().filter(|url| self.is_own(url))?;
        }
        self.is_own(&landing).then_some(landing)
    }

    /// On the same host, or between apex and `www.`.
    fn is_own(&self, url: &Url) -> bool {
        match (self.origin.host(), url.host()) {
            (Some(Host::Domain(own)), Some(Host::Domain(other))) => apex(own) == apex(other),
            (own, other) => own == other,
        }
    }
}

fn apex(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Where a response sends its reader.
fn redirect(response: &Response) -> Option<&str> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let mut headers = response.headers.iter();
    let (_, location) = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
    Some(location)
}

#[cfg(test)]
mod tests;
