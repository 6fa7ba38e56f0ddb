//! The relay as the operator wrote it: `smtp://`, `smtps://`, and `?tls=` as lettre reads it.

use lettre::transport::smtp::authentication::Credentials;
use percent_encoding::percent_decode_str;
use url::Url;
use vedette_model::text::misleads;

use super::BadRelay;

/// Where the relay is and how it is spoken to.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: Security,
    login: Option<Login>,
}

/// When TLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Security {
    Never,
    /// `?tls=opportunistic`: where the relay offers it.
    Offered,
    /// `?tls=required`
    StartTls,
    /// `smtps://`
    FromTheStart,
}

struct Login {
    user: String,
    password: String,
}

impl Server {
    /// Errors never quote the URL, which may hold a password.
    pub(super) fn parse(text: &str) -> Result<Self, BadRelay> {
        let url = Url::parse(text).map_err(|error| bad(format!("is not a URL: {error}")))?;
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| bad("names no host".to_owned()))?;
        // A key that nobody reads may be `tls` written otherwise: the password would go in clear.
        if !["", "/"].contains(&url.path())
            || url.fragment().is_some()
            || url.query_pairs().any(|(key, _)| key != "tls")
            || url.query_pairs().count() > 1
        {
            return Err(bad("may have nothing behind host and port but ?tls=".to_owned()));
        }
        if url.password().is_none() && !url.username().is_empty() {
            return Err(bad("names a user without a password: write user:password@".to_owned()));
        }
        let tls = url.query_pairs().next().map(|(_, value)| value);
        let (security, port) = match (url.scheme(), tls.as_deref()) {
            ("smtp", None) => (Security::Never, 25),
            ("smtp", Some("opportunistic")) => (Security::Offered, 587),
            ("smtp", Some("required")) => (Security::StartTls, 587),
            ("smtps", None) => (Security::FromTheStart, 465),
            ("smtps", Some(_)) => {
                return Err(bad("begins with smtps://, and so may say no tls=".to_owned()));
            }
            ("smtp", Some(_)) => {
                return Err(bad("may say tls=required or tls=opportunistic".to_owned()));
            }
            _ => return Err(bad("must begin with smtp:// or smtps://".to_owned())),
        };
        let login = match url.password() {
            None => None,
            Some(password) => {
                Some(Login { user: decoded(url.username())?, password: decoded(password)? })
            }
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { host, port: url.port().unwrap_or(port), security, login })
    }

    pub(super) fn credentials(&self) -> Option<Credentials> {
        let login = self.login.as_ref()?;
        Some(Credentials::new(login.user.clone(), login.password.clone()))
    }

    /// What a relay said, as one line of bounded length without our credentials.
    pub(super) fn quoted(&self, said: &str) -> String {
        let secrets = self.login.iter().flat_map(|login| [&login.password, &login.user]);
        let secrets = secrets.filter(|secret| secret.len() >= SHORTEST_SECRET);
        let said = secrets.fold(said.to_owned(), |said, secret| said.replace(secret.as_str(), "…"));
        let visible = said.replace(misleads, " ");
        let mut line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.len() > LONGEST_QUOTE {
            line.truncate(line.floor_char_boundary(LONGEST_QUOTE));
            line.push('…');
        }
        line
    }
}

/// A password may hold what a URL may not.
fn decoded(text: &str) -> Result<String, BadRelay> {
    let unreadable = |_| bad("has a user or password that is not percent-encoded UTF-8".to_owned());
    Ok(percent_decode_str(text).decode_utf8().map_err(unreadable)?.into_owned())
}

fn bad(reason: String) -> BadRelay {
    BadRelay { key: "smtp.url", reason }
}

const LONGEST_QUOTE: usize = 200;
const SHORTEST_SECRET: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_says_where_and_when_tls_begins() {
        for (url, host, port, security) in [
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, Security::Never),
            ("smtp://mail.example.com", "mail.example.com", 25, Security::Never),
            ("smtp://[::1]:2525", "::1", 2525, Security::Never),
            ("smtp://u:p@m.example?tls=required", "m.example", 587, Security::StartTls),
            ("smtp://m.example:25/?tls=required", "m.example", 25, Security::StartTls),
            ("smtp://m.example?tls=opportunistic", "m.example", 587, Security::Offered),
            ("smtps://u:p@m.example", "m.example", 465, Security::FromTheStart),
        ] {
            let server = Server::parse(url).unwrap_or_else(|bad| panic!("{url}: {bad}"));
            let found = (server.host.as_str(), server.port, server.security);
            assert_eq!(found, (host, port, security), "{url}");
        }
    }

    #[test]
    fn bad_url_is_refused_without_being_quoted() {
        for url in [
            "",
            "mail.example.com",
            "smtp://u:hunter2@m.example?TLS=required",
            "smtp://u:hunter2@m.example?tls=required&tls=opportunistic",
            "smtp://u:hunter2@m.example/tls=required",
            "smtp://u:hunter2@m.example#tls=required",
            "smtps://u:hunter2@m.example?tls=required",
            "smtp://hunter2@m.example",
            "http://u:hunter2@m.example",
            "smtp://u:hunter2@m.example?tls=never",
            "smtp://u:hunter2%ff@m.example",
            "smtp:hunter2",
        ] {
            let Err(bad) = Server::parse(url) else { panic!("{url} was taken") };
            assert!(!bad.to_string().contains("hunter2"), "{bad}");
            assert!(bad.to_string().starts_with("smtp.url "), "{bad}");
        }
    }

    #[test]
    fn password_may_hold_anything() {
        for (written, meant) in [("a%40b%2Fc%25%C3%BC", "a@b/c%ü"), ("50%off", "50%off")] {
            assert_eq!(decoded(written).ok().as_deref(), Some(meant));
        }
    }

    #[test]
    fn quote_is_one_short_line_without_credentials() {
        let server = Server::parse("smtp://apikey:hunter2@m.example").expect("a URL");
        let said = server.quoted("no user\r\napikey with hunter2\u{202e} \u{7}here");
        assert_eq!(said, "no user … with … here");
        assert!(server.quoted(&"ü".repeat(1_000)).len() <= LONGEST_QUOTE + 3);
    }
}
