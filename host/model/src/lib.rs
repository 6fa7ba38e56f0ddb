//! The rules of Vedette as plain data and pure functions.
//!
//! Observation (what a plugin saw) → Assessment (health and findings) → Alert (stored,
//! deduplicated) → Notification → Delivery (an attempt). Everything that can be decided from a
//! table is decided here; the store, the sandbox and the server only carry it out.
//!
//! *Invariant:* no async, no IO, no clock (`now` is a parameter), no environment, no randomness.
//! *Invariant:* a value that was parsed here ([`DomainName`], [`CheckType`], …) is trusted after.

pub mod account;
pub mod agent;
pub mod alert;
pub mod api_key;
pub mod assessment;
pub mod billing;
pub mod cert_history;
pub mod check;
pub mod delivery;
pub mod domain_name;
pub mod edition;
pub mod email;
pub mod event;
pub mod glance;
pub mod guard;
pub mod id;
pub mod incident;
pub mod maintenance;
pub mod parse;
pub mod patch;
pub mod plan;
pub mod quota;
pub mod renewal;
pub mod role;
pub mod schedule;
pub mod secret;
pub mod session;
pub mod settings;
pub mod site;
pub mod status_page;
pub mod team;
pub mod text;

mod base64;

pub use account::Account;
pub use alert::{Alert, AlertFilter, Decision, Notice, Severity};
pub use api_key::ApiKey;
pub use assessment::{Assessment, Evidence, Finding, Health, Observation};
pub use cert_history::CertChange;
pub use check::{CheckRecord, CheckState, CheckStatus, CheckType, Source};
pub use delivery::{Delivery, DeliveryState};
pub use domain_name::{DomainName, Target};
pub use edition::{Area, Edition};
pub use event::{Event, EventFilter};
pub use glance::Glance;
pub use id::{
    AccountId, AgentId, AlertId, ApiKeyId, CheckId, DeliveryId, IncidentId, IncidentUpdateId,
    InvitationId, MaintenanceWindowId, MembershipId, SiteId,
};
pub use incident::{Incident, IncidentFilter, IncidentStatus, IncidentUpdate};
pub use maintenance::MaintenanceWindow;
pub use parse::Invalid;
pub use patch::Patch;
pub use plan::{Feature, Plan};
pub use renewal::{RenewalEntry, RenewalStatus, RenewedCertificate};
pub use role::Role;
pub use secret::Secret;
pub use settings::NotificationSettings;
pub use site::{LookedAt, NewSite, Site, SitePatch};

/// A moment in UTC; on the wire ISO 8601 with `Z`.
pub type Timestamp = chrono::DateTime<chrono::Utc>;
