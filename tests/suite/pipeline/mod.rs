//! From a site that goes bad to a receiver that knows: what is raised, how it is delivered, and
//! that nothing acknowledged is lost.

mod alerting;
mod batching;
mod chat;
mod crash;
mod ct;
mod delivery;
mod dns;
mod domain;
mod downgrade;
mod every_check;
mod guard;
mod mail;
mod maintenance_silencing;
mod restart;
mod secrets;
mod uptime;
