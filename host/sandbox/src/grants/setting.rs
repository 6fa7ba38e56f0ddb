//! Grants that name what the operator set: `{whois_root}` is the place that the setting names,
//! `*:{whois_root}` any host on that place's port, `{sources}` the origin of every source.

use serde_json::Value;
use url::Url;

use super::NoEntry;

/// The entries that `text` stands for: itself, unless it names a setting.
pub(super) fn fill(
    text: &str,
    settings: &Value,
    field: &'static str,
) -> Result<Vec<String>, NoEntry> {
    let Some((key, any_host)) = named(text) else { return Ok(vec![text.to_owned()]) };
    let places = values(&settings[key]).map(|value| place(value, any_host));
    let wrong = || NoEntry {
        field,
        reason: format!("names {{{key}}}, which is set to something other than host:port or a URL"),
    };
    places.map(|place| place.ok_or_else(wrong)).collect()
}

/// The setting that an entry names, and whether it means any host on its port.
pub(super) fn named(text: &str) -> Option<(&str, bool)> {
    let (name, any_host) = match text.strip_prefix("*:") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let key = name.strip_prefix('{')?.strip_suffix('}')?;
    Some((key, any_host))
}

/// A text, or the texts and `url` members of a list.
fn values(setting: &Value) -> impl Iterator<Item = &str> {
    let listed = setting.as_array().into_iter().flatten();
    let listed = listed.filter_map(|entry| entry.as_str().or_else(|| entry["url"].as_str()));
    setting.as_str().into_iter().chain(listed)
}

fn place(value: &str, any_host: bool) -> Option<String> {
    if !value.contains("://") {
        let (_, port) = value.rsplit_once(':')?;
        return Some(if any_host { format!("*:{port}") } else { value.to_owned() });
    }
    let url = Url::parse(value).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    Some(if any_host { format!("*:{port}") } else { format!("{}://{host}:{port}", url.scheme()) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_stands_for_the_places_it_names() {
        let settings = json!({
            "whois_root": "whois.example:4343",
            "bootstrap": "https://data.example/rdap/dns.json",
            "sources": [{ "kind": "crtsh", "url": "http://127.0.0.1:8080/x" }, { "url": "https://ct.example" }],
            "broken": "nowhere",
        });
        let filled = |text: &str| fill(text, &settings, "capabilities.tcp.to").ok();
        let owned = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let entries: [(&str, Option<Vec<String>>); 8] = [
            ("target", owned(&["target"])),
            ("*:43", owned(&["*:43"])),
            ("{whois_root}", owned(&["whois.example:4343"])),
            ("*:{whois_root}", owned(&["*:4343"])),
            ("{bootstrap}", owned(&["https://data.example:443"])),
            ("{sources}", owned(&["http://127.0.0.1:8080", "https://ct.example:443"])),
            ("{unset}", owned(&[])),
            ("{broken}", None),
        ];
        for (text, expected) in entries {
            assert_eq!(filled(text), expected, "{text}");
        }
    }
}
