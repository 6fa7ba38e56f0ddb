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
    /// found there would rewrite the site's history, and be what its next run is compared with.
    pub fn must_be_of(&self, site: &Site) -> Result<(), Invalid> {
        if self.domain != site.domain {
            return Err(not_its_own("domain", &site.domain));
        }
        let (Some(asked), own) = (self.endpoint, site.endpoint()) else { return Ok(()) };
        if asked.port != own.port {
            return Err(not_its_own("port", &own.port));
        }
        match own.address {
            own if own == asked.address => Ok(()),
            Some(own) => Err(not_its_own("origin_ip", &own)),
            None => Err(Invalid::new(
                "origin_ip",
                "must be left out to store the result for the site, which has none",
            )),
        }
    }
}

fn not_its_own(field: &'static str, own: &dyn std::fmt::Display) -> Invalid {
    Invalid::new(field, format!("must be the site's, {own}, to store the result for it"))
}
