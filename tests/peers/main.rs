//! Second opinions: what the checks say of servers that others wrote, beside what judges that
//! others wrote say of them; what clients that others wrote say of the service; what an engine of
//! others makes of a plugin in its language; and how the service does on a database that is a
//! program of its own, and in the hands of a debugger; what Prometheus makes of the alerting rules.
//!
//! A test whose programs are not installed prints one line and passes; `VEDETTE_PEERS` names a
//! folder whose `bin` is searched before `PATH`.
//!
//! *Invariant:* every server listens on 127.0.0.1, on a port and in a folder of its own, and ends with
//! the value that owns it.

mod acme;
mod alerts;
mod cluster;
mod dnssec;
mod javascript;
mod mail;
mod mcp;
mod program;
mod standstill;
mod status_page;
mod tls;
