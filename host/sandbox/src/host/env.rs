//! `vedette:env`: clock, random, state and secrets.

use std::time::Duration;

use super::{Guest, Run};
use crate::{
    bindings::check::vedette::env::{
        clock, random, secrets,
        state::{self, Scope, StateError},
    },
    error::Stop,
    state as store,
};

impl clock::Host for Guest {
    async fn now(&mut self) -> wasmtime::Result<i64> {
        Ok(self.clock.now())
    }

    async fn remaining(&mut self) -> wasmtime::Result<u32> {
        Ok(self.time_left())
    }
}

impl random::Host for Guest {
    async fn bytes(&mut self, len: u32) -> wasmtime::Result<Vec<u8>> {
        if len > RANDOM {
            return Err(Stop::HostCall.into());
        }
        let mut bytes = vec![0; len as usize];
        match self.run.as_deref_mut().filter(|run| run.prober.repeats()) {
            Some(run) => run.draw(&mut bytes),
            None => aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Stop::HostCall)?,
        }
        Ok(bytes)
    }
}

impl state::Host for Guest {
    async fn get(
        &mut self,
        scope: Scope,
        key: String,
    ) -> wasmtime::Result<Result<Option<Vec<u8>>, StateError>> {
        let (scope, _) = match self.run()?.scope(scope, &key) {
            Ok(open) => open,
            Err(refused) => return Ok(Err(refused)),
        };
        let got = self.run()?.state.get(&scope, &key);
        Ok(self.outside(got).await?.map_err(StateError::from))
    }

    async fn set(
        &mut self,
        scope: Scope,
        key: String,
        value: Vec<u8>,
        ttl_s: Option<u32>,
    ) -> wasmtime::Result<Result<(), StateError>> {
        let (scope, quota) = match self.run()?.scope(scope, &key) {
            Ok(open) => open,
            Err(refused) => return Ok(Err(refused)),
        };
        if value.len() > STATE_VALUE {
            return Ok(Err(StateError::QuotaExceeded));
        }
        let ttl = ttl_s.map(|seconds| Duration::from_secs(seconds.into()));
        let set = self.run()?.state.set(&scope, &key, value, ttl, quota);
        Ok(self.outside(set).await?.map_err(StateError::from))
    }

    async fn delete(
        &mut self,
        scope: Scope,
        key: String,
    ) -> wasmtime::Result<Result<(), StateError>> {
        let (scope, _) = match self.run()?.scope(scope, &key) {
            Ok(open) => open,
            Err(refused) => return Ok(Err(refused)),
        };
        let deleted = self.run()?.state.delete(&scope, &key);
        Ok(self.outside(deleted).await?.map_err(StateError::from))
    }
}

impl secrets::Host for Guest {
    async fn get(
        &mut self,
        name: String,
    ) -> wasmtime::Result<Result<String, secrets::SecretError>> {
        let run = self.run()?;
        if !run.grants.secrets.contains(&name) {
            return Ok(Err(secrets::SecretError::NotPermitted));
        }
        Ok(run.secrets.get(&name).cloned().ok_or(secrets::SecretError::Unset))
    }
}

impl Run {
    /// What a run that repeats has in the place of random bytes: the same each time, and different
    /// from one another.
    fn draw(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.drawn;
            self.drawn = self.drawn.wrapping_add(1);
        }
    }

    /// The store's name for a scope and its quota, if this run may touch it. A touch is a call.
    fn scope(&mut self, scope: Scope, key: &str) -> Result<(String, u64), StateError> {
        let granted = self.grants.state.unwrap_or_default();
        let (name, quota) = match (scope, self.site) {
            (Scope::Site, Some(site)) => (format!("site/{site}/{}", self.plugin), granted.site),
            (Scope::Site, None) => return Err(StateError::NotPermitted),
            (Scope::Shared, _) => (format!("shared/{}", self.plugin), granted.shared),
        };
        if quota == 0 {
            return Err(StateError::NotPermitted);
        }
        if key.len() > STATE_KEY || !self.budget.take_calls(1) {
            return Err(StateError::QuotaExceeded);
        }
        Ok((name, quota))
    }
}

impl From<store::StateError> for StateError {
    fn from(error: store::StateError) -> Self {
        match error {
            store::StateError::QuotaExceeded => Self::QuotaExceeded,
            store::StateError::Unavailable(reason) => {
                // Why the store is away is the operator's business, not the plugin's.
                tracing::warn!("plugin state is not available: {reason}");
                Self::Unavailable
            }
        }
    }
}

/// Of one call.
const RANDOM: u32 = 1024;
const STATE_KEY: usize = 128;
const STATE_VALUE: usize = 16 << 10;
