//! What we send, received by `aiosmtpd` and read by Python's `email` package.

use std::{path::PathBuf, process::Stdio, time::Duration};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};
use vedette_tests::{Authority, Lab, Leaf, Service, relay_toml};

use crate::program::{find, installed};

/// A debug build confirms, renders and sends in this time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);

struct Relay {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Relay {
    async fn start() -> anyhow::Result<Self> {
        let python = find("aiosmtpd").context("installed")?.with_file_name("python");
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/mail/relay.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("stdout is piped")?).lines();
        let port = timeout(PATIENCE, lines.next_line()).await??.context("it prints its port")?;
        Ok(Self { _child: child, lines, port: port.trim().parse()? })
    }

    /// The next message, as Python reads it.
    async fn next(&mut self) -> anyhow::Result<Value> {
        let line = timeout(PATIENCE, self.lines.next_line()).await.context("no mail came")??;
        Ok(serde_json::from_str(&line.context("the relay ended")?)?)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_relay_and_reader_find_the_words_that_were_written() -> anyhow::Result<()> {
    if !installed(&[("aiosmtpd", "aiosmtpd from PyPI")]) {
        return Ok(());
    }
    let mut relay = Relay::start().await?;
    let lab = Lab::start().await?;
    let mut settings = lab.settings();
    settings.toml = relay_toml(&format!("smtp://127.0.0.1:{}", relay.port));
    let service = Service::start(settings).await?;
    let owner = service.account("owner@example.com", "pro").await?.client;
    let body = json!({"email": true, "alert_emails": ["ops@example.com"]});
    owner.patch("/settings/notifications", body).await.expect(200);

    let path = "/settings/notifications";
    owner.send(reqwest::Method::POST, path, None).await.expect(200);
    let test = relay.next().await?;
    well_formed(&test);
    assert!(test["subject"].as_str().is_some_and(|said| said.starts_with("[test] ")), "{test}");

    // An issuer that would be a header, markup, and an encoded word; and letters beyond ASCII.
    let name = "Bücher =?utf-8?q?x?= \r\nBcc: victim@example.com <script>";
    let certificate = Authority::new(name)?.issue(&Leaf::for_names(&["peer.example"]))?;
    let site = lab.site("peer.example", certificate).await?;
    let body = json!({
        "domain": "peer.example", "custom_port": site.port(), "check_types": ["ssl"],
        "check_config": {"uptime": {"verify_tls": false}},
    });
    owner.post("/sites", body).await.expect(200);
    let mail = relay.next().await?;
    well_formed(&mail);
    let said = |part: &str| mail[part].as_str().unwrap_or_default().to_owned();
    assert!(said("subject").starts_with("[critical] peer.example: "), "{mail}");
    assert!(said("text").starts_with("CRITICAL peer.example\n"), "{mail}");
    assert!(said("html").contains(">CRITICAL</strong>"), "{mail}");
    assert!(!said("html").contains("<script"), "{mail}");
    Ok(())
}

fn well_formed(mail: &Value) {
    assert_eq!(mail["defects"], json!([]), "{mail}");
    assert_eq!(mail["recipients"], json!(["ops@example.com"]));
    assert_eq!(mail["to"], "ops@example.com");
    assert_eq!(mail["type"], "multipart/alternative");
    assert_eq!(mail["parts"], json!(["text/plain", "text/html"]));
    let mut names: Vec<String> = mail["headers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_lowercase))
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "every header is there once: {mail}");
    assert!(!names.iter().any(|name| name == "bcc"), "{mail}");
}
