//! What every request and every background loop holds: the configuration, the store, the
//! sandbox, the clock and the limits.

use std::sync::Arc;

use moka::sync::Cache;
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;
use vedette_model::{Account, AccountId, AgentId, Edition, Role, guard::Guard};
use vedette_sandbox::{Sandbox, egress::smtp::Relay};
use vedette_store::{Stamp, Store};

use crate::{
    Clock, Config, Error, Result,
    document::Document,
    limits::Limits,
    oidc::Oidc,
    plugins::Operators,
    pulse::Pulse,
    server_clock::ServerClock,
    service::{
        check::Places,
        cron::Cron,
        overview::Overview,
        planned::Planned,
        status_page::{StatusPages, domain::Domains},
    },
    streams::Streams,
    trouble::Trouble,
    wake::Wake,
};

/// One per process, behind an `Arc`.
pub struct App {
    pub config: Config,
    pub store: Store,
    pub sandbox: Sandbox,
    /// The operator's own plugins.
    pub(crate) plugins: Operators,
    pub clock: Clock,
    /// That of the database server, where nodes share one.
    pub(crate) server_clock: ServerClock,
    pub(crate) limits: Limits,
    /// The issuer of session tokens; none if none is configured.
    pub(crate) oidc: Option<Oidc>,
    /// The relay that takes our mail; none if none is configured.
    pub(crate) relay: Option<Relay>,
    pub(crate) wake: Wake,
    /// What was told lately of what keeps deliveries from leaving.
    pub(crate) unsent: Mutex<Trouble>,
    /// What is waited for at a stop: what a request began and goes on without it, too.
    pub(crate) tasks: TaskTracker,
    /// The streams that follow accounts' events.
    pub(crate) streams: Arc<Streams>,
    /// Whether the background work keeps up.
    pub(crate) pulse: Pulse,
    /// What runs of planned checks share.
    pub(crate) planned: Planned,
    /// How many on-demand checks each account is running.
    pub(crate) places: Places,
    /// What calls of the operator's scheduler share.
    pub(crate) cron: Cron,
    /// Whether what the checks find can be believed.
    pub(crate) guard: Mutex<Guard>,
    /// Where clients reach the service, without a slash at the end.
    pub(crate) origin: String,
    /// Status pages as they are shown.
    pub(crate) status_pages: StatusPages,
    /// Lists of sites as they are answered, by whose they are.
    pub(crate) site_lists: Cache<AccountId, SiteList>,
    /// Whose status page a host shows, as far as it was asked lately.
    pub(crate) domains: Domains,
    /// Sites with the state of their checks, by whose they are.
    pub(crate) overviews: Cache<AccountId, Arc<Overview>>,
    /// Names this process in leases; new with every start.
    pub(crate) node: String,
}

/// What `GET /sites` answers while the account stands at `stamp`.
#[derive(Clone)]
pub(crate) struct SiteList {
    pub(crate) stamp: Stamp,
    pub(crate) document: Arc<Document>,
}

impl SiteList {
    /// Room for the lists that are asked for most lately, bounded in bytes.
    pub(crate) fn memory() -> Cache<AccountId, Self> {
        // The packed forms are never longer together.
        let weight = |_: &AccountId, list: &Self| {
            u32::try_from(2 * list.document.plain.len()).unwrap_or(u32::MAX)
        };
        Cache::builder().max_capacity(LISTS).weigher(weight).build()
    }
}

const LISTS: u64 = 8 << 20;

/// The caller, after authentication. Everything stored belongs to `account`.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Whose data the request is about: the caller's own account, or that of the team they are in.
    pub account: Arc<Account>,
    /// Whose credential it is: another account than `account` for somebody in a team.
    pub user: Arc<Account>,
    /// What they may do with the account's data.
    pub role: Role,
    /// Who in the account's team it is, in person or by a key that they made; none = its owner.
    pub maker: Option<AccountId>,
    pub edition: &'static Edition,
    /// Where the account stood when it was looked up.
    pub stamp: Stamp,
}

/// An agent that asks, after its key was accepted. It writes what it saw into `account`, and reads
/// nothing.
#[derive(Clone, Debug)]
pub struct Agent {
    pub id: AgentId,
    pub account: Arc<Account>,
    pub edition: &'static Edition,
}

impl Caller {
    /// The author of what is written: for a key, the person who made it.
    pub fn author(&self) -> AccountId {
        self.maker.unwrap_or(self.user.id)
    }

    /// Refuses what takes another role than theirs.
    ///
    /// # Errors
    /// `Forbidden`; names the role that it takes.
    pub fn must_be(&self, least: Role) -> Result<()> {
        if self.role >= least {
            return Ok(());
        }
        let mut message = format!(
            "the role {} does not include this; it takes the role {}",
            self.role.as_str(),
            least.as_str()
        );
        if least == Role::Owner && self.user.id != self.account.id {
            message.push_str("; for an account of your own send its id as X-Vedette-Account");
        }
        Err(Error::forbidden(message))
    }
}
