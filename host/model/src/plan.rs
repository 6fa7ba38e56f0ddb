//! A plan: the row of an edition's tables that bounds an account.

use std::time::Duration;

use crate::CheckType;

/// What a plan may include or lack (spec: Plan gating of features).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The e-mail channel.
    Email,
    /// The team-chat channels: Slack, Discord, Teams.
    ChatWebhooks,
    /// The custom webhook.
    CustomWebhook,
    /// The styling fields of the status page.
    StatusPageStyle,
    /// The deprecated renewal of certificates.
    Renewal,
    /// Others who work on the account's data.
    Team,
    /// Agents, which look at hosts that only they can reach.
    Agents,
}

/// One plan of one [`crate::Edition`] (spec: Limits).
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// As the API shows it, e.g. `pro`.
    pub id: &'static str,
    /// Requests in any trailing 10 seconds, per account.
    pub qps: u32,
    /// Requests in a UTC calendar month.
    pub monthly_calls: u64,
    pub api_keys: u32,
    pub sites: u32,
    /// People in the team beside the owner.
    pub team_members: u32,
    pub agents: u32,
    pub features: &'static [Feature],
    /// Shortest intervals, by check type; a type that is not listed has none of its own.
    pub min_intervals: &'static [(&'static str, Duration)],
}

impl Feature {
    /// For programs: `custom_webhook`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::ChatWebhooks => "chat_webhooks",
            Self::CustomWebhook => "custom_webhook",
            Self::StatusPageStyle => "status_page_style",
            Self::Renewal => "renewal",
            Self::Team => "team",
            Self::Agents => "agents",
        }
    }

    /// For sentences: `the custom webhook needs the team plan`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Email => "e-mail notification",
            Self::ChatWebhooks => "notification of team chats",
            Self::CustomWebhook => "the custom webhook",
            Self::StatusPageStyle => "styling of the status page",
            Self::Renewal => "certificate renewal",
            Self::Team => "teams",
            Self::Agents => "agents",
        }
    }
}

impl Plan {
    pub fn includes(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// The shortest interval between two scheduled runs of a check; zero = no bound of the plan's.
    pub fn min_interval(&self, check_type: &CheckType) -> Duration {
        self.min_intervals
            .iter()
            .find(|(name, _)| *name == check_type.as_str())
            .map_or(Duration::ZERO, |(_, shortest)| *shortest)
    }
}
