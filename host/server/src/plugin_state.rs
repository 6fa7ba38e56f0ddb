//! What plugins keep between runs, kept in the store: the sandbox and the store do not know each
//! other, so this stands between them.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use uuid::Uuid;
use vedette_model::SiteId;
use vedette_sandbox::{StateError, StateStore};
use vedette_store::{Error, StateScope, Store};

use crate::Clock;

pub(crate) struct PluginState {
    store: Store,
    clock: Clock,
}

/// A scope of the sandbox, taken apart: `site/<site>/<plugin>` or `shared/<plugin>`.
struct Scope {
    site: Option<SiteId>,
    plugin: String,
}

impl PluginState {
    pub(crate) fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }
}

impl StateStore for PluginState {
    fn get(
        &self,
        scope: &str,
        key: &str,
    ) -> BoxFuture<'static, Result<Option<Vec<u8>>, StateError>> {
        let (store, now) = (self.store.clone(), self.clock.now());
        let (scope, key) = (Scope::parse(scope), key.to_owned());
        async move {
            let scope = scope?;
            store.plugin_state_get(scope.of_store(), &key, now).await.map_err(failed)
        }
        .boxed()
    }

    fn set(
        &self,
        scope: &str,
        key: &str,
        value: Vec<u8>,
        ttl: Option<Duration>,
        quota: u64,
    ) -> BoxFuture<'static, Result<(), StateError>> {
        let (store, now) = (self.store.clone(), self.clock.now());
        let (scope, key) = (Scope::parse(scope), key.to_owned());
        async move {
            let scope = scope?;
            let set = store.plugin_state_set(scope.of_store(), &key, &value, ttl, now, quota);
            set.await.map_err(failed)
        }
        .boxed()
    }

    fn delete(&self, scope: &str, key: &str) -> BoxFuture<'static, Result<(), StateError>> {
        let store = self.store.clone();
        let (scope, key) = (Scope::parse(scope), key.to_owned());
        async move {
            let scope = scope?;
            store.plugin_state_delete(scope.of_store(), &key).await.map_err(failed)
        }
        .boxed()
    }
}

impl Scope {
    fn parse(text: &str) -> Result<Self, StateError> {
        let unknown = || StateError::Unavailable(format!("no such scope: {text}"));
        let (kind, rest) = text.split_once('/').ok_or_else(unknown)?;
        match kind {
            "shared" => Ok(Self { site: None, plugin: rest.to_owned() }),
            "site" => {
                let (site, plugin) = rest.split_once('/').ok_or_else(unknown)?;
                let site = Uuid::try_parse(site).map_err(|_| unknown())?;
                Ok(Self { site: Some(SiteId(site)), plugin: plugin.to_owned() })
            }
            _ => Err(unknown()),
        }
    }

    fn of_store(&self) -> StateScope<'_> {
        StateScope { plugin: &self.plugin, site: self.site }
    }
}

fn failed(cause: Error) -> StateError {
    match cause {
        Error::StateQuota => StateError::QuotaExceeded,
        other => StateError::Unavailable(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_the_sandbox_are_understood_and_no_others() {
        let shared = Scope::parse("shared/vedette.check-domain").ok().unwrap();
        assert_eq!((shared.site, shared.plugin.as_str()), (None, "vedette.check-domain"));
        let site = Uuid::from_u128(7);
        let own = Scope::parse(&format!("site/{site}/vedette.check-ssl")).ok().unwrap();
        assert_eq!((own.site, own.plugin.as_str()), (Some(SiteId(site)), "vedette.check-ssl"));
        for text in ["", "shared", "site/x/p", "site/p", "other/p"] {
            assert!(Scope::parse(text).is_err(), "{text}");
        }
    }
}
