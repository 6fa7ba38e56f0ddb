//! What the team edition has beyond the standard one.

mod account;
mod agent;
mod billing;
mod cron;
mod edge;
mod members;
mod roles;
mod welcome;

use crate::world::World;

/// A service of the team edition, with these lines in its configuration.
async fn world(toml: &str) -> World {
    World::with(|settings| {
        settings.edition = "team".into();
        settings.toml = toml.to_owned();
    })
    .await
}
