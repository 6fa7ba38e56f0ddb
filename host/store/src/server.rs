//! The address of a database server, taken apart.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::error::{Error, Result};
use crate::open::{DATABASE, NAMESPACE};

/// Where a server is and who we are there.
#[derive(PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Server {
    /// Scheme, host and port alone.
    pub(crate) address: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) namespace: String,
    pub(crate) database: String,
}

impl Server {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        // The text holds a password, so no message repeats it.
        let wrong = |what: &str| Error::Address(format!("the database address {what}"));
        let mut url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let user = decoded(url.username()).ok_or_else(|| wrong("has a malformed user name"))?;
        let password = decoded(url.password().unwrap_or_default())
            .ok_or_else(|| wrong("has a malformed password"))?;
        if user.is_empty() {
            return Err(wrong("must name a user: ws://user:password@host:port"));
        }
        let mut path = url.path().split('/').filter(|part| !part.is_empty());
        let namespace = path.next().unwrap_or(NAMESPACE).to_owned();
        let database = path.next().unwrap_or(DATABASE).to_owned();
        if path.next().is_some() {
            return Err(wrong("has a path that is not /namespace/database"));
        }
        // Neither fails where there is a host, and ws and wss always have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_path("");
        url.set_query(None);
        Ok(Self { address: url.to_string(), user, password, namespace, database })
    }
}

/// The way passwords with an `@` are written in an address.
fn decoded(text: &str) -> Option<String> {
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_address_is_taken_apart() {
        let server = Server::parse("wss://root:p%40ss%25@db.example:8000").unwrap();
        assert_eq!(
            server,
            Server {
                address: "wss://db.example:8000/".to_owned(),
                user: "root".to_owned(),
                password: "p@ss%".to_owned(),
                namespace: "vedette".to_owned(),
                database: "main".to_owned(),
            }
        );
        let server = Server::parse("ws://u:p@10.0.0.1:8000/acme/monitor").unwrap();
        assert_eq!((&*server.namespace, &*server.database), ("acme", "monitor"));
    }

    #[test]
    fn server_address_errors_never_show_the_password() {
        for text in ["ws://:hunter2@h:1", "ws://u:hunter2@h:1/a/b/c", "ws://u:hunter2@h:99999"] {
            let error = Server::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
