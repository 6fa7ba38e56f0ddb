//! Where a part of a notification goes: the plugin names a settings field, the host puts its value in.
//!
//! *Invariant:* a plugin reaches no address but those of its own fields, of its own channel.

use vedette_model::NotificationSettings;

/// The URL made of the value of the settings field that `ref:<field>` names and of whatever the
/// plugin wrote after it: a path goes before the value's own query, a query is added to it.
pub(super) fn address(
    url: &str,
    channel: &str,
    fields: &[String],
    settings: &NotificationSettings,
) -> Result<String, String> {
    let rest = url.strip_prefix("ref:").ok_or("the plugin names no settings field")?;
    let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let (field, suffix) = rest.split_at(rest.find(|c| !in_name(c)).unwrap_or(rest.len()));
    if !fields.iter().any(|own| own == field) {
        return Err(format!("the plugin may not use the setting {field:?}"));
    }
    let value = settings.referenced_by(channel, field);
    let value = value.ok_or_else(|| format!("{field} is no longer set"))?;
    // What follows a # is never sent, so nothing may be added after one.
    let value = value.split('#').next().unwrap_or_default();
    let (base, own) = apart(value);
    let (path, query) = apart(suffix);
    let queries: Vec<&str> = [own, query].into_iter().flatten().collect();
    let mark = if queries.is_empty() { "" } else { "?" };
    Ok(format!("{base}{path}{mark}{}", queries.join("&")))
}

/// What comes before the query, and the query.
fn apart(url: &str) -> (&str, Option<&str>) {
    url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::Secret;

    use super::*;

    fn settings(url: &str) -> NotificationSettings {
        NotificationSettings {
            custom_webhook_url: Some(Secret::new(url.to_owned())),
            ..NotificationSettings::default()
        }
    }

    fn resolve(text: &str, url: &str) -> Result<String, String> {
        let fields = ["custom_webhook_url".to_owned()];
        address(text, "webhook", &fields, &settings(url))
    }

    #[test]
    fn reference_becomes_the_setting_and_its_suffix() {
        let cases = [
            ("ref:custom_webhook_url", "https://h.example/a", "https://h.example/a"),
            ("ref:custom_webhook_url", "https://h.example/a?t=1", "https://h.example/a?t=1"),
            (
                "ref:custom_webhook_url/b?w=1",
                "https://h.example/a#c?d",
                "https://h.example/a/b?w=1",
            ),
            ("ref:custom_webhook_url?w=1", "https://h.example/a", "https://h.example/a?w=1"),
            (
                "ref:custom_webhook_url?w=1",
                "https://h.example/a?t=1",
                "https://h.example/a?t=1&w=1",
            ),
            ("ref:custom_webhook_url/slack", "https://h.example/a", "https://h.example/a/slack"),
            (
                "ref:custom_webhook_url/slack",
                "https://h.example/a?t=1",
                "https://h.example/a/slack?t=1",
            ),
            (
                "ref:custom_webhook_url/slack?w=1",
                "https://h.example/a?t=1",
                "https://h.example/a/slack?t=1&w=1",
            ),
        ];
        for (text, url, expected) in cases {
            assert_eq!(resolve(text, url).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn plugin_reaches_no_address_but_its_own_setting() {
        for text in [
            "https://elsewhere.example/",
            "custom_webhook_url",
            "ref:",
            "ref:slack_webhook_url",
            "ref:webhook_secret",
            "ref:CUSTOM_WEBHOOK_URL",
        ] {
            assert!(resolve(text, "https://h.example/").is_err(), "{text}");
        }
    }

    #[test]
    fn setting_that_was_cleared_meanwhile_is_not_sent_to() {
        let fields = ["custom_webhook_url".to_owned()];
        let nothing = NotificationSettings::default();
        let said = address("ref:custom_webhook_url", "webhook", &fields, &nothing);
        assert_eq!(said, Err("custom_webhook_url is no longer set".to_owned()));
    }

    #[test]
    fn plugin_of_another_channel_reaches_only_what_was_set_for_it() {
        let fields = ["custom_webhook_url".to_owned(), "url".to_owned()];
        let mut settings = settings("https://h.example/");
        let pager = json!({"url": "https://pager.example/a"});
        let pager = pager.as_object().cloned().expect("an object");
        settings.plugin_channels.insert("pager".to_owned(), Secret::new(pager));
        for (channel, text, expected) in [
            ("pager", "ref:url?now=1", Ok("https://pager.example/a?now=1")),
            ("pager", "ref:custom_webhook_url", Err("custom_webhook_url is no longer set")),
            ("other", "ref:url", Err("url is no longer set")),
            ("webhook", "ref:url", Err("url is no longer set")),
            ("webhook", "ref:custom_webhook_url", Ok("https://h.example/")),
        ] {
            let found = address(text, channel, &fields, &settings);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{channel} {text}");
        }
    }
}
