//! Which URLs a chat service's channel takes: the vendor's own, those of servers that the operator
//! added, and addresses that the operator opened.
//!
//! *Invariant:* pure, like the rest of the policy. Only what [`url::parse`](super::url::parse)
//! accepted is judged here, so nothing is spelled in two ways.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use super::{Audience, Policy, Refusal, url::LOCALHOST};

/// A vendor's addresses, from the manifest of the channel's plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vendor {
    /// `example.com`, or `*.example.com` for every name below it. Empty = any host, any path.
    pub hosts: Vec<String>,
    /// How a path starts, e.g. `/hooks/`; `*` stands for digits, something follows. Empty = any.
    pub paths: Vec<String>,
}

impl Vendor {
    /// Whether hosts and paths are written as they must be.
    pub(crate) fn is_formed(&self) -> bool {
        let is_name = |host: &String| {
            let below = host.strip_prefix("*.");
            let name = below.unwrap_or(host);
            let whole = below.is_some() || name.contains('.');
            let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-".contains(&b);
            whole && !name.is_empty() && !name.starts_with('.') && name.bytes().all(known)
        };
        let is_path = |path: &String| path.starts_with('/') && path.ends_with('/');
        self.hosts.iter().all(is_name) && self.paths.iter().all(is_path)
    }

    fn has(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| match host.strip_prefix('*') {
            // What is left starts with the dot.
            Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
            None => name == host,
        })
    }

    fn takes(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|start| begins(path, start))
    }

    /// For people: what may be written.
    fn wanted(&self) -> String {
        let hosts = self.hosts.join(" or ");
        match self.paths.as_slice() {
            [] => format!("must be an https URL of {hosts}"),
            paths => {
                format!("must be an https URL of {hosts} with a path below {}", paths.join(" or "))
            }
        }
    }
}

impl Policy {
    /// Parses and judges the URL of a vendor's channel (decisions: chat webhooks): https on the
    /// vendor's hosts and port; https on `extra_hosts`, whatever port and path; or an address
    /// literal (or `localhost`) inside `egress.allow`.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn vet_vendor_url(
        &self,
        text: &str,
        vendor: &Vendor,
        extra_hosts: &[String],
    ) -> Result<Url, String> {
        let url = self
            .vet_url(text, Audience::Authenticated)
            .map_err(|refusal: Refusal| format!("is refused: {refusal}"))?;
        let stands = vendor.hosts.is_empty()
            || match url.host() {
                Some(Host::Ipv4(address)) => self.names(IpAddr::V4(address)),
                Some(Host::Ipv6(address)) => self.names(IpAddr::V6(address)),
                Some(Host::Domain(LOCALHOST)) => self.names(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                Some(Host::Domain(name)) => is_vendors(&url, name, vendor, extra_hosts),
                None => false,
            };
        if stands { Ok(url) } else { Err(vendor.wanted()) }
    }
}

fn is_vendors(url: &Url, name: &str, vendor: &Vendor, extra_hosts: &[String]) -> bool {
    if url.scheme() != "https" {
        return false;
    }
    let added = extra_hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
    added || (url.port().is_none() && vendor.has(name) && vendor.takes(url.path()))
}

/// Whether the segments of `start` are those that `path` begins with, and more follows.
fn begins(path: &str, start: &str) -> bool {
    let mut segments = path.split('/');
    let mut parts = start.strip_suffix('/').unwrap_or(start).split('/');
    parts.all(|part| segments.next().is_some_and(|segment| fits(part, segment)))
        && segments.next().is_some_and(|segment| !segment.is_empty())
}

fn fits(part: &str, segment: &str) -> bool {
    let Some((before, after)) = part.split_once('*') else { return part == segment };
    let digits = segment.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    digits.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
