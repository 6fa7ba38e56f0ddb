//! A root and leaves of every kind, made by `openssl`.

use std::path::{Path, PathBuf};

use super::NAME;
use crate::program::{command, succeed};

/// The files of a folder: `root.pem`, and `<leaf>.pem` with its chain beside `<leaf>.key`.
pub(crate) struct Pki {
    folder: PathBuf,
}

/// A leaf, by what is asked of `openssl`.
struct Leaf {
    name: &'static str,
    key: &'static [&'static str],
    /// Further arguments: digest, names, extensions.
    more: &'static [&'static str],
    /// When it was made, for `faketime`.
    made: Option<&'static str>,
    signed_by_root: bool,
}

const P256: &[&str] = &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
const RSA: &[&str] = &["-newkey", "rsa:2048"];
const OF_SHOP: &[&str] = &["-sha256", "-addext", "subjectAltName=DNS:shop.example"];
const WITH_RESPONDER: &[&str] = &[
    "-sha256",
    "-addext",
    "subjectAltName=DNS:shop.example",
    "-addext",
    "authorityInfoAccess=OCSP;URI:http://ocsp.shop.example/",
];
const PLAIN: Leaf =
    Leaf { name: "rsa2048", key: RSA, more: OF_SHOP, made: None, signed_by_root: true };

const LEAVES: &[Leaf] = &[
    PLAIN,
    Leaf { name: "rsa1024", key: &["-newkey", "rsa:1024"], ..PLAIN },
    Leaf { name: "rsa4096", key: &["-newkey", "rsa:4096"], ..PLAIN },
    Leaf { name: "p256", key: P256, ..PLAIN },
    Leaf { name: "sha1", more: &["-sha1", "-addext", "subjectAltName=DNS:shop.example"], ..PLAIN },
    Leaf {
        name: "other-name",
        more: &["-sha256", "-addext", "subjectAltName=DNS:other.example"],
        ..PLAIN
    },
    Leaf { name: "expired", made: Some("100 days ago"), ..PLAIN },
    Leaf { name: "self-signed", signed_by_root: false, ..PLAIN },
    Leaf { name: "stapled", more: WITH_RESPONDER, ..PLAIN },
    Leaf { name: "neighbour", more: WITH_RESPONDER, ..PLAIN },
];

impl Pki {
    pub(crate) async fn new(folder: &Path) -> anyhow::Result<Self> {
        let pki = Self { folder: folder.to_owned() };
        std::fs::write(pki.file("req.cnf"), "[req]\ndistinguished_name=dn\n[dn]\n")?;
        let root = ["-newkey", "rsa:2048", "-sha256", "-days", "3650", "-subj", "/CN=Peer Root"];
        let ca = ["-addext", "basicConstraints=critical,CA:TRUE"];
        let mut made = pki.request("root", Some("2 years ago"));
        succeed(made.args(root).args(ca)).await?;
        for leaf in LEAVES {
            let mut made = pki.request(leaf.name, leaf.made);
            made.args(leaf.key).args(leaf.more).args(["-days", "90", "-subj"]);
            made.arg(format!("/CN={NAME}/OU={}", leaf.name));
            made.args(["-addext", "basicConstraints=CA:FALSE"]);
            made.args(["-addext", "extendedKeyUsage=serverAuth"]);
            if leaf.signed_by_root {
                made.arg("-CA").arg(pki.root()).arg("-CAkey").arg(pki.key("root"));
            }
            succeed(&mut made).await?;
        }
        Ok(pki)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.certificate("root")
    }

    pub(crate) fn certificate(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.pem"))
    }

    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.key"))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn request(&self, name: &str, made: Option<&str>) -> tokio::process::Command {
        let mut request = match made {
            Some(moment) => {
                let mut faked = command("faketime");
                faked.args([moment, "openssl"]);
                faked
            }
            None => command("openssl"),
        };
        request.args(["req", "-x509", "-nodes", "-config"]).arg(self.file("req.cnf"));
        request.arg("-keyout").arg(self.key(name)).arg("-out").arg(self.certificate(name));
        request
    }
}
