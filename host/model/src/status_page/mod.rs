//! The public status page: what strangers may know of an account's sites, and how it is judged.
//!
//! The store brings [`Facts`], [`Page::of`] makes of them what is shown, and the server writes it
//! as HTML, JSON and RSS: the three tell the same.
//!
//! *Invariant:* of a site the page knows the domain, how it stands and how fast it answers; no
//! port, no address, no alert, and nothing of an incident that repeats or counts them.
//! *Invariant:* what the owner wrote is cleaned here for all three, of what one cannot hold.
//! *Invariant:* what was not measured is never shown as well: gaps are gaps, and neither they nor
//! what is unknown count as up.

pub mod accent;
pub mod css;
pub mod domain;
pub mod drawing;
pub mod latest;
pub mod response;
pub mod slug;
pub mod tally;
mod text;
pub mod uptime;
pub mod verdict;
pub mod view;

pub use self::latest::{Latest, Standing};
pub use self::response::HourCount;
pub use self::slug::Slug;
pub use self::tally::Tally;
pub use self::uptime::{DayCount, DayState, History, Share};
pub use self::verdict::{Overall, SiteState, Verdict};
pub use self::view::{Facts, Page, PageIncident, PageSite, PageUpdate, PageWindow, Watched};
