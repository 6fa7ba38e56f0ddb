//! Where a redirect led to and nothing came from.
//!
//! *Invariant:* pure, and for people to read: the host decides which server is asked for what.

use vedette_sdk::{http::Arrival, net::NetError};

/// The URL that an answer redirected to and that brought none: it is there that something failed.
/// None where the answer itself did, which a failure of the protocol is taken for: a redirect
/// without an end, or to what is no URL.
pub(crate) fn failed_url(arrival: &Arrival) -> Option<String> {
    let Arrival { response, failure } = arrival;
    if matches!(failure, None | Some(NetError::Protocol(_))) {
        return None;
    }
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    resolved(&response.final_url, response.header("location")?)
}

/// Where a URL leads: scheme, host and port. What follows may differ each time, or be a secret.
pub(crate) fn origin(url: &str) -> String {
    let scheme =
        url.split_once(':').map(|(scheme, _)| format!("{}://", scheme.to_ascii_lowercase()));
    scheme.unwrap_or_default() + authority(url)
}

/// The host that a URL names, without its port.
pub(crate) fn host(url: &str) -> &str {
    let authority = authority(url);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn authority(url: &str) -> &str {
    let behind_scheme = url.split_once(':').map_or(url, |(_, rest)| rest);
    let authority = behind_scheme.trim_start_matches('/').split(['/', '?', '#']).next();
    authority.and_then(|authority| authority.rsplit('@').next()).unwrap_or_default()
}

/// Where `location` leads from `base` (RFC 3986, 5.2.2). Dots stay in its path.
fn resolved(base: &str, location: &str) -> Option<String> {
    let location = location.trim().split('#').next()?;
    let base = base.split('#').next()?;
    let (scheme, rest) = base.split_once("://")?;
    let place = rest.split('?').next()?;
    Some(if let Some((scheme, rest)) = absolute(location) {
        format!("{}:{rest}", scheme.to_ascii_lowercase())
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        let authority = place.split('/').next()?;
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{place}{location}")
    } else if location.is_empty() {
        base.to_owned()
    } else {
        let (folder, _) = place.rsplit_once('/').unwrap_or((place, ""));
        format!("{scheme}://{folder}/{location}")
    })
}

/// The scheme and the rest, where it has a scheme that is followed.
fn absolute(location: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = location.split_once(':')?;
    let is_followed = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_followed.then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use vedette_sdk::net::Phase;

    use super::*;
    use crate::fixture;

    #[test]
    fn redirect_to_nobody_names_where_it_led() {
        let led = |location: &str| {
            let mut moved = fixture::moved(location, NetError::NameNotFound);
            moved.response.final_url = "https://www.example.com/a/b?c=/d#e".to_owned();
            failed_url(&moved).expect("nobody answers there")
        };
        for (location, url) in [
            ("https://dead.example/x?y#z", "https://dead.example/x?y"),
            (" HTTP://dead.example:8080 ", "http://dead.example:8080"),
            (
                "/login?back=http://a.example/",
                "https://www.example.com/login?back=http://a.example/",
            ),
            ("//dead.example/", "https://dead.example/"),
            ("/login", "https://www.example.com/login"),
            ("login", "https://www.example.com/a/login"),
            ("?c=2", "https://www.example.com/a/b?c=2"),
            ("#top", "https://www.example.com/a/b?c=/d"),
        ] {
            assert_eq!(led(location), url, "{location}");
        }
    }

    #[test]
    fn what_the_answer_itself_has_wrong_leads_nowhere() {
        let moved = |failure| fixture::moved("https://dead.example/", failure);
        let whole = Arrival { failure: None, ..moved(NetError::Reset) };
        let endless = moved(NetError::Protocol("too many redirects".to_owned()));
        let mut broken = moved(NetError::Timeout(Phase::Receive));
        broken.response.status = 200;
        let mut blind = moved(NetError::Reset);
        blind.response.headers.clear();
        for arrival in [whole, endless, broken, blind] {
            assert_eq!(failed_url(&arrival), None, "{arrival:?}");
        }
    }

    #[test]
    fn origin_is_told_without_what_follows() {
        for (url, expected) in [
            ("https://dead.example/login/token?back=/#top", "https://dead.example"),
            ("HTTP:dead.example:8080?x", "http://dead.example:8080"),
            ("https://user:secret@[2001:db8::7]:8443", "https://[2001:db8::7]:8443"),
            ("dead.example/start", "dead.example"),
            ("", ""),
        ] {
            assert_eq!(origin(url), expected, "{url}");
        }
    }

    #[test]
    fn host_is_told_without_its_port() {
        for (url, expected) in [
            ("https://www.example.com/a:1/", "www.example.com"),
            ("https://www.example.com:8443", "www.example.com"),
            ("HTTP:dead.example?x", "dead.example"),
            ("https://[2001:db8::7]:8443/", "[2001:db8::7]"),
            ("https://[2001:db8::7]/", "[2001:db8::7]"),
            ("", ""),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
