//! `pebble`, on ports of its own, with a certificate of the lab and the lab's DNS server.

use serde_json::json;
use tempfile::TempDir;
use vedette_tests::{Lab, free_port};

use crate::program::{Server, command};

/// The name of the authority in the lab.
pub(crate) const NAME: &str = "authority.example";

pub(crate) struct Pebble {
    server: Server,
    _folder: TempDir,
}

impl Pebble {
    pub(crate) async fn start(lab: &Lab) -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("vedette-pebble-")?;
        let file = |name: &str| folder.path().join(name);
        let certificate = lab.certificate(NAME, 30)?;
        std::fs::write(file("chain.pem"), certificate.chain_pem())?;
        std::fs::write(file("key.pem"), certificate.key_pem())?;
        let address = free_port().await?;
        let management = free_port().await?;
        let configuration = json!({"pebble": {
            "listenAddress": address.to_string(),
            "managementListenAddress": management.to_string(),
            "certificate": file("chain.pem"),
            "privateKey": file("key.pem"),
            // Where it would look for other proofs than ours.
            "httpPort": 5002,
            "tlsPort": 5001,
        }});
        std::fs::write(file("pebble.json"), configuration.to_string())?;
        let mut pebble = command("pebble");
        pebble.arg("-config").arg(file("pebble.json"));
        pebble.args(["-dnsserver", &lab.dns.address().to_string()]);
        // By default it waits before it looks, believes what was proven before, and turns down one
        // good nonce in twenty: who tries three times fails once in some thousand requests.
        pebble.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        pebble.env("PEBBLE_WFE_NONCEREJECT", "0");
        Ok(Self { server: Server::start(pebble, address).await?, _folder: folder })
    }

    pub(crate) fn directory(&self) -> String {
        format!("https://{NAME}:{}/dir", self.server.address.port())
    }
}
