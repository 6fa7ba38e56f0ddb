//! Endpoint by endpoint: the happy path, the missing credential, the stranger's id, bad input,
//! the plan's limit.

mod account;
mod alert;
mod api_key;
mod cert_history;
mod check;
mod check_ssl;
mod error;
mod limit;
mod public;
mod settings;
mod site;
