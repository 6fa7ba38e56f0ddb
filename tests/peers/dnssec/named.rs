//! `named`, authoritative for the root, `example` and every case below it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use futures::{StreamExt, TryStreamExt, stream};
use tempfile::TempDir;
use vedette_tests::free_port;

use super::{
    AT_ONCE,
    case::{CASES, Case, Ds, Keys},
    signing::{Key, Line, Source},
};
use crate::program::{Server, command};

const ALGORITHM: &str = "ECDSAP256SHA256";
const LAST_MONTH: &[&str] = &["-s", "now-30d", "-e", "now-16d"];

pub(crate) struct Named {
    server: Server,
    folder: TempDir,
}

/// A zone as it is served, and what its parent says of it.
struct Zone {
    origin: String,
    text: String,
    delegation: String,
}

impl Named {
    /// Signs everything from the leaves up and serves it.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("vedette-named-")?;
        let path = folder.path();
        let signed = stream::iter(CASES).map(|case| spoiled(case, path)).buffered(AT_ONCE);
        let mut zones: Vec<Zone> = signed.try_collect().await?;
        let (example, _) = above("example", &zones, path).await?;
        let (root, key) = above(".", std::slice::from_ref(&example), path).await?;
        let parents = CASES.iter().filter(|case| case.below == "child.");
        zones.extend(parents.map(|case| child(&case.target())));
        zones.extend([example, root]);
        write_anchors(path, &key)?;
        let address = free_port().await?;
        write_configuration(path, address, &zones)?;
        let mut named = command("named");
        named.args(["-g", "-n", "1", "-c"]).arg(path.join("named.conf"));
        Ok(Self { server: Server::start(named, address).await?, folder })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// The root's key as a DNSKEY record.
    pub(crate) fn anchor_records(&self) -> PathBuf {
        self.folder.path().join("anchor.zone")
    }

    /// The root's key as a statement of BIND's configuration.
    pub(crate) fn anchor_statement(&self) -> PathBuf {
        self.folder.path().join("anchor.conf")
    }
}

/// The zone of a case: signed, then broken as the case says.
async fn spoiled(case: &Case, folder: &Path) -> anyhow::Result<Zone> {
    let origin = case.origin();
    let mut text = start_of_zone();
    // In the order of bytes `Zulu` is before `mail`, in the order that is signed it is behind.
    text += "@ A 127.0.0.1\n@ TXT \"as it was\"\n@ MX 10 mail.example.\n@ MX 10 Zulu.example.\n";
    text += "*.w A 127.0.0.1\n";
    match case.below {
        "child." => text += "child NS ns.example.\n",
        "www." => text += "www CNAME tampered.example.\n",
        "alias." => text += "alias CNAME link\nlink CNAME host\nhost A 127.0.0.1\n",
        "a.moved." => text += "moved DNAME here\na.here A 127.0.0.1\n",
        "to-wild." => text += "to-wild CNAME a.w\n",
        "a.gone." => text += "*.gone CNAME nowhere\n",
        _ => {}
    }
    let delegation = format!("{origin}. NS ns.example.\n");
    if case.keys == Keys::None {
        return Ok(Zone { origin, text, delegation });
    }
    let source = Source::new(&origin, text, folder)?;
    let key = source.key("key", case.algorithm).await?;
    let other = source.key("other", case.algorithm).await?;
    let mut lines = match case.keys {
        Keys::Another => source.sign(&other, case.options).await?,
        Keys::None | Keys::Same | Keys::Stale => source.sign(&key, case.options).await?,
    };
    let key_set = match case.keys {
        Keys::Another => Some(source.sign(&key, case.options).await?),
        Keys::Stale => Some(source.sign(&key, LAST_MONTH).await?),
        Keys::None | Keys::Same => None,
    };
    if let Some(key_set) = key_set {
        lines.retain(|line| line.covers() != "DNSKEY");
        lines.extend(key_set.into_iter().filter(|line| line.covers() == "DNSKEY"));
    }
    (case.spoil)(&mut lines);
    let ds = match case.ds {
        Ds::OtherKey => source.ds(&other).await?,
        _ => source.ds(&key).await?,
    };
    let ds = said_by_parent(case.ds, ds).map(|ds| format!("{origin}. DS {ds}\n"));
    let delegation = delegation + &ds.unwrap_or_default();
    Ok(Zone { origin, text: joined(&lines), delegation })
}

fn said_by_parent(ds: Ds, [tag, algorithm, kind, digest]: [String; 4]) -> Option<String> {
    Some(match ds {
        Ds::None => return None,
        Ds::Own | Ds::OtherKey => format!("{tag} {algorithm} {kind} {digest}"),
        Ds::Digest => {
            let turned: String = digest.chars().rev().collect();
            format!("{tag} {algorithm} {kind} {turned}")
        }
        Ds::Algorithm(other) => format!("{tag} {other} {kind} {digest}"),
        Ds::DigestType(other) => format!("{tag} {algorithm} {other} {digest}"),
    })
}

/// A sound zone that delegates to `zones`.
async fn above(origin: &str, zones: &[Zone], folder: &Path) -> anyhow::Result<(Zone, Key)> {
    let mut text = start_of_zone();
    if origin == "example" {
        text += "ns A 127.0.0.1\nmail A 127.0.0.1\n";
    }
    text.extend(zones.iter().map(|zone| zone.delegation.as_str()));
    let source = Source::new(origin, text, folder)?;
    let key = source.key("key", ALGORITHM).await?;
    let lines = source.sign(&key, &[]).await?;
    let ds = source.ds(&key).await?.join(" ");
    let delegation = format!("{origin}. NS ns.example.\n{origin}. DS {ds}\n");
    Ok((Zone { origin: origin.to_owned(), text: joined(&lines), delegation }, key))
}

/// An unsigned zone below a case.
fn child(origin: &str) -> Zone {
    let text = start_of_zone() + "@ A 127.0.0.1\n";
    Zone { origin: origin.to_owned(), text, delegation: String::new() }
}

fn start_of_zone() -> String {
    "$TTL 300\n@ IN SOA ns.example. host.example. 1 3600 600 86400 300\n@ IN NS ns.example.\n"
        .to_owned()
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn write_anchors(folder: &Path, key: &Key) -> anyhow::Result<()> {
    let data = &key.record.data;
    std::fs::write(folder.join("anchor.zone"), format!(". 300 IN DNSKEY {data}\n"))?;
    let words: Vec<&str> = data.split(' ').collect();
    let (numbers, text) = words.split_at(words.len().min(3));
    let statement =
        format!("trust-anchors {{ . static-key {} \"{}\"; }};\n", numbers.join(" "), text.concat());
    Ok(std::fs::write(folder.join("anchor.conf"), statement)?)
}

fn write_configuration(folder: &Path, address: SocketAddr, zones: &[Zone]) -> anyhow::Result<()> {
    let mut text = format!(
        "options {{\n  directory \"{}\";\n  listen-on port {} {{ 127.0.0.1; }};\n  \
         listen-on-v6 {{ none; }};\n  recursion no;\n  notify no;\n  pid-file none;\n  \
         dnssec-validation no;\n  empty-zones-enable no;\n  allow-transfer {{ none; }};\n}};\n\
         controls {{ }};\n",
        folder.display(),
        address.port()
    );
    for (number, zone) in zones.iter().enumerate() {
        let file = format!("{number}.zone");
        std::fs::write(folder.join(&file), &zone.text)?;
        text += &format!(
            "zone \"{}\" {{ type primary; file \"{file}\"; check-names ignore; check-integrity \
             no; }};\n",
            zone.origin
        );
    }
    Ok(std::fs::write(folder.join("named.conf"), text)?)
}
