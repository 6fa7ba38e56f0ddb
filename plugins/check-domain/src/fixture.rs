//! What the tests of this crate share: a network of RDAP and WHOIS servers that answer as a test
//! says, and note what they were asked.

use std::{cell::RefCell, rc::Rc};

use vedette_sdk::{
    Check, CheckError, Job, Observation,
    http::{Request, Response},
    net::{NetError, Timing},
    tcp::ExchangeRequest,
    testing::Host,
};

use crate::{Domain, config::Config, result::DomainResult};

/// 2026-01-01T00:00:00Z, where the SDK's double starts.
pub(crate) const NOW: i64 = 1_767_225_600;
pub(crate) const HOUR: i64 = 3_600;
pub(crate) const IANA: &str = "https://data.iana.org/rdap/dns.json";

/// Servers, and what they were asked: `GET https://…` or `host:port query`.
pub(crate) struct World {
    pub(crate) host: Host,
    settings: String,
    asked: Rc<RefCell<Vec<String>>>,
}

impl World {
    /// A network in which nobody is at home.
    pub(crate) fn new() -> Self {
        let world = Self { host: Host::new(), settings: "{}".to_owned(), asked: Rc::default() };
        world.host.set_remaining(std::time::Duration::from_secs(30));
        world.http(|_| Err(NetError::Refused)).whois(|_, _| Err(NetError::Refused))
    }

    pub(crate) fn settings(self, settings: &str) -> Self {
        Self { settings: settings.to_owned(), ..self }
    }

    /// Answers every HTTP request by its URL.
    pub(crate) fn http(
        self,
        mut answer: impl FnMut(&str) -> Result<Response, NetError> + 'static,
    ) -> Self {
        let asked = Rc::clone(&self.asked);
        self.host.http(move |request| {
            assert_request(request);
            asked.borrow_mut().push(format!("GET {}", request.url));
            answer(&request.url)
        });
        self
    }

    /// Answers every WHOIS question by server (`host:port`) and query.
    pub(crate) fn whois(
        self,
        mut answer: impl FnMut(&str, &str) -> Result<String, NetError> + 'static,
    ) -> Self {
        let asked = Rc::clone(&self.asked);
        self.host.tcp(move |request| {
            let (server, query) = question(request);
            asked.borrow_mut().push(format!("{server} {query}"));
            answer(&server, &query).map(String::into_bytes)
        });
        self
    }

    pub(crate) fn run(&self, target: &str) -> Result<Observation<DomainResult>, CheckError> {
        let mut job = Job::new(target, Config::default());
        job.settings.clone_from(&self.settings);
        Domain::run(&self.host.cx(), job)
    }

    /// The result of a run that works.
    pub(crate) fn check(&self, target: &str) -> DomainResult {
        self.run(target).expect("the check works").facts
    }

    /// What was asked since the last call of this.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.take()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.host.set_now(self.host.cx().now() + seconds);
    }
}

/// Every request is one that a registry may see.
fn assert_request(request: &Request) {
    assert_eq!((request.method.as_str(), request.max_redirects), ("GET", 5));
    assert!(request.verify_tls && request.timeout_ms > 0 && request.connect_to.is_none());
    let accept =
        if request.url.contains("/domain/") { "application/rdap+json" } else { "application/json" };
    assert_eq!(request.headers, [("accept".to_owned(), accept.to_owned())]);
}

fn question(request: &ExchangeRequest) -> (String, String) {
    assert!(request.timeout_ms > 0 && request.max == 256 << 10);
    let query = String::from_utf8(request.send.clone()).expect("queries are ASCII");
    let query = query.strip_suffix("\r\n").expect("a query is a line").to_owned();
    assert!(!query.contains(['\r', '\n']), "a query is one line");
    (format!("{}:{}", request.endpoint.host, request.endpoint.port), query)
}

pub(crate) fn response(status: u16, body: &str) -> Response {
    Response {
        status,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
        truncated: false,
        final_url: "https://elsewhere.example/".to_owned(),
        hops: Vec::new(),
        peer_address: "192.0.2.7".to_owned(),
        timing: Timing {
            resolve_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
        },
    }
}

/// The domain object of a registration that ends at an RFC 3339 date.
pub(crate) fn rdap(name: &str, expires_at: &str) -> String {
    serde_json::json!({
        "objectClassName": "domain",
        "ldhName": name,
        "status": ["client transfer prohibited", "active"],
        "events": [
            {"eventAction": "registration", "eventDate": "2000-01-01T00:00:00Z"},
            {"eventAction": "expiration", "eventDate": expires_at},
        ],
        "entities": [{
            "objectClassName": "entity",
            "roles": ["registrar"],
            "vcardArray": ["vcard", [["version", {}, "text", "4.0"], ["fn", {}, "text", "Example Registrar"]]],
        }],
        "nameservers": [{"ldhName": "NS2.Example.Net"}, {"ldhName": "ns1.example.net."}],
    })
    .to_string()
}

/// The registry's answer about a name whose registrar knows more.
pub(crate) fn thin(name: &str, expires_at: &str, registrar_server: &str) -> String {
    format!(
        "   Domain Name: {}\r\n   Registry Domain ID: 1_DOMAIN-VRSN\r\n   \
         Registrar WHOIS Server: {registrar_server}\r\n   \
         Registry Expiry Date: {expires_at}\r\n   Registrar: Example Registrar, Inc.\r\n   \
         Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\r\n   \
         Name Server: NS1.EXAMPLE.NET\r\n   Name Server: NS2.EXAMPLE.NET\r\n   DNSSEC: unsigned\r\n",
        name.to_uppercase(),
    )
}

/// The registrar's answer about the same name.
pub(crate) fn thick(name: &str, expires_at: &str) -> String {
    format!(
        "Domain Name: {name}\r\nRegistrar Registration Expiration Date: {expires_at}\r\n\
         Registrar: Example Registrar, Inc.\r\nRegistrant Name: REDACTED FOR PRIVACY\r\n\
         Registrant Organization: REDACTED FOR PRIVACY\r\nRegistrant Country: IS\r\n\
         Name Server: ns9.example.net\r\n",
    )
}

/// IANA's answer about a top-level domain.
pub(crate) fn iana(tld: &str, server: Option<&str>) -> String {
    let head =
        "% IANA WHOIS server\r\n% for more information on IANA, visit http://www.iana.org\r\n\r\n";
    let refer = server.map_or(String::new(), |s| format!("refer:        {s}\r\n\r\n"));
    let whois = server.map_or(String::new(), |s| format!("whois:        {s}\r\n\r\n"));
    format!(
        "{head}{refer}domain:       {}\r\n\r\norganisation: Example\r\n\r\n{whois}\
         status:       ACTIVE\r\nsource:       IANA\r\n",
        tld.to_uppercase(),
    )
}

/// The bootstrap file with one server.
pub(crate) fn bootstrap(labels: &[&str], base: &str) -> String {
    serde_json::json!({
        "version": "1.0",
        "publication": "2026-01-01T00:00:00Z",
        "services": [[labels, [base]]],
    })
    .to_string()
}
