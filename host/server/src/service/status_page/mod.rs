//! The public status page of an account.

pub(crate) mod domain;
