//! The public status page: what may stand on it.

pub mod css;
pub mod domain;
