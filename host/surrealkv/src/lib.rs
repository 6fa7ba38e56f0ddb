//! SurrealKV 1 under the interface of SurrealKV 0.21, in whose place Cargo puts this crate
//! (`[patch.crates-io]` of the workspace).
//!
//! SurrealDB 3 asks for 0.21, whose last release stands still for good once a reader collects its
//! list of tables while a flush and a compaction meet: the reader takes the locks in another order
//! than they do. Version 1 takes them in one order. It converts a database of 0.21 when it opens
//! it, and the way back is closed.
//!
//! All of the interface that SurrealDB uses is the same in both but the builder's switch for an
//! index of versions, which version 1 does not need. This crate goes when SurrealDB asks for
//! version 1 itself.

mod tree_builder;

pub use newer::*;
pub use tree_builder::TreeBuilder;
