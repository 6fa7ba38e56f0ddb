//! Grants held against one host call.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use vedette_model::domain_name::Target;

use super::{Capabilities, Host, Names, Place, Port};

/// What a run is about: grants are bound to it.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) target: Target,
    /// The site's own port.
    pub(crate) port: Option<u16>,
    /// Hosts that the target's MX records named so far.
    pub(crate) mx: BTreeSet<String>,
}

impl About {
    /// Of the places that the operator set, those that a run dials as they are written. The target,
    /// and the hosts that its records name, are other people's choice: they are vetted even if they
    /// are such a place.
    pub(crate) fn operators(&self, set: &Arc<[(Target, u16)]>) -> Arc<[(Target, u16)]> {
        let is_named = |host: &Target| *host == self.target || self.mx.contains(&host.to_string());
        if !set.iter().any(|(host, _)| is_named(host)) {
            return Arc::clone(set);
        }
        set.iter().filter(|(host, _)| !is_named(host)).cloned().collect()
    }
}

/// A call that is not granted: what would have to be.
pub(crate) type Missing = String;

impl Capabilities {
    /// Whether a run connects to what it is about. Others ask somebody else about it.
    pub(crate) fn reaches_target(&self) -> bool {
        let tcp = self.tcp.iter().flatten();
        let tls = self.tls.iter().flat_map(|tls| &tls.to);
        let http = self.http.iter().flat_map(|http| &http.to).map(|origin| &origin.place);
        let mut places = tcp.chain(tls).chain(http);
        places.any(|place| matches!(place.host, Host::Target | Host::TargetMx))
    }

    /// Whether a run remembers something of the site that it is for.
    pub(crate) fn keeps_of_sites(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.site > 0)
    }

    pub(crate) fn permits_tcp(
        &self,
        about: &About,
        host: &Target,
        port: u16,
    ) -> Result<(), Missing> {
        let granted = self.tcp.as_deref().unwrap_or_default();
        permits(granted, about, host, port, TLS_PORT)
            .ok_or_else(|| format!("tcp to {host}:{port} is not granted"))
    }

    pub(crate) fn permits_tls(
        &self,
        about: &About,
        host: &Target,
        port: u16,
    ) -> Result<(), Missing> {
        let granted = self.tls.as_ref().map(|tls| tls.to.as_slice()).unwrap_or_default();
        permits(granted, about, host, port, TLS_PORT)
            .ok_or_else(|| format!("tls to {host}:{port} is not granted"))
    }

    /// `https` and `port` are the URL's; redirects are not held against the grant.
    pub(crate) fn permits_http(
        &self,
        about: &About,
        method: &str,
        https: bool,
        host: &Target,
        port: u16,
    ) -> Result<(), Missing> {
        let Some(http) = &self.http else {
            return Err("http is not granted".to_owned());
        };
        if !http.methods.contains(method) {
            return Err(format!("http method {method} is not granted"));
        }
        let own = if https { TLS_PORT } else { HTTP_PORT };
        let allowed = http.to.iter().any(|origin| {
            (https || !origin.https_only) && origin.place.allows(about, host, port, own)
        });
        if allowed {
            return Ok(());
        }
        let scheme = if https { "https" } else { "http" };
        Err(format!("{scheme} to {host}:{port} is not granted"))
    }

    pub(crate) fn permits_dns(
        &self,
        about: &About,
        name: &str,
        rrtype: &str,
        resolver: Option<IpAddr>,
    ) -> Result<(), Missing> {
        let Some(dns) = &self.dns else {
            return Err("dns is not granted".to_owned());
        };
        if !dns.names.iter().any(|names| names.allow(about, name)) {
            return Err(format!("dns lookups of {name} are not granted"));
        }
        if !dns.types.contains(rrtype) {
            return Err(format!("dns lookups of type {rrtype} are not granted"));
        }
        match resolver {
            Some(resolver) if !dns.resolvers.contains(&resolver) => {
                Err(format!("dns lookups through {resolver} are not granted"))
            }
            _ => Ok(()),
        }
    }
}

impl Place {
    /// `own` is the port that `Port::Own` means when the site has none.
    fn allows(&self, about: &About, host: &Target, port: u16, own: u16) -> bool {
        let host_fits = match &self.host {
            Host::Any => true,
            Host::Target => *host == about.target,
            Host::TargetMx => about.mx.contains(&host.to_string()),
            Host::Named(named) => host == named,
        };
        let port_fits = match self.port {
            Port::Any => true,
            Port::Number(number) => port == number,
            Port::Own => port == about.port.unwrap_or(own),
        };
        host_fits && port_fits
    }
}

impl Names {
    fn allow(&self, about: &About, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Below(parent) => is_below(name, parent.as_str()),
            Self::Target => match &about.target {
                Target::Name(target) => {
                    is_below(name, target.as_str()) || is_below(target.as_str(), name)
                }
                Target::Address(_) => false,
            },
        }
    }
}

/// Whether `name` is `parent` or lies below it; case and a trailing dot do not count.
pub(crate) fn is_below(name: &str, parent: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let parent = parent.strip_suffix('.').unwrap_or(parent).to_ascii_lowercase();
    match name.strip_suffix(&parent) {
        Some("") => !parent.is_empty(),
        Some(rest) => !parent.is_empty() && rest.ends_with('.'),
        None => false,
    }
}

fn permits(places: &[Place], about: &About, host: &Target, port: u16, own: u16) -> Option<()> {
    places.iter().any(|place| place.allows(about, host, port, own)).then_some(())
}

const TLS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_the_operator_set_is_a_strangers_where_the_run_is_about_it() {
        let place = |host: &str| (Target::parse(host).expect("a host"), 8_080);
        let set: Arc<[_]> = ["api.corp.example", "mx.corp.example", "10.0.0.5"].map(place).into();
        let about = |target: &str, mx: &[&str]| About {
            target: Target::parse(target).expect("a host"),
            port: Some(8_080),
            mx: mx.iter().map(|&host| host.to_owned()).collect(),
        };
        let left = |about: &About| -> Vec<String> {
            about.operators(&set).iter().map(|(host, _)| host.to_string()).collect()
        };
        assert_eq!(left(&about("shop.example", &["mx.shop.example"])).len(), 3);
        assert_eq!(
            left(&about("api.corp.example", &["mx.corp.example"])),
            ["10.0.0.5"],
            "neither by its name nor by its records"
        );
        assert_eq!(left(&about("10.0.0.5", &[])), ["api.corp.example", "mx.corp.example"]);
    }
}
