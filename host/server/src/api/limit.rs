//! Counts every request in its address's window, refuses what is over a limit, and writes the six
//! limit headers (spec: Rate limits).

use std::{
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use salvo::{
    Extractible,
    extract::Metadata,
    http::{HeaderMap, HeaderName, HeaderValue, Method},
    prelude::*,
};
use vedette_model::{
    AccountId, Area, Edition, Timestamp,
    quota::{self, Admitted, Refused},
};

use super::{caller::bearer, cors, host};
use crate::{
    App, Error, Result,
    limits::{Class, Limits, TokenHash, Usage, client_address},
    service::status_page::domain,
};

/// Where the request stands with each limit; handlers further in fill in the account's month.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    class: Class,
    /// Where the request comes from.
    address: IpAddr,
    pub(super) remaining: u32,
    /// When the oldest request of the address no longer counts.
    pub(super) reset: Timestamp,
    /// Zeros until the caller is known (decisions: headers).
    pub(super) month: Month,
    /// The call of the month that this request was; none where it cost none.
    pub(super) charge: Option<Charge>,
}

/// A call that was counted.
#[derive(Clone, Copy)]
pub(super) struct Charge {
    pub(super) account: AccountId,
    /// When: it tells the month.
    pub(super) at: Timestamp,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Month {
    pub(super) limit: u64,
    /// After a downgrade it may be more than there is.
    pub(super) used: u64,
}

impl From<Usage> for Month {
    fn from(Usage { limit, used, .. }: Usage) -> Self {
        Self { limit, used }
    }
}

/// Where a request comes from: the address by which it is counted.
#[derive(Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Set when the address's window is full: what [`refusal`] answers.
struct Full {
    retry_after: Duration,
    what: &'static str,
}

/// A request that was counted, when it began.
pub(super) struct Begun {
    pub(super) at: Instant,
    standing: Standing,
}

/// Counts a request before anything that may refuse it or fail at it: whatever happens inside, the
/// headers are there ([`Begun::tell`]).
pub(super) async fn count(app: &App, req: &Request, depot: &mut Depot) -> Begun {
    let at = Instant::now();
    let now = app.clock.now();
    let is_own_page = is_own_page(app, host::host(req)).await;
    let is_page = is_own_page || is_page(req, app);
    let class = if is_page { Class::Public } else { class(req, app) };
    let address = address(req, app);
    // A browser's preflight asks for permission, not for service.
    let asked = if is_page || cors::is_preflight(req, app, class == Class::Public) {
        app.limits.look_at_address(class, address, now)
    } else {
        app.limits.admit_address(class, address, now)
    };
    let mut standing = Standing::of_address(class, address, &asked);
    if let Err(refused) = asked
        && !is_page
    {
        let token = token(req).filter(|_| class == Class::Private);
        let month = token.as_ref().and_then(|token| app.limits.month_of(token, now));
        let waited = month.as_ref().filter(|_| waits_for_month(req, app));
        depot.insert_typed(Full::of(app, token.as_ref(), waited, &refused, now));
        standing.month = month.map(Month::from).unwrap_or_default();
    }
    depot.insert_typed(standing);
    Begun { at, standing }
}

impl Begun {
    /// Tells in the headers where the request stands by now, and gives back the call of one that
    /// was refused.
    pub(super) async fn tell(&self, app: &App, depot: &Depot, res: &mut Response) {
        let mut standing = depot.get_typed::<Standing>().copied().unwrap_or(self.standing);
        if res.status_code == Some(StatusCode::TOO_MANY_REQUESTS) {
            Box::pin(standing.give_back(app)).await;
        }
        standing.write(res.headers_mut());
    }
}

impl Full {
    /// Where a credential counts, its account may make the wait longer: by its window, and by the
    /// month for which the request has to wait, if it has to.
    fn of(
        app: &App,
        token: Option<&TokenHash>,
        month: Option<&Usage>,
        refused: &Refused,
        now: Timestamp,
    ) -> Self {
        let window = token.and_then(|token| app.limits.wait_of_window(token, now));
        let month = month.and_then(|usage| usage.wait(now));
        let account = window.max(month).unwrap_or_default();
        Self {
            retry_after: refused.retry_after.max(account),
            what: if month.is_some() { ADDRESS_AND_MONTH } else { ADDRESS },
        }
    }
}

/// What a request from an address over its limit ends with, before anything else looks at it.
pub(super) fn refusal(depot: &Depot) -> Option<Error> {
    depot.get_typed::<Full>().ok().map(|full| over(full.retry_after, full.what))
}

/// The 429 of a window; `retry_after` is rounded up to whole seconds.
pub(super) fn over(retry_after: Duration, what: &str) -> Error {
    let retry_after = quota::whole_seconds(retry_after);
    Error::Limited { retry_after, message: format!("{what}; try again in {retry_after} s") }
}

impl Standing {
    fn of_address(class: Class, address: IpAddr, asked: &Result<Admitted, Refused>) -> Self {
        let (remaining, reset) = match asked {
            Ok(admitted) => (admitted.remaining, admitted.reset),
            Err(refused) => (0, refused.reset),
        };
        Self { class, address, remaining, reset, month: Month::default(), charge: None }
    }

    /// A 429 costs no call, even if the limit was met after the month's: of letters, of streams, of
    /// checks that run at a time (decisions: monthly calls).
    async fn give_back(&mut self, app: &App) {
        let Some(Charge { account, at }) = self.charge.take() else { return };
        let month = quota::month(at);
        match app.store.take_back_call(account, &month).await {
            Ok(()) => {
                self.month.used = self.month.used.saturating_sub(1);
                app.limits.recent.take_back(account, &month);
            }
            Err(cause) => tracing::warn!(%cause, "a refused call could not be taken back: {cause}"),
        }
    }

    /// The request turned out not to be that account's, whose month nobody else may see.
    pub(super) async fn withdraw(&mut self, app: &App) {
        self.give_back(app).await;
        self.month = Month::default();
    }

    /// How long the address has to wait, if this was the last request that it had.
    pub(super) fn wait_of_address(&self, now: Timestamp) -> Option<Duration> {
        (self.remaining == 0).then(|| (self.reset - now).to_std().unwrap_or_default())
    }

    fn write(&self, headers: &mut HeaderMap) {
        let reset = self.reset.timestamp() + i64::from(self.reset.timestamp_subsec_nanos() > 0);
        headers.insert(LIMIT, number(Limits::per_minute(self.class)));
        headers.insert(REMAINING, number(self.remaining));
        headers.insert(RESET, number(reset));
        let Month { limit, used } = self.month;
        headers.insert(MONTHLY_LIMIT, number(limit));
        headers.insert(MONTHLY_USED, number(used.min(limit)));
        headers.insert(MONTHLY_REMAINING, number(limit.saturating_sub(used)));
    }
}

impl ClientAddress {
    /// That of a request that was counted.
    pub(super) fn of(depot: &Depot) -> Result<Self> {
        let standing = depot.get_typed::<Standing>();
        let standing = standing.map_err(|_| anyhow::anyhow!("the request was not counted"))?;
        Ok(Self(standing.address))
    }
}

impl<'ex> Extractible<'ex> for ClientAddress {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("ClientAddress");
        &METADATA
    }

    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        Self::of(depot)
    }
}

/// Whether a request that was counted is for what needs no credential.
pub(super) fn is_public(depot: &Depot) -> bool {
    depot.get_typed::<Standing>().is_ok_and(|standing| standing.class == Class::Public)
}

/// By the request's route, or, where none fits, by its path.
fn class(req: &Request, app: &App) -> Class {
    let reads = matches!(*req.method(), Method::GET | Method::HEAD);
    let is_public = in_edition(req, app).is_some_and(|(edition, path)| {
        path.starts_with("/public/")
            || DESCRIPTION.contains(&path)
            || (edition.has(Area::Welcome) && reads && path == WELCOME)
    });
    if is_public { Class::Public } else { Class::Private }
}

/// Whether a request is refused while the month is used up, as all are whose account does not go on
/// without calls ([`super::payer::Cost::CallIfLeft`]).
fn waits_for_month(req: &Request, app: &App) -> bool {
    in_edition(req, app).is_none_or(|(_, path)| !WITHOUT_CALLS.contains(&path))
}

/// The edition that a request is for, and its path there.
fn in_edition<'a>(req: &'a Request, app: &App) -> Option<(&'static Edition, &'a str)> {
    let path = path(req);
    let mut editions = app.config.edition.ids().iter().filter_map(|id| Edition::by_id(id));
    editions.find_map(|edition| {
        let rest = path.strip_prefix(edition.prefix.trim_start_matches('/'))?;
        rest.starts_with('/').then_some((edition, rest))
    })
}

/// The status pages: visitors who share one address with many others are to see them too, so they
/// show the public window but do not count against it (decisions: status page). What leads to no
/// page, by its path or its method, is a path that does not exist.
fn is_page(req: &Request, app: &App) -> bool {
    let asked = match *req.method() {
        Method::GET | Method::HEAD => req.matched_path(),
        // A browser asks about the page, and finds no route.
        Method::OPTIONS if cors::is_preflight(req, app, true) => req.uri().path(),
        _ => return false,
    };
    asked.trim_start_matches('/').starts_with("status/")
}

/// A page on a domain that its owner proved, whatever the path: nothing else is served there. What
/// this process does not remember is no page, since nothing may wait for the database here: the
/// first request after a minute without any counts, and brings the domain back to mind.
async fn is_own_page(app: &App, host: Option<&str>) -> bool {
    match host {
        Some(host) => domain::is_known(app, host).await,
        None => false,
    }
}

/// The route, or what was asked for where none fits.
fn path(req: &Request) -> &str {
    let path = match req.matched_path() {
        "" => req.uri().path(),
        route => route,
    };
    path.trim_start_matches('/')
}

fn address(req: &Request, app: &App) -> IpAddr {
    let peer = req.remote_addr().ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let forwarded = req.headers().get_all("x-forwarded-for");
    // A value that is no text is a hop that is no address.
    let forwarded = forwarded.iter().map(|value| value.to_str().unwrap_or("?"));
    client_address(peer, forwarded, &app.config.trusted_proxy)
}

fn token(req: &Request) -> Option<TokenHash> {
    bearer(req.headers()).ok().map(TokenHash::of)
}

/// A number as a header value: the ready-made conversion takes twice the memory, and longer.
fn number(number: impl ToString) -> HeaderValue {
    HeaderValue::try_from(number.to_string()).expect("digits are text")
}

const ADDRESS: &str = "too many requests from this address";
/// Spec: Errors, rule 2.
const ADDRESS_AND_MONTH: &str = "too many requests from this address, and this month's calls are \
     used up; upgrade to a higher plan, or wait for the next month";

/// What the service says of itself (decisions: OpenAPI).
const DESCRIPTION: [&str; 2] = ["/openapi.json", "/docs"];

/// Asked before somebody has a credential (spec: Variant B additional endpoints).
const WELCOME: &str = "/auth/welcome";

/// How an account buys more, sees what it has, and leaves.
const WITHOUT_CALLS: [&str; 3] = ["/account", "/checkout", "/billing/status"];

pub(super) const EXPOSED: &str = "x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, \
     x-monthlylimit-limit, x-monthlylimit-used, x-monthlylimit-remaining, retry-after, \
     x-request-id, etag";

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const MONTHLY_LIMIT: HeaderName = HeaderName::from_static("x-monthlylimit-limit");
const MONTHLY_USED: HeaderName = HeaderName::from_static("x-monthlylimit-used");
const MONTHLY_REMAINING: HeaderName = HeaderName::from_static("x-monthlylimit-remaining");
