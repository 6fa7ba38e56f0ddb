//! Searches over certificate transparency logs, as crt.sh and Cert Spotter answer them.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{Asked, Script, Web};

/// Whose interface a source speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtKind {
    CrtSh,
    CertSpotter,
}

/// One certificate in a log.
#[derive(Clone, Debug)]
pub struct Issuance {
    pub id: u64,
    /// Lower-case hex.
    pub serial: String,
    /// RFC 4514, as the sources write it.
    pub issuer: String,
    pub names: Vec<String>,
    pub not_before: DateTime<Utc>,
    pub not_after: DateTime<Utc>,
    pub logged_at: DateTime<Utc>,
}

/// A running source. A domain that nothing was logged for has no certificates.
pub struct CtSource {
    kind: CtKind,
    web: Web,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    issuances: HashMap<String, Vec<Issuance>>,
    trouble: Option<Script>,
    answers: usize,
}

impl CtSource {
    pub async fn start(kind: CtKind) -> anyhow::Result<Self> {
        let book: Arc<Mutex<Book>> = Arc::default();
        let shelf = Arc::clone(&book);
        let web = Web::start(None, move |asked| shelf.lock().respond(kind, asked)).await?;
        Ok(Self { kind, web, book })
    }

    /// From the next search on. Searches for `domain` alone find it.
    pub fn log(&self, domain: &str, issuance: Issuance) {
        self.book.lock().issuances.entry(domain.to_owned()).or_default().push(issuance);
    }

    /// Every search is answered with this, until it is None again.
    pub fn trouble(&self, script: Option<Script>) {
        self.book.lock().trouble = script;
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.web.asked()
    }

    /// The operator's settings that name these sources, in this order.
    pub fn toml(sources: &[&Self]) -> String {
        let entry = |source: &&Self| {
            let kind = match source.kind {
                CtKind::CrtSh => "crtsh",
                CtKind::CertSpotter => "certspotter",
            };
            format!("{{ kind = \"{kind}\", url = \"{}\" }}", source.web.origin())
        };
        let entries: Vec<_> = sources.iter().map(entry).collect();
        format!("[plugins.ct]\nsources = [{}]\n", entries.join(", "))
    }
}

impl Issuance {
    /// Logged yesterday, valid for ninety days from then.
    pub fn new(id: u64, issuer: &str, names: &[&str]) -> Self {
        let logged_at = Utc::now() - Duration::days(1);
        Self {
            id,
            serial: format!("1a{id:030x}"),
            issuer: issuer.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            not_before: logged_at,
            not_after: logged_at + Duration::days(90),
            logged_at,
        }
    }

    /// The same certificate once more, as the other half of a precertificate and its certificate.
    pub fn twin(&self, id: u64) -> Self {
        Self { id, ..self.clone() }
    }

    /// crt.sh's row: no time has a zone, all names are in one text.
    fn row(&self) -> Value {
        let time = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M:%S").to_string();
        json!({
            "issuer_ca_id": 1,
            "issuer_name": self.issuer,
            // Certificates of today need none.
            "common_name": null,
            "name_value": self.names.join("\n"),
            "id": self.id,
            "entry_timestamp": self.logged_at.format("%Y-%m-%dT%H:%M:%S%.3f").to_string(),
            "not_before": time(self.not_before),
            "not_after": time(self.not_after),
            "serial_number": self.serial,
            "result_count": 2,
        })
    }

    /// Cert Spotter's, which joins the twins itself: equal certificates have equal hashes.
    fn issuance(&self) -> Value {
        let hash = |salt: &str| {
            let text = format!("{salt} {} {}", self.issuer, self.serial);
            hex::encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
        };
        let time = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
        json!({
            "id": self.id.to_string(),
            "tbs_sha256": hash("tbs"),
            "cert_sha256": hash("cert"),
            "pubkey_sha256": hash("key"),
            "dns_names": self.names,
            "issuer": {"name": self.issuer, "friendly_name": "Lab", "pubkey_sha256": hash("issuer")},
            "not_before": time(self.not_before),
            "not_after": time(self.not_after),
            "revoked": false,
        })
    }
}

impl Book {
    fn respond(&mut self, kind: CtKind, asked: &Asked) -> Script {
        if let Some(script) = &self.trouble {
            return script.clone();
        }
        self.answers += 1;
        match (kind, asked.path()) {
            (CtKind::CrtSh, "/") => self.search(asked),
            (CtKind::CertSpotter, "/v1/issuances") => self.page(asked),
            _ => Script::status(404),
        }
    }

    fn search(&self, asked: &Asked) -> Script {
        if asked.query("output").as_deref() != Some("json") {
            return Script::html("<html>the form for people</html>");
        }
        let wanted = ["q", "Identity", "dNSName"].iter().find_map(|name| asked.query(name));
        let mut rows = self.rows(wanted.as_deref(), Issuance::row);
        // crt.sh has no stable order.
        if self.answers.is_multiple_of(2) {
            rows.reverse();
        }
        Script::json(&Value::Array(rows))
    }

    /// At most two a page, so that paging is met in every test.
    fn page(&self, asked: &Asked) -> Script {
        let domain = asked.query("domain");
        let after = asked.query("after").and_then(|id| id.parse().ok()).unwrap_or(0_u64);
        let mut found = self.found(domain.as_deref());
        found.sort_by_key(|issuance| issuance.id);
        let page = found.into_iter().filter(|issuance| issuance.id > after).take(2);
        Script::json(&page.map(Issuance::issuance).collect())
    }

    fn rows(&self, domain: Option<&str>, row: impl Fn(&Issuance) -> Value) -> Vec<Value> {
        self.found(domain).into_iter().map(row).collect()
    }

    fn found(&self, domain: Option<&str>) -> Vec<&Issuance> {
        let domain = domain.unwrap_or_default().trim_start_matches("%.");
        self.issuances.get(domain).into_iter().flatten().collect()
    }
}
