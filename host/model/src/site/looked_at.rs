//! Where a run looked: what has to be the site's for its result to be one of the site.

use std::net::IpAddr;

use super::Site;
use crate::{DomainName, Invalid};

/// The place that a run looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    pub domain: DomainName,
    /// The site's own, as they were. None of a check that connects nowhere, and where a caller named
    /// another on purpose: they mean that place, wherever the site is.
    pub endpoint: Option<Endpoint>,
}

/// Where a check connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub port: u16,
    /// None = what the domain resolves to.
    pub address: Option<IpAddr>,
}

impl LookedAt {
    /// Refuses a place that is not the site's (any longer), by the first field that says so: what was
    /// found there would rewrite the site's history, and be what its next run is compared with. Port
    /// and address were the site's when it was looked at: where they differ, it has moved since.
    pub fn must_be_of(&self, site: &Site) -> Result<(), Invalid> {
        if self.domain != site.domain {
            let own = &site.domain;
            let reason = format!(
                "must be the site's, {own}, to store the result for it; name that, or leave site_id \
                 out to look at another"
            );
            return Err(Invalid::new("domain", reason));
        }
        let (Some(asked), own) = (self.endpoint, site.endpoint()) else { return Ok(()) };
        if asked.port != own.port {
            return Err(overtaken("port", &own.port.to_string()));
        }
        if asked.address != own.address {
            let own = own.address.map_or_else(|| "none".to_owned(), |own| own.to_string());
            return Err(overtaken("origin_ip", &own));
        }
        Ok(())
    }
}

/// The site has another value since the look began.
fn overtaken(field: &'static str, own: &str) -> Invalid {
    let reason = format!(
        "must be the site's to store the result for it, and the site was changed meanwhile (now: \
         {own}): nothing was stored; send the request again without {field}"
    );
    Invalid::new(field, reason)
}
