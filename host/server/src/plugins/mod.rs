//! Operators' own plugins: a folder of components, and the lock that says which of them run.
//!
//! ```text
//! folder/plugins.lock → lock (what is approved and set) → changes (what a reload does) → loading:
//! hashes, rule, settings, the sandbox's gate → what runs, and why the rest does not
//! ```
//!
//! *Invariant:* a file runs only while its hash and its manifest's are those that the operator
//! approved, and with no more than was granted.
//! *Invariant:* a plugin that cannot be loaded is an error in the log and in the listing, and
//! leaves the service and all other plugins as they are.

mod changes;
mod channel;
mod folder;
mod loading;
mod lock;
mod operators;
mod rule;
mod settings;
mod standing;
mod view;

pub(crate) use channel::{channel_fields, channels};
pub(crate) use folder::{Folder, read_component, sha256};
pub(crate) use loading::install_check;
pub(crate) use lock::{Approved, Lock, Locked, Previous, granted_secrets};
pub(crate) use operators::Operators;
pub(crate) use rule::{is_ours, refusal};
pub(crate) use settings::{as_json, misfit, of as settings_of, value as setting};
pub(crate) use standing::standing;
pub(crate) use view::{installed, locked, waiting};
