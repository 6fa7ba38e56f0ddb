//! What the team edition has beyond the standard one.

mod account;
mod agent;
mod billing;
mod cron;
mod edge;
mod members;
mod roles;
mod welcome;
