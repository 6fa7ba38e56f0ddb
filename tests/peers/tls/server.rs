//! Servers as a row describes them.

use std::{fmt::Write as _, net::SocketAddr, path::Path};

use vedette_tests::free_port;

use super::{
    Network,
    pki::Pki,
    row::{Row, Stack},
};
use crate::program::{self, Server, command};

/// Whether the interpreter of [`program::find`] has the module.
pub(crate) fn has_tlslite() -> bool {
    let has = program::find("python3").is_some_and(|python| {
        let asked = std::process::Command::new(python).args(["-c", "import tlslite"]).output();
        asked.is_ok_and(|ended| ended.status.success())
    });
    if !has {
        program::pass_over("tlslite-ng");
    }
    has
}

pub(crate) async fn start(network: &Network, row: &Row) -> anyhow::Result<Server> {
    let pki = &network.pki;
    let address = free_port().await?;
    match row.stack {
        Stack::OpenSsl => openssl(pki, row, address).await,
        Stack::Nginx => {
            let folder = network.folder.path().join(row.name);
            nginx(pki, &folder, address, row.leaf, row.options).await
        }
        Stack::TlsLite => tlslite(pki, row, address).await,
    }
}

async fn openssl(pki: &Pki, row: &Row, address: SocketAddr) -> anyhow::Result<Server> {
    let mut server = command("openssl");
    // The machine's own configuration would forbid what is old.
    server.env("OPENSSL_CONF", "/dev/null");
    server.args(["s_server", "-quiet", "-www", "-accept", &address.to_string()]);
    server.arg("-cert").arg(pki.certificate(row.leaf)).arg("-key").arg(pki.key(row.leaf));
    server.args(row.options);
    Server::start(server, address).await
}

/// One nginx with these directives.
pub(crate) async fn nginx(
    pki: &Pki,
    folder: &Path,
    address: SocketAddr,
    leaf: &str,
    directives: &[&str],
) -> anyhow::Result<Server> {
    std::fs::create_dir_all(folder)?;
    let here = folder.display();
    let mut text = format!(
        "daemon off;\nmaster_process off;\npid {here}/pid;\nerror_log {here}/error.log;\n\
         events {{ worker_connections 64; }}\nhttp {{\n  access_log off;\n"
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        writeln!(text, "  {kind}_temp_path {here}/{kind};")?;
    }
    writeln!(text, "  server {{\n    listen {address} ssl;")?;
    writeln!(text, "    ssl_certificate {};", pki.certificate(leaf).display())?;
    writeln!(text, "    ssl_certificate_key {};", pki.key(leaf).display())?;
    for directive in directives {
        writeln!(text, "    {directive};")?;
    }
    text += "    location / { default_type text/html; return 200 \"<p>open</p>\"; }\n  }\n}\n";
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text)?;
    let mut server = command("nginx");
    server.env("OPENSSL_CONF", "/dev/null");
    server.arg("-e").arg(folder.join("start.log")).arg("-p").arg(folder).arg("-c").arg(file);
    Server::start(server, address).await
}

async fn tlslite(pki: &Pki, row: &Row, address: SocketAddr) -> anyhow::Result<Server> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/tls/old_server.py");
    let mut server = command("python3");
    server.arg(script).arg(address.port().to_string());
    server.arg(pki.certificate(row.leaf)).arg(pki.key(row.leaf)).args(row.options);
    Server::start(server, address).await
}
