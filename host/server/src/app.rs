//! What every request and every background loop holds: the configuration, the store, the
//! sandbox, the clock and the limits.

use parking_lot::Mutex;
use tokio::sync::Notify;
use vedette_model::{Account, ApiKeyId, Edition, guard::Guard};
use vedette_sandbox::Sandbox;
use vedette_store::{Stamp, Store};

use crate::{Clock, Config, limits::Limits, oidc::Oidc, work::Pulse};

/// One per process, behind an `Arc`.
pub struct App {
    pub config: Config,
    pub store: Store,
    pub sandbox: Sandbox,
    pub clock: Clock,
    pub limits: Limits,
    /// Who issues session tokens; none where no issuer is configured.
    pub oidc: Option<Oidc>,
    pub wake: Wake,
    /// Whether the background work keeps up.
    pub pulse: Pulse,
    /// Whether what the checks find can be believed.
    pub guard: Mutex<Guard>,
    /// Names this process in leases; new with every start.
    pub node: String,
}

/// Hints that there is something to do before the next look at the store. A lost hint delays
/// work until that look, and never loses it.
#[derive(Default)]
pub struct Wake {
    /// A check became due: a site was created or changed.
    pub schedule: Notify,
    /// A delivery was queued.
    pub outbox: Notify,
    /// A renewal has begun.
    pub renewal: Notify,
    /// Something was deleted whose rows are still there.
    pub purge: Notify,
}

/// Who asks, after authentication. Everything stored belongs to `account`.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: Account,
    /// The key that was used; none for a session token.
    pub key: Option<ApiKeyId>,
    pub edition: &'static Edition,
    /// Where the account stood when it was looked up.
    pub stamp: Stamp,
}
