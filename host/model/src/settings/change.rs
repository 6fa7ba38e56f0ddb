//! What a PATCH may change, within which bounds, and on which plan.

use serde_json::Value;
use url::Url;

use super::{NotificationSettings, signing};
use crate::parse::{self, Body};
use crate::secret::revealed;
use crate::status_page::domain;
use crate::{Feature, Invalid, Plan, Secret, email};

/// Why settings were not changed; nothing of the request was applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The plan lacks what the field belongs to.
    #[error("the plan does not include {}", .0.noun())]
    Forbidden(Feature),
}

impl NotificationSettings {
    /// Changes what the body names, all or nothing. Whatever the plan, a field may stay as it is or
    /// be set back to its default: after a downgrade an owner can send back what was read, and can
    /// still switch things off.
    ///
    /// That webhook URLs lead somewhere allowed is the egress layer's to say; here they are only
    /// known to be short `http(s)` texts. The channels of plugins have [a patch of their
    /// own](super::ChannelPatch).
    pub fn patch(&mut self, body: &Value, plan: &Plan) -> Result<(), PatchError> {
        let next = self.clone().with(Body::of(body)?)?;
        if let Some(feature) = next.first_not_in(plan, self, body) {
            return Err(PatchError::Forbidden(feature));
        }
        *self = next;
        Ok(())
    }

    fn with(mut self, body: Body<'_>) -> Result<Self, Invalid> {
        body.patch("email", parse::boolean)?.apply("email", &mut self.email)?;
        body.patch("alert_emails", addresses)?.apply("alert_emails", &mut self.alert_emails)?;
        body.patch("slack_webhook_url", webhook_url)?.apply_option(&mut self.slack_webhook_url);
        body.patch("discord_webhook_url", webhook_url)?.apply_option(&mut self.discord_webhook_url);
        body.patch("teams_webhook", webhook_url)?.apply_option(&mut self.teams_webhook);
        body.patch("custom_webhook_url", webhook_url)?.apply_option(&mut self.custom_webhook_url);
        body.patch("webhook_secret", secret)?.apply_option(&mut self.webhook_secret);
        self.with_status_page(body)
    }

    fn with_status_page(mut self, body: Body<'_>) -> Result<Self, Invalid> {
        body.patch("status_page_enabled", parse::boolean)?
            .apply("status_page_enabled", &mut self.status_page_enabled)?;
        body.patch("status_page_title", |field, value| {
            parse::line(field, value, LONGEST_TITLE).map(str::to_owned)
        })?
        .apply("status_page_title", &mut self.status_page_title)?;
        body.patch("status_page_logo_url", image_url)?.apply_option(&mut self.status_page_logo_url);
        body.patch("status_page_accent_color", colour)?
            .apply("status_page_accent_color", &mut self.status_page_accent_color)?;
        body.patch("status_page_favicon_url", image_url)?
            .apply_option(&mut self.status_page_favicon_url);
        body.patch("status_page_custom_domain", custom_domain)?
            .apply_option(&mut self.status_page_custom_domain);
        body.patch("status_page_hide_powered_by", parse::boolean)?
            .apply("status_page_hide_powered_by", &mut self.status_page_hide_powered_by)?;
        body.patch("status_page_custom_css", |field, value| {
            parse::text_within(field, value, LONGEST_CSS).map(str::to_owned)
        })?
        .apply_option(&mut self.status_page_custom_css);
        Ok(self)
    }

    /// The feature of the first field that the body changes, away from its default, and that the
    /// plan lacks.
    fn first_not_in(&self, plan: &Plan, before: &Self, body: &Value) -> Option<Feature> {
        let lacking: Vec<_> = GATES
            .into_iter()
            .filter(|(field, feature)| body.get(field).is_some() && !plan.includes(*feature))
            .collect();
        if lacking.is_empty() {
            return None;
        }
        let [next, before, default] = [self, before, &Self::default()]
            .map(|settings| revealed(|| serde_json::to_value(settings)))
            .map(|value| value.expect("settings are plain data"));
        lacking
            .into_iter()
            .find(|(field, _)| {
                let value = next.get(field);
                value != before.get(field) && value != default.get(field)
            })
            .map(|(_, feature)| feature)
    }
}

fn webhook_url(field: &'static str, value: &Value) -> Result<Secret<String>, Invalid> {
    http_url(field, value, LONGEST_URL).map(Secret::new)
}

/// A page will name it: what browsers would read in another way than it looks is refused.
fn image_url(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let text = http_url(field, value, LONGEST_IMAGE_URL)?;
    let plain = Url::parse(&text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    });
    if plain && !text.contains('\\') {
        return Ok(text);
    }
    Err(Invalid::new(field, "must be an http or https URL of an image"))
}

pub(super) fn http_url(field: &'static str, value: &Value, max: usize) -> Result<String, Invalid> {
    let text = parse::text_within(field, value, max)?;
    let host = ["http://", "https://"].into_iter().find_map(|scheme| {
        let start = text.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
    });
    let blank = text.chars().any(|c| c.is_whitespace() || c.is_control());
    match host {
        Some(host) if !blank && !host.is_empty() && !host.starts_with('/') => Ok(text.to_owned()),
        _ => Err(Invalid::new(field, "must be an http or https URL")),
    }
}

fn addresses(field: &'static str, value: &Value) -> Result<Vec<String>, Invalid> {
    let mut addresses = Vec::new();
    for item in parse::list(field, value)? {
        let address = email::parse(field, parse::text(field, item)?)?;
        if !addresses.contains(&address) {
            addresses.push(address);
        }
        if addresses.len() > MOST_ADDRESSES {
            return Err(Invalid::new(field, "must hold at most 5 addresses"));
        }
    }
    Ok(addresses)
}

fn secret(field: &'static str, value: &Value) -> Result<Secret<String>, Invalid> {
    let text = parse::text(field, value)?;
    if signing::key(text).is_none() {
        return Err(Invalid::new(
            field,
            "must be the base64 of 24 to 64 bytes, with or without whsec_ before it",
        ));
    }
    Ok(Secret::new(text.to_owned()))
}

fn colour(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let text = parse::text(field, value)?;
    let digits = text.strip_prefix('#').unwrap_or_default();
    if matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(text.to_owned());
    }
    Err(Invalid::new(field, "must be a colour such as #2f6feb or #26e"))
}

fn custom_domain(field: &'static str, value: &Value) -> Result<String, Invalid> {
    domain::parse(field, parse::text(field, value)?).map(String::from)
}

/// Fields that only some plans may set (spec: Plan gating of features). `status_page_enabled` and
/// `status_page_title` are the page itself, which every plan has.
const GATES: [(&str, Feature); 13] = [
    ("email", Feature::Email),
    ("alert_emails", Feature::Email),
    ("slack_webhook_url", Feature::ChatWebhooks),
    ("discord_webhook_url", Feature::ChatWebhooks),
    ("teams_webhook", Feature::ChatWebhooks),
    ("custom_webhook_url", Feature::CustomWebhook),
    ("webhook_secret", Feature::CustomWebhook),
    ("status_page_logo_url", Feature::StatusPageStyle),
    ("status_page_accent_color", Feature::StatusPageStyle),
    ("status_page_favicon_url", Feature::StatusPageStyle),
    ("status_page_custom_domain", Feature::StatusPageStyle),
    ("status_page_hide_powered_by", Feature::StatusPageStyle),
    ("status_page_custom_css", Feature::StatusPageStyle),
];

pub(super) const LONGEST_URL: usize = 2048;
const LONGEST_IMAGE_URL: usize = 500;
const LONGEST_TITLE: usize = 100;
const LONGEST_CSS: usize = 10_000;
const MOST_ADDRESSES: usize = 5;
