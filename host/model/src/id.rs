//! One newtype per kind of id, so that a site's id is never passed where an alert's is meant.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
    )*};
}

ids! {
    /// The tenant: everything stored belongs to exactly one.
    AccountId
    /// A program that looks at hosts which only it can reach.
    AgentId
    AlertId
    ApiKeyId
    /// A stored check record.
    CheckId
    /// Stable over all attempts; receivers see it as `X-Vedette-Delivery`.
    DeliveryId
    IncidentId
    /// One entry of an incident's stream.
    IncidentUpdateId
    InvitationId
    MaintenanceWindowId
    /// That somebody is in a team.
    MembershipId
    SiteId
}
