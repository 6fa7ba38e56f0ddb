//! The status page as bytes: what the model says of it, written as HTML, JSON and RSS, with the
//! style that goes with it.
//!
//! *Invariant:* no script, no inline style, nothing from other hosts except the owner's images: the
//! policy that the page is served under allows nothing else.
//! *Invariant:* texts of the owner are escaped by the writers, never by hand.

mod feed;
mod html;
mod style;

use std::sync::Arc;

use vedette_model::{NotificationSettings, status_page::Page};

pub(crate) use self::html::{missing, unavailable};
pub(crate) use self::style::plain as plain_style;
use crate::document::Document;

/// What of the page the owner styles, as far as the plan includes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    pub(crate) logo: Option<String>,
    pub(crate) favicon: Option<String>,
    pub(crate) accent: Option<String>,
    pub(crate) css: Option<String>,
    pub(crate) hide_powered_by: bool,
}

/// A page in all its forms.
pub(crate) struct Rendered {
    pub(crate) html: Arc<Document>,
    pub(crate) json: Arc<Document>,
    pub(crate) rss: Arc<Document>,
    pub(crate) style: Arc<Document>,
    pub(crate) custom_css: Arc<Document>,
    pub(crate) icon: Arc<Document>,
}

impl Look {
    /// Nothing of it where the plan lacks it: what was styled before a downgrade is kept, not shown.
    pub(crate) fn of(settings: &NotificationSettings, included: bool) -> Self {
        if !included {
            return Self::default();
        }
        Self {
            logo: https_only(&settings.status_page_logo_url),
            favicon: https_only(&settings.status_page_favicon_url),
            accent: Some(settings.status_page_accent_color.clone()),
            css: settings.status_page_custom_css.clone(),
            hide_powered_by: settings.status_page_hide_powered_by,
        }
    }
}

impl Rendered {
    /// `base` is the path that the page's files are under, such as `/status/acme`.
    pub(crate) fn of(page: &Page, look: &Look, base: &str) -> anyhow::Result<Self> {
        let css = look.css.as_deref().map(vedette_model::status_page::css::clean);
        let has_css = css.as_deref().is_some_and(|css| !css.trim().is_empty());
        Ok(Self {
            html: Document::new(html::page(page, look, has_css, base)?),
            json: Document::new(serde_json::to_string(page)?),
            rss: Document::new(feed::write(page)?),
            style: Document::new(style::with_accent(look.accent.as_deref())),
            custom_css: Document::new(css.unwrap_or_default()),
            icon: Document::new(html::icon(page.status.state)),
        })
    }

    /// Bytes in memory, the packed forms among them.
    pub(crate) fn weight(&self) -> usize {
        let all = [&self.html, &self.json, &self.rss, &self.style, &self.custom_css, &self.icon];
        all.iter().map(|document| document.plain.len()).sum::<usize>() * 2
    }
}

/// The policy allows no image over plain HTTP, so none is asked for.
fn https_only(url: &Option<String>) -> Option<String> {
    let is_https =
        |url: &&String| url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    url.as_ref().filter(is_https).cloned()
}

#[cfg(test)]
mod tests;
