//! How a name stands: what is kept, then RDAP, then WHOIS.
//!
//! A registry may name several RDAP servers. If one fails the next is asked, in the time that WHOIS
//! does not need. A registration that either reports is the answer. "Not registered" is a grave
//! thing to say, so WHOIS is asked about it as well; if WHOIS has nothing to say, RDAP's word
//! stands alone. A server that throttles ends the search: it is the registry's wish, on whichever
//! protocol. If one denies us the next is asked: what stands in front of it may not know the
//! registry's wish. Then a registration counts; that there is none does not, next to a server that
//! would not say.
//!
//! *Invariant:* a server that throttled a question is not asked it again before its time is over,
//! and one that does so again and again is asked nothing ([`throttle`]).

use std::time::Duration;

use vedette_sdk::{CheckError, Cx};

use crate::{
    bootstrap::Bootstrap,
    error::Token,
    facts::{Reply, Standing},
    name::Name,
    rdap,
    result::Source,
    settings::Settings,
};
use cache::Cache;
use port43::Port43;
use throttle::Throttle;

mod cache;
mod port43;
mod throttle;

/// What a look-up found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) standing: Standing,
    /// A registry asked to be left alone for so long, or something may be about to change.
    pub(crate) again_in: Option<Duration>,
}

impl Found {
    /// Looked at again soon if the registration has lapsed: an owner who is told so acts on it, and
    /// wants to hear that all is well.
    fn watched(self, now: i64) -> Self {
        let lapse = self.standing.is_lapsing(now).then_some(cache::LAPSED);
        Self { again_in: self.again_in.or(lapse), ..self }
    }
}

/// One look-up, with what it needs to ask and to remember.
struct Search<'a> {
    cx: &'a Cx,
    name: &'a Name,
    bootstrap: Bootstrap<'a>,
    port43: Port43<'a>,
    throttle: Throttle<'a>,
}

/// Finds out how a name stands. An error is our own trouble, never the registry's.
pub(crate) fn look_up(cx: &Cx, settings: &Settings, name: &Name) -> Result<Found, CheckError> {
    let now = cx.now();
    let cache = Cache::new(cx, settings, now);
    let kept = cache.get(name);
    if let Some(fresh) = kept.as_ref().and_then(|entry| entry.fresh(now)) {
        return Ok(standing(fresh.clone()).watched(now));
    }
    let search = Search {
        cx,
        name,
        bootstrap: Bootstrap::new(cx, settings, now),
        port43: Port43::new(cx, settings, name, now),
        throttle: Throttle::new(cx, name.as_str(), now),
    };
    let found = search.run()?;
    cache.keep(name, &found.standing, kept.as_ref());
    Ok(found.watched(now))
}

impl Search<'_> {
    fn run(&self) -> Result<Found, CheckError> {
        let rdap = self.ask_rdap()?;
        let is_absent = match &rdap {
            Some(Reply::Registered(registration)) => {
                return Ok(standing(Standing::Registered(registration.clone(), Source::Rdap)));
            }
            Some(Reply::Reserved) => return Ok(standing(Standing::Reserved(Source::Rdap))),
            Some(Reply::Throttled(again_in)) => return Ok(throttled(*again_in)),
            Some(Reply::NotFound) => true,
            Some(Reply::Denied | Reply::Failed(_)) | None => false,
        };
        let is_denied = rdap == Some(Reply::Denied);
        let whois = self.port43.ask()?;
        Ok(match whois {
            Some(Reply::Registered(registration)) => {
                standing(Standing::Registered(registration, Source::Whois))
            }
            Some(Reply::Reserved) => standing(Standing::Reserved(Source::Whois)),
            Some(Reply::NotFound) if is_absent => {
                standing(Standing::NotFound(Source::RdapAndWhois))
            }
            // The other witness would not speak: that is no second word for a grave thing.
            Some(Reply::NotFound) if is_denied => standing(Standing::Denied),
            Some(Reply::NotFound) => standing(Standing::NotFound(Source::Whois)),
            _ if is_absent => standing(Standing::NotFound(Source::Rdap)),
            Some(Reply::Throttled(again_in)) => throttled(again_in),
            Some(Reply::Failed(token)) if !is_denied => standing(Standing::Unknown(token)),
            Some(Reply::Denied | Reply::Failed(_)) | None => match rdap {
                Some(Reply::Denied) => standing(Standing::Denied),
                Some(Reply::Failed(token)) => standing(Standing::Unknown(token)),
                _ => standing(Standing::Unknown(Token::TldNotSupported)),
            },
        })
    }

    /// None where the registry has no RDAP server. Of several that fail, how the first did.
    fn ask_rdap(&self) -> Result<Option<Reply>, CheckError> {
        let Some(bases) = self.bootstrap.bases(self.name) else {
            return Ok(Some(Reply::Failed(Token::RegistryUnavailable)));
        };
        let mut failed = None;
        for base in bases {
            let at_most = match failed {
                None => rdap::TIMEOUT,
                Some(_) => rdap::TIMEOUT.min(self.cx.remaining().saturating_sub(port43::LONGEST)),
            };
            match self.ask_rdap_server(&base, at_most)? {
                reply @ (Reply::Denied | Reply::Failed(_)) => failed = failed.or(Some(reply)),
                reply => return Ok(Some(reply)),
            }
        }
        Ok(failed)
    }

    fn ask_rdap_server(&self, base: &str, at_most: Duration) -> Result<Reply, CheckError> {
        let server = rdap::authority(base);
        if let Some(left) = self.throttle.left(server) {
            return Ok(Reply::Throttled(Some(left)));
        }
        if self.throttle.is_denied(server) {
            return Ok(Reply::Denied);
        }
        Ok(match rdap::ask(self.cx, base, self.name, at_most)? {
            Reply::Throttled(asked) => Reply::Throttled(Some(self.throttle.begin(server, asked))),
            Reply::Denied => {
                self.throttle.note_denial(server);
                Reply::Denied
            }
            other => other,
        })
    }
}

fn standing(standing: Standing) -> Found {
    Found { standing, again_in: None }
}

fn throttled(again_in: Option<Duration>) -> Found {
    Found { standing: Standing::Unknown(Token::RateLimited), again_in }
}

#[cfg(test)]
mod tests;
