//! The whole service, asked from outside: every test starts the real program on a database of its
//! own and talks to it over HTTP, as its users do.

mod api;
mod command;
mod crowd;
mod deploy;
/// Components made to order, as the sandbox's own tests make them; not all of it is needed here.
#[allow(dead_code)]
#[path = "../../host/sandbox/tests/plugins/guest/mod.rs"]
mod guest;
mod health;
mod log;
mod mcp_bridge;
mod pipeline;
mod plugin;
mod refusal;
mod team;
mod tenant;
mod wire;
mod world;
