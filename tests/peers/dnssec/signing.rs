//! `dnssec-keygen` and `dnssec-signzone`, and the signed zone as lines that a test can spoil.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::program::{command, succeed};

/// One record. For signatures `data` begins with the type they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) owner: String,
    pub(crate) rtype: String,
    pub(crate) data: String,
}

/// A zone as its master file gives it, and the folder for its keys.
pub(crate) struct Source {
    pub(crate) origin: String,
    pub(crate) text: String,
    pub(crate) folder: PathBuf,
}

/// A pair of keys in a folder of its own.
pub(crate) struct Key {
    folder: PathBuf,
    /// Its record, as it stands in a zone.
    pub(crate) record: Line,
}

impl Source {
    pub(crate) fn new(origin: &str, text: String, folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join(if origin == "." { "root" } else { origin });
        std::fs::create_dir_all(&folder)?;
        Ok(Self { origin: origin.to_owned(), text, folder })
    }

    /// A key that signs keys and data alike; `name` tells several of one zone apart.
    pub(crate) async fn key(&self, name: &str, algorithm: &str) -> anyhow::Result<Key> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder)?;
        let mut keygen = command("dnssec-keygen");
        keygen.arg("-q").arg("-K").arg(&folder).args(["-a", algorithm, "-f", "KSK"]);
        if algorithm.starts_with("RSA") {
            keygen.args(["-b", "2048"]);
        }
        let base = succeed(keygen.arg(&self.origin)).await?;
        let text = std::fs::read_to_string(folder.join(format!("{}.key", base.trim())))?;
        let record = text.lines().filter(|line| !line.starts_with(';')).find_map(parse);
        Ok(Key { folder, record: record.context("a key file has a record")? })
    }

    /// The zone signed by `key`; `options` as `dnssec-signzone` takes them.
    pub(crate) async fn sign(&self, key: &Key, options: &[&str]) -> anyhow::Result<Vec<Line>> {
        let (file, signed) = (self.folder.join("plain"), key.folder.join("signed"));
        std::fs::write(&file, &self.text)?;
        let mut signzone = command("dnssec-signzone");
        // -z: one key does all; -P: the result may be as wrong as a case wants it.
        signzone.args(["-q", "-z", "-P", "-S", "-O", "full", "-o", &self.origin]).args(options);
        signzone.arg("-K").arg(&key.folder).arg("-d").arg(&key.folder);
        succeed(signzone.arg("-f").arg(&signed).arg(&file)).await?;
        Ok(std::fs::read_to_string(signed)?.lines().filter_map(parse).collect())
    }

    /// The delegation signer that goes with the key: tag, algorithm, digest type, digest.
    pub(crate) async fn ds(&self, key: &Key) -> anyhow::Result<[String; 4]> {
        let mut dsfromkey = command("dnssec-dsfromkey");
        let file = key.folder.join("ds.key");
        std::fs::write(&file, key.record.to_string() + "\n")?;
        dsfromkey.args(["-2", "-f"]).arg(&file).arg(&self.origin);
        let text = succeed(&mut dsfromkey).await?;
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let at = words.iter().position(|word| word == "DS").context("a DS was printed")?;
        let [tag, algorithm, kind, digest @ ..] = &words[at + 1..] else {
            anyhow::bail!("no DS: {text}")
        };
        Ok([tag.clone(), algorithm.clone(), kind.clone(), digest.concat()])
    }
}

impl Line {
    /// The type that a signature covers; for anything else the type itself.
    pub(crate) fn covers(&self) -> &str {
        match self.rtype.as_str() {
            "RRSIG" => self.data.split(' ').next().unwrap_or_default(),
            own => own,
        }
    }

    pub(crate) fn is_signature(&self) -> bool {
        self.rtype == "RRSIG"
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} 300 IN {} {}", self.owner, self.rtype, self.data)
    }
}

/// `owner [ttl] IN type data`, as the tools of BIND write it.
fn parse(line: &str) -> Option<Line> {
    if line.starts_with(';') {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let class = words.iter().position(|word| *word == "IN")?;
    let [rtype, data @ ..] = words.get(class + 1..)? else { return None };
    Some(Line {
        owner: (*words.first()?).to_owned(),
        rtype: (*rtype).to_owned(),
        data: data.join(" "),
    })
}
