//! Certificate chains, one for each way to be right or wrong, in keys of every kind: what we say of
//! them, what the rules say, and what others say.
//!
//! `cases` is the data: every case has the verdict that the rules demand. [`verdict`] holds ours
//! against it, [`openssl`] and [`webpki_peer`] hold two other verifiers against ours and name every
//! difference with its reason, and [`bounds`] tries to make the search for a path long.

mod bounds;
mod cases;
#[path = "../encoding/mod.rs"]
mod encoding;
mod maker;
mod openssl;
mod verdict;
mod webpki_peer;
