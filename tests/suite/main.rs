//! The whole service, asked from outside: every test starts the real program on a database of its
//! own and talks to it over HTTP, as its users do.

mod api;
mod command;
mod mcp_bridge;
mod pipeline;
mod plugin;
mod refusal;
mod tenant;
mod wire;
mod world;
