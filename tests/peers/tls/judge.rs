//! What `sslscan`, `sslyze` and `openssl s_client` see of a server.

use std::{collections::BTreeMap, net::SocketAddr};

use anyhow::Context;
use serde_json::Value;

use super::{NAME, Network, row::Row};
use crate::program::{command, output, succeed};

/// The facts that a grade rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Accepted, oldest first.
    pub(crate) versions: Vec<String>,
    /// The weakest and the strongest suite.
    pub(crate) bits: Option<(u64, u64)>,
    /// The smallest group of DHE below TLS 1.3.
    pub(crate) group: Option<u64>,
    pub(crate) key_bits: Option<u64>,
    pub(crate) signature_algorithm: Option<String>,
}

impl Seen {
    /// One accepted suite.
    fn suite(&mut self, version: &str, name: &str, bits: u64, group: Option<u64>) {
        if !self.versions.iter().any(|known| known == version) {
            self.versions.push(version.to_owned());
        }
        // The key of 3DES has 168 bits; meeting in the middle leaves 112 (RFC 7525, 4.1).
        let bits = if name.contains("3DES") || name.contains("DES-CBC3") { 112 } else { bits };
        let (weakest, strongest) = self.bits.unwrap_or((bits, bits));
        self.bits = Some((weakest.min(bits), strongest.max(bits)));
        if version != "TLSv1.3" {
            self.group = self.group.into_iter().chain(group).min();
        }
    }

    fn sorted(mut self) -> Self {
        self.versions.sort_by_key(|version| VERSIONS.iter().position(|(_, ours)| ours == version));
        self
    }
}

/// None: the library behind it speaks with no such server.
pub(crate) async fn sslscan(row: &Row, address: SocketAddr) -> anyhow::Result<Option<Seen>> {
    if row.is_beyond_openssl() {
        return Ok(None);
    }
    let mut scan = command("sslscan");
    scan.args(["--xml=-", "--no-heartbleed", "--no-fallback", "--no-renegotiation", "--no-groups"]);
    // A suite whose answer is late on a busy machine would be one that is refused.
    scan.args(["--no-compression", "--timeout=30"]);
    scan.arg(format!("--sni-name={NAME}")).arg(address.to_string());
    let text = succeed(&mut scan).await?;
    let mut seen = Seen::default();
    for line in text.lines().map(str::trim) {
        if line.starts_with("<cipher ") {
            let bits = attribute(line, "bits").and_then(|bits| bits.parse().ok());
            let version = attribute(line, "sslversion").context("a suite has a version")?;
            let name = attribute(line, "cipher").unwrap_or_default();
            let group = attribute(line, "dhebits").and_then(|bits| bits.parse().ok());
            seen.suite(version, name, bits.context("a suite has a size")?, group);
        } else if line.starts_with("<pk ") {
            seen.key_bits = attribute(line, "bits").and_then(|bits| bits.parse().ok());
        } else if let Some(rest) = line.strip_prefix("<signature-algorithm>") {
            seen.signature_algorithm = rest.split('<').next().map(str::to_owned);
        }
    }
    Ok(Some(seen.sorted()))
}

/// All servers in one run; by port. One that it could not talk to is absent.
pub(crate) async fn sslyze(servers: &[SocketAddr]) -> anyhow::Result<BTreeMap<u16, Seen>> {
    let mut scan = command("sslyze");
    scan.args(["--json_out=-", "--certinfo", "--sslv3", "--tlsv1", "--tlsv1_1", "--tlsv1_2"]);
    scan.arg("--tlsv1_3");
    scan.args(servers.iter().map(|at| format!("{NAME}:{}{{{}}}", at.port(), at.ip())));
    let ended = output(&mut scan).await?;
    let text = without_large_numbers(&String::from_utf8_lossy(&ended.stdout));
    let said: Value = serde_json::from_str(&text)
        .with_context(|| String::from_utf8_lossy(&ended.stderr).into_owned())?;
    let mut servers = BTreeMap::new();
    for result in said["server_scan_results"].as_array().into_iter().flatten() {
        let port = result["server_location"]["port"].as_u64().and_then(|port| port.try_into().ok());
        let port = port.context("a result names its port")?;
        if result["scan_status"] == "COMPLETED" {
            servers.insert(port, analysed(&result["scan_result"]).sorted());
        }
    }
    Ok(servers)
}

/// `sslyze` writes moduli as numbers of hundreds of digits, which no reader takes; as text they
/// pass.
fn without_large_numbers(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut digits, mut is_text, mut is_escaped) = (String::new(), false, false);
    for char in json.chars().chain([' ']) {
        if !is_text && char.is_ascii_digit() {
            digits.push(char);
            continue;
        }
        match digits.len() {
            0..=18 => text.push_str(&digits),
            _ => text.extend(['"', '"']),
        }
        digits.clear();
        is_text ^= char == '"' && !is_escaped;
        is_escaped = is_text && char == '\\' && !is_escaped;
        text.push(char);
    }
    text
}

fn analysed(result: &Value) -> Seen {
    let mut seen = Seen::default();
    for (key, version) in VERSIONS {
        let accepted = &result[key]["result"]["accepted_cipher_suites"];
        for suite in accepted.as_array().into_iter().flatten() {
            let named = suite["cipher_suite"]["name"].as_str().unwrap_or_default();
            let bits = suite["cipher_suite"]["key_size"].as_u64().unwrap_or_default();
            let ephemeral = &suite["ephemeral_key"];
            let is_group = ephemeral["type_name"] == "DH";
            let group = is_group.then(|| ephemeral["size"].as_u64()).flatten();
            seen.suite(version, named, bits, group);
        }
    }
    let deployments = &result["certificate_info"]["result"]["certificate_deployments"];
    let leaf = &deployments[0]["received_certificate_chain"][0];
    seen.key_bits = leaf["public_key"]["key_size"].as_u64();
    seen
}

/// Whether `s_client` verifies chain and name; none = it does not speak with such a server.
pub(crate) async fn s_client(
    network: &Network,
    row: &Row,
    address: SocketAddr,
) -> anyhow::Result<Option<bool>> {
    if row.is_beyond_openssl() {
        return Ok(None);
    }
    // Level 1 refuses SHA-1 in certificates, and what TLS below 1.2 signs with.
    let ciphers = if row.is_modern() { "ALL:@SECLEVEL=1" } else { "ALL:@SECLEVEL=0" };
    let mut client = command("openssl");
    client.env("OPENSSL_CONF", "/dev/null");
    client.args(["s_client", "-connect", &address.to_string(), "-servername", NAME]);
    client.args(["-verify_hostname", NAME, "-verify_return_error", "-min_protocol", "TLSv1"]);
    client.args(["-cipher", ciphers, "-purpose", "sslserver"]);
    client.arg("-no-CApath").arg("-no-CAstore").arg("-CAfile").arg(network.pki.root());
    let ended = output(&mut client).await?;
    let text = String::from_utf8_lossy(&ended.stdout);
    Ok(Some(text.contains("Verify return code: 0 (ok)") && ended.status.success()))
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
    line.get(start..)?.split('"').next()
}

/// The keys of `sslyze`'s results, oldest first, and our words.
const VERSIONS: [(&str, &str); 5] = [
    ("ssl_3_0_cipher_suites", "SSLv3"),
    ("tls_1_0_cipher_suites", "TLSv1.0"),
    ("tls_1_1_cipher_suites", "TLSv1.1"),
    ("tls_1_2_cipher_suites", "TLSv1.2"),
    ("tls_1_3_cipher_suites", "TLSv1.3"),
];
