//! Endpoint by endpoint: the happy path, the missing credential, the stranger's id, bad input,
//! the plan's limit.

mod account;
mod alert;
mod api_key;
mod bad_body;
mod bad_path;
mod bad_query;
mod bad_site;
mod bounds;
mod cert_history;
mod check;
mod check_config;
pub(crate) mod check_ct;
mod check_dns;
mod check_domain;
mod check_domain_whois;
mod check_ssl;
mod check_ssl_server;
mod check_uptime;
mod credential;
mod error;
mod foreign_id;
mod incident;
mod limit;
mod maintenance;
mod public;
mod session;
mod session_keys;
mod settings;
mod site;
