//! Session tokens of the identity provider that the operator names: JWTs under its published keys
//! (decisions: session tokens).
//!
//! token → seen lately? → its header names a key → [`KeySet`] → signature → claims. Keys come from
//! [`Source`]: at the start, every ten minutes, and when a token names one that is not known or did
//! not sign it: some issuers put a new key in the place of the old, under its name. What the claims
//! must say is the model's rule.
//!
//! *Invariant:* the algorithm is the key's own, RS256 or ES256; what a token brings along (`jwk`,
//! `jku`, `x5c`) is never looked at.
//! *Invariant:* tokens cause [`LOOKS`] questions to the issuer and then at most one in
//! [`LOOK_EVERY`], whatever they name, and no token that a known key signed waits for it.
//! *Invariant:* how long ago keys were fetched is measured on the monotonic clock: setting the
//! time neither ages nor refreshes them.

mod key_set;
mod source;

use std::{sync::Arc, time::Duration};

use parking_lot::RwLock;
use tokio::{sync::Mutex, time::Instant};
use vedette_model::session::Claims;
use vedette_sandbox::egress::Egress;

use crate::{Clock, config, limits::TokenHash};
use key_set::{KeySet, Wanted};
use source::Source;

/// One per process where an issuer is configured. Clones share the keys.
#[derive(Clone)]
pub(crate) struct Oidc {
    inner: Arc<Inner>,
}

struct Inner {
    issuer: String,
    audience: String,
    source: Source,
    clock: Clock,
    known: RwLock<Option<Known>>,
    /// Held by the task that asks the issuer: when all questions that tokens may cause are
    /// available again. Each question moves it on by [`LOOK_EVERY`].
    rested: Mutex<Option<Instant>>,
}

struct Known {
    set: Arc<KeySet>,
    fetched_at: Instant,
    /// Whether the issuer has answered the last question.
    is_latest: bool,
}

/// Why a token was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It does not hold. Why is nobody's business.
    Token,
    /// The issuer's keys are not to be had, and none that is known and believed signed it: nobody can
    /// say whether it holds.
    NoKeys,
}

impl Oidc {
    /// None when no issuer is configured.
    pub(crate) fn new(config: &config::Oidc, egress: Egress, clock: Clock) -> Option<Self> {
        let (issuer, audience) = (config.issuer.clone()?, config.audience.clone()?);
        // An error only says that one was named already; without one the first token would panic
        // in a build where two are compiled in.
        let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let source = Source::new(issuer.clone(), config.jwks_url.clone(), egress);
        let inner = Inner {
            issuer,
            audience,
            source,
            clock,
            known: RwLock::default(),
            rested: Mutex::default(),
        };
        Some(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.inner.issuer
    }

    /// What a token says, if it is the issuer's, for us, and of now.
    pub(crate) async fn verify(&self, token: &str) -> Result<Arc<Claims>, Refused> {
        let claims = self.signed(token).await?;
        let Inner { issuer, audience, clock, .. } = &*self.inner;
        if claims.hold(issuer, audience, clock.now()) { Ok(claims) } else { Err(Refused::Token) }
    }

    /// Fetches the keys; what was known stays when that fails.
    pub(crate) async fn refresh(&self) {
        let _turn = self.inner.rested.lock().await;
        self.inner.fetch().await;
    }

    /// What the issuer signed, whatever it says.
    async fn signed(&self, token: &str) -> Result<Arc<Claims>, Refused> {
        let hash = TokenHash::of(token);
        if let Some(set) = self.inner.known()
            && let Some(claims) = set.seen(&hash).await
        {
            return Ok(claims);
        }
        let wanted = Wanted::of(token).ok_or(Refused::Token)?;
        let known = self.inner.known_with(&wanted, None);
        if let Some(set) = &known
            && let Some(claims) = set.verify(token, &wanted, hash).await
        {
            return Ok(claims);
        }
        match self.look_for(wanted.clone(), known.clone()).await {
            Some(set) => set.verify(token, &wanted, hash).await.ok_or(Refused::Token),
            None if known.is_some() => Err(Refused::Token),
            None => Err(self.inner.unknown_key()),
        }
    }

    /// Apart from this request: a client that goes away must not take the answer with it.
    async fn look_for(&self, wanted: Wanted, tried: Option<Arc<KeySet>>) -> Option<Arc<KeySet>> {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move { inner.look_for(&wanted, tried.as_ref()).await })
            .await
            .ok()
            .flatten()
    }
}

impl Known {
    /// How long yet.
    fn believed_for(&self) -> Duration {
        BELIEVED_FOR.saturating_sub(self.fetched_at.elapsed())
    }
}

impl Inner {
    /// The keys, while they are young enough to be believed.
    fn known(&self) -> Option<Arc<KeySet>> {
        let known = self.known.read();
        let known = known.as_ref().filter(|known| !known.believed_for().is_zero())?;
        Some(Arc::clone(&known.set))
    }

    /// Those that have the key, unless they are the ones that were tried.
    fn known_with(&self, wanted: &Wanted, tried: Option<&Arc<KeySet>>) -> Option<Arc<KeySet>> {
        let is_new = |set: &Arc<KeySet>| tried.is_none_or(|tried| !Arc::ptr_eq(set, tried));
        self.known().filter(|set| set.has(wanted) && is_new(set))
    }

    /// What a token is whose key is not known: not good, where the issuer has told its keys; else it
    /// may have been signed with one that we could not learn of.
    fn unknown_key(&self) -> Refused {
        let known = self.known.read();
        match known.as_ref() {
            Some(known) if known.is_latest && !known.believed_for().is_zero() => Refused::Token,
            Some(_) | None => Refused::NoKeys,
        }
    }

    /// Asks the issuer for a key that it may have begun to use, other than those that were tried.
    /// Requests that come meanwhile wait for the answer, which serves them too.
    async fn look_for(&self, wanted: &Wanted, tried: Option<&Arc<KeySet>>) -> Option<Arc<KeySet>> {
        let mut rested = self.rested.lock().await;
        if let Some(set) = self.known_with(wanted, tried) {
            return Some(set);
        }
        if rested.is_some_and(|at| Instant::now() + AHEAD < at) {
            return None;
        }
        let is_first = self.known().is_none();
        self.fetch().await;
        let now = Instant::now();
        // The first keys are no second look. Without any key nobody gets in, so an issuer that
        // comes back is not left waiting.
        *rested = Some(match (is_first, self.known().is_some()) {
            (true, true) => now,
            (true, false) => now + AHEAD + RETRY_EVERY,
            (false, _) => rested.map_or(now, |at| at.max(now)) + LOOK_EVERY,
        });
        self.known_with(wanted, tried)
    }

    async fn fetch(&self) {
        let issuer = self.issuer.as_str();
        match self.source.keys().await {
            Ok(keys) => self.learn(KeySet::new(keys)),
            Err(cause) => {
                if let Some(known) = self.known.write().as_mut() {
                    known.is_latest = false;
                }
                let (key, meanwhile) = (self.source.key(), meanwhile(self.believed_for()));
                tracing::warn!(
                    issuer,
                    "the keys of {issuer} were not fetched (see {key}): {cause:#}; {meanwhile}"
                );
            }
        }
    }

    /// How long the keys that are known go on to be believed; zero where there are none.
    fn believed_for(&self) -> Duration {
        self.known.read().as_ref().map_or(Duration::ZERO, Known::believed_for)
    }

    /// Keeps the set that is known when it is the same: the tokens seen under it stay seen.
    fn learn(&self, fetched: KeySet) {
        let mut known = self.known.write();
        let same = known.take().map(|known| known.set).filter(|set| set.is_same(&fetched));
        if same.is_none() {
            let (issuer, keys) = (self.issuer.as_str(), fetched.len());
            tracing::info!(
                issuer,
                keys,
                "session tokens are verified with {keys} keys of {issuer}"
            );
        }
        let set = same.unwrap_or_else(|| Arc::new(fetched));
        *known = Some(Known { set, fetched_at: Instant::now(), is_latest: true });
    }
}

/// What becomes of session tokens until the issuer answers.
fn meanwhile(believed_for: Duration) -> String {
    match believed_for.as_secs().div_ceil(3600) {
        0 => "until they are, no session token is accepted".to_owned(),
        hours => format!("tokens under those that are known are accepted for {hours} h at most"),
    }
}

/// How often the keys are fetched when nothing else asks for it.
pub(crate) const REFRESH_EVERY: Duration = Duration::from_secs(10 * 60);
/// Keys that could not be refreshed for this long are no longer believed.
const BELIEVED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How often tokens under unknown keys may make us ask: so many times at once, or a token that
/// nobody signed would keep out those whose new key is published a moment later, ...
const LOOKS: u32 = 5;
/// ... and then once in this long.
const LOOK_EVERY: Duration = Duration::from_secs(10);
const AHEAD: Duration = Duration::from_secs((LOOKS as u64 - 1) * LOOK_EVERY.as_secs());
const RETRY_EVERY: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_fetched_are_told_with_what_that_means() {
        for (believed_for, said) in [
            (BELIEVED_FOR, "those that are known are accepted for 24 h at most"),
            (Duration::from_secs(3601), "are accepted for 2 h at most"),
            (Duration::from_secs(1), "are accepted for 1 h at most"),
            (Duration::ZERO, "until they are, no session token is accepted"),
        ] {
            let told = meanwhile(believed_for);
            assert!(told.ends_with(said), "{told}");
        }
    }
}
