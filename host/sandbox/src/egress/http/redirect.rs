//! What a redirect changes. Pure.

use http::{HeaderMap, Method, StatusCode, header};
use url::Url;

use crate::egress::{NetError, Refusal, refused};

/// The `Location` of a redirect that can be followed.
pub(super) fn location(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    // An empty one leads nowhere, as curl and browsers have it.
    let location = headers.get(header::LOCATION).filter(|location| !location.is_empty())?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Where `location` leads from `url`. The caller vets the answer like any URL.
pub(super) fn resolve(url: &Url, location: &str) -> Result<Url, NetError> {
    let refuse = |text: &str| Err(NetError::Protocol(text.to_owned()));
    if location.bytes().any(|b| b < b' ' || b == 0x7f || b == b'\\') {
        return refuse("the redirect must not contain control characters or backslashes");
    }
    match url.join(location) {
        Ok(next) => Ok(next),
        Err(_) => refuse("the redirect leads to a URL that cannot be read"),
    }
}

/// Why a redirect is not followed: a URL that cannot be read, or is written as none is followed (with a
/// user name, say), is the answer's own fault; an address that may not be reached, or a port, is one
/// that we refuse.
pub(super) fn not_followed(refusal: Refusal) -> NetError {
    match refusal {
        Refusal::Url(what) => NetError::Protocol(format!("the URL of the redirect {what}")),
        Refusal::Name(_) => {
            NetError::Protocol("the URL of the redirect must name a public host".to_owned())
        }
        Refusal::Address(_)
        | Refusal::Denied
        | Refusal::OwnListener
        | Refusal::SpecialName
        | Refusal::Port(_) => refused(refusal),
    }
}

/// A POST that is answered by 301 or 302 goes on as GET, as browsers do; 303 always does.
pub(super) fn changes_to_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        303 => method != Method::GET && method != Method::HEAD,
        301 | 302 => method == Method::POST,
        _ => false,
    }
}

/// What spoke about the body goes with it.
pub(super) fn drop_body_headers(headers: &mut HeaderMap) {
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE] {
        headers.remove(name);
    }
}

pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Removes what was meant for the first origin alone.
pub(super) fn drop_secrets(headers: &mut HeaderMap, secret: &[(String, String)]) {
    for name in [header::AUTHORIZATION, header::COOKIE] {
        headers.remove(name);
    }
    for (name, _) in secret {
        headers.remove(name.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::{Audience, Policy};

    #[test]
    fn only_a_redirect_with_a_location_is_followed() {
        let mut headers = HeaderMap::new();
        assert_eq!(location(StatusCode::FOUND, &headers), None);
        headers.insert(header::LOCATION, "".parse().unwrap());
        assert_eq!(location(StatusCode::FOUND, &headers), None);
        headers.insert(header::LOCATION, "/next".parse().unwrap());
        for status in [301, 302, 303, 307, 308] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(location(status, &headers).as_deref(), Some("/next"));
        }
        for status in [200, 201, 300, 304, 305, 400] {
            assert_eq!(location(StatusCode::from_u16(status).unwrap(), &headers), None);
        }
    }

    #[test]
    fn methods_change_as_in_browsers() {
        let table = [
            (301, "POST", true),
            (302, "POST", true),
            (302, "GET", false),
            (302, "PUT", false),
            (303, "PUT", true),
            (303, "HEAD", false),
            (307, "POST", false),
            (308, "POST", false),
        ];
        for (status, method, expected) in table {
            let status = StatusCode::from_u16(status).unwrap();
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(changes_to_get(status, &method), expected, "{status} {method}");
        }
    }

    #[test]
    fn secrets_stay_with_the_first_origin() {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "cookie", "x-token", "x-other"] {
            headers.insert(name, "v".parse().unwrap());
        }
        drop_secrets(&mut headers, &[("X-Token".to_owned(), "v".to_owned())]);
        assert_eq!(headers.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["x-other"]);
        let origin = |a: &str, b: &str| same_origin(&a.parse().unwrap(), &b.parse().unwrap());
        assert!(origin("https://a.example/x", "https://a.example:443/y"));
        assert!(!origin("https://a.example/", "http://a.example/"));
        assert!(!origin("https://a.example/", "https://a.example:8443/"));
        assert!(!origin("https://a.example/", "https://b.example/"));
    }

    #[test]
    fn how_a_url_is_written_is_told_from_what_we_refuse() {
        let policy = Policy::default();
        for (text, is_ours) in [
            ("ftp://b.example/", false),
            ("mailto:a@b.example", false),
            ("http://intranet/", false),
            ("http://user@b.example/", false),
            ("http://10.0.0.1/", true),
            ("http://b.local/", true),
            ("http://b.example:25/", true),
        ] {
            let refusal = policy.vet_url(text, Audience::Authenticated).unwrap_err();
            let told = not_followed(refusal);
            assert_eq!(!matches!(told, NetError::Protocol(_)), is_ours, "{text}: {told}");
        }
    }

    #[test]
    fn a_redirect_with_odd_bytes_is_refused() {
        let from = Url::parse("https://a.example/x").unwrap();
        for text in ["http://b.example\\@c.example/", "/\r\nX: y", "http://[::1/"] {
            assert!(matches!(resolve(&from, text), Err(NetError::Protocol(_))), "{text:?}");
        }
        assert_eq!(resolve(&from, "//b.example/y").unwrap().as_str(), "https://b.example/y");
        assert_eq!(resolve(&from, "?q").unwrap().as_str(), "https://a.example/x?q");
    }
}
