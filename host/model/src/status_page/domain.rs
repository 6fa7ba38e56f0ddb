//! A status page's own domain: which names may be one, and how ownership is proved.

use crate::{DomainName, Invalid};

/// Reads the name of a host that visitors of the page may use. Whether special-use names may be
/// one is the egress policy's to say, as for every name that an account brings.
pub fn parse(field: &'static str, text: &str) -> Result<DomainName, Invalid> {
    DomainName::parse(text).map_err(|invalid| Invalid::new(field, invalid.reason))
}

/// The name that a request's `Host` stands for; none when that is an address, or no name at all.
/// The port is left out: a page is the same on every one.
pub fn of_host(host: &str) -> Option<DomainName> {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) => return None,
        None => host,
    };
    DomainName::parse(name).ok()
}

/// Where the proof of a domain is looked for.
pub fn proof_name(domain: &str) -> String {
    format!("_vedette.{domain}")
}

/// What the proof says, as its only text; `token` is the account's for this domain.
pub fn proof_value(token: &str) -> String {
    format!("vedette-verify={token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_public_name() {
        for (text, name) in [
            ("status.example.com", "status.example.com"),
            ("Status.Example.COM.", "status.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(parse("f", text).unwrap().as_str(), name);
        }
        for text in [
            "",
            "localhost",
            "192.0.2.1",
            "127.1",
            "[::1]",
            "::1",
            "0x7f.1",
            "https://status.example.com",
            "status.example.com:8080",
            "status.example.com/",
            "*.example.com",
            "a b.example",
        ] {
            assert_eq!(parse("f", text).unwrap_err().field, "f", "{text}");
        }
    }

    #[test]
    fn a_host_is_a_name_with_or_without_a_port() {
        for host in ["status.example.com", "STATUS.example.com.", "status.example.com:8443"] {
            assert_eq!(of_host(host).unwrap().as_str(), "status.example.com", "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:8080",
            "[::1]",
            "localhost:8080",
            "status.example.com:http",
            "status.example.com@evil.example",
            "a/b.example",
        ] {
            assert_eq!(of_host(host), None, "{host}");
        }
    }

    #[test]
    fn proof_is_a_text_below_the_domain() {
        assert_eq!(proof_name("status.example.com"), "_vedette.status.example.com");
        assert_eq!(proof_value("0a1b"), "vedette-verify=0a1b");
    }
}
