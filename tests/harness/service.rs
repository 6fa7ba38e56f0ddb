//! The service as its operator runs it: the real program, started with flags, stopped by signals.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use crate::{Client, Ran};

/// Debug builds on a loaded machine open the store and compile plugins in this time.
const START: Duration = Duration::from_secs(240);
/// What it prints is all that tells.
const LOOK: Duration = Duration::from_millis(50);
/// Lines of a service's output that a failed test shows.
const SHOWN: usize = 40;
/// The service finishes what it has begun within 10 s, and then closes its database.
const STOP: Duration = Duration::from_secs(120);

/// What the program is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// None = an embedded database in the service's own folder.
    pub db: Option<String>,
    /// Port 0 = a free one.
    pub listen: SocketAddr,
    pub edition: String,
    pub dns: Vec<SocketAddr>,
    /// PEM texts of further roots.
    pub roots: Vec<String>,
    pub egress_allow: Vec<String>,
    pub public_egress_allow: Vec<String>,
    /// Peers whose `X-Forwarded-For` is believed; tests come from many addresses that way.
    pub trusted_proxies: Vec<String>,
    pub first_account: bool,
    /// Further lines of the TOML configuration.
    pub toml: String,
    pub environment: Vec<(String, String)>,
    /// Is shown every line that the program prints.
    pub echo: Option<fn(&str)>,
}

/// A running service. Dropping it kills the process, as a crash would.
pub struct Service {
    child: Child,
    pub api: SocketAddr,
    pub admin: SocketAddr,
    /// The key of the first account, where one was made.
    pub first_key: Option<String>,
    output: Output,
    settings: Settings,
    folder: Arc<TempDir>,
}

/// An account made through the operator's port, and a client with its key.
#[derive(Clone)]
pub struct Account {
    pub id: String,
    pub email: String,
    pub key: String,
    pub client: Client,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            db: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            edition: "standard".into(),
            dns: Vec::new(),
            roots: Vec::new(),
            egress_allow: vec!["127.0.0.0/8".into()],
            public_egress_allow: Vec::new(),
            trusted_proxies: vec!["127.0.0.0/8".into()],
            first_account: false,
            toml: String::new(),
            environment: Vec::new(),
            echo: None,
        }
    }
}

impl Service {
    /// Starts on free ports and a fresh folder; returns once it says that it listens.
    pub async fn start(settings: Settings) -> anyhow::Result<Self> {
        Self::start_in(settings, Arc::new(TempDir::with_prefix("vedette-")?)).await
    }

    /// The same database and settings again, after [`Service::stop`] or [`Service::kill`].
    pub async fn start_again(self) -> anyhow::Result<Self> {
        let (settings, folder) = (self.settings.clone(), Arc::clone(&self.folder));
        drop(self);
        Self::start_in(settings, folder).await
    }

    /// Starts it in the same folder where it is expected to refuse; returns how that ended.
    pub async fn refusal(&self) -> anyhow::Result<Ran> {
        let mut command = command(&self.settings, self.folder.path())?;
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
        let output = tokio::time::timeout(START, output)
            .await
            .with_context(|| format!("it still runs after {START:?}"))??;
        Ok(Ran {
            code: output.status.code(),
            output: String::from_utf8(output.stdout)?,
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    async fn start_in(settings: Settings, folder: Arc<TempDir>) -> anyhow::Result<Self> {
        let mut child = command(&settings, folder.path())?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C in a terminal is for whoever started it; the service is told by `stop`.
            .process_group(0)
            .spawn()
            .context("the vedette program was not built: cargo build -p vedette-server")?;
        let output = Output { lines: Arc::default(), echo: settings.echo };
        keep(child.stderr.take().context("stderr is piped")?, output.clone());
        let mut lines = BufReader::new(child.stdout.take().context("stdout is piped")?).lines();
        let ready = read_ready_lines(&mut lines, &output);
        let Ok(ready) = tokio::time::timeout(START, ready).await else {
            bail!("not ready in {START:?}:\n{}", output.text());
        };
        let ready = ready.with_context(|| output.text())?;
        keep_lines(lines, output.clone());
        Ok(Self {
            child,
            api: ready.api,
            admin: ready.admin,
            first_key: ready.key,
            output,
            settings,
            folder,
        })
    }

    /// A client without a credential.
    pub fn client(&self) -> Client {
        let prefix = if self.settings.edition == "team" { "/api" } else { "/v1" };
        Client::new(&format!("http://{}{prefix}", self.api), None)
    }

    /// The operator's port.
    pub fn operator(&self) -> Client {
        Client::new(&format!("http://{}", self.admin), None)
    }

    pub async fn account(&self, email: &str, plan: &str) -> anyhow::Result<Account> {
        let body = json!({"email": email, "plan": plan, "edition": self.settings.edition});
        let created = self.operator().post("/admin/accounts", body).await;
        anyhow::ensure!(created.status == 200, "no account: {} {}", created.status, created.text);
        let text = |field: &str| -> anyhow::Result<String> {
            let value: Value = created.json();
            Ok(value[field].as_str().with_context(|| format!("{field} is a string"))?.to_owned())
        };
        let key = text("key")?;
        Ok(Account {
            id: text("account_id")?,
            email: email.to_owned(),
            client: self.client().with_key(&key),
            key,
        })
    }

    /// Waits until it has become another process by itself, and finds out where that listens.
    pub async fn started_itself_again(&mut self) -> anyhow::Result<()> {
        let again = async {
            loop {
                let said = self.output();
                let mut ready = said.lines().filter_map(listening);
                if let Some((_, address)) = ready.nth(1) {
                    return address.trim().to_owned();
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let address = tokio::time::timeout(START, again).await;
        self.api = address.with_context(|| format!("not again:\n{}", self.output()))?.parse()?;
        Ok(())
    }

    /// SIGTERM, as an init system sends it; returns the exit code.
    pub async fn stop(&mut self) -> anyhow::Result<Option<i32>> {
        self.signal("-TERM").await?;
        let exit = tokio::time::timeout(STOP, self.child.wait()).await;
        Ok(exit.with_context(|| format!("still running after {STOP:?}"))??.code())
    }

    /// SIGKILL: a crash.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    /// SIGSTOP, and SIGCONT after so long: what happens to a process whose machine is suspended or moved.
    pub async fn stand_still(&self, span: Duration) -> anyhow::Result<()> {
        self.signal("-STOP").await?;
        tokio::time::sleep(span).await;
        self.signal("-CONT").await
    }

    async fn signal(&self, signal: &str) -> anyhow::Result<()> {
        if let Some(pid) = self.child.id() {
            Command::new("kill").args([signal, &pid.to_string()]).status().await?;
        }
        Ok(())
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// All that it printed so far.
    pub fn output(&self) -> String {
        self.output.text()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Service {
    /// A test that fails shows what the service said last.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let lines = self.output.lines.lock();
            let last = &lines[lines.len().saturating_sub(SHOWN)..];
            eprintln!("the last lines of the service at {}:\n{}", self.api, last.join("\n"));
        }
    }
}

/// The program beside the running test or lab: all are built into one folder.
pub fn program() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let built = here.ancestors().find(|folder| folder.join("vedette").is_file());
    Ok(built
        .context("the vedette program was not built: cargo build -p vedette-server")?
        .join("vedette"))
}

#[derive(Clone)]
struct Output {
    lines: Arc<Mutex<Vec<String>>>,
    echo: Option<fn(&str)>,
}

struct Ready {
    api: SocketAddr,
    admin: SocketAddr,
    key: Option<String>,
}

fn command(settings: &Settings, folder: &Path) -> anyhow::Result<Command> {
    let config = folder.join("vedette.toml");
    std::fs::write(&config, &settings.toml)?;
    let embedded = || format!("surrealkv://{}", folder.join("data").display());
    let mut command = Command::new(program()?);
    command.arg("serve").arg("--config").arg(&config);
    command.args(["--listen", &settings.listen.to_string(), "--admin-listen", "127.0.0.1:0"]);
    command.args(["--edition", &settings.edition]);
    command.args(["--db", &settings.db.clone().unwrap_or_else(embedded)]);
    for server in &settings.dns {
        command.args(["--dns-server", &server.to_string()]);
    }
    for (number, root) in settings.roots.iter().enumerate() {
        let file = folder.join(format!("root-{number}.pem"));
        std::fs::write(&file, root)?;
        command.arg("--ca-file").arg(file);
    }
    for range in &settings.egress_allow {
        command.args(["--egress-allow", range]);
    }
    for range in &settings.public_egress_allow {
        command.args(["--public-egress-allow", range]);
    }
    for range in &settings.trusted_proxies {
        command.args(["--trusted-proxy", range]);
    }
    if !settings.first_account {
        command.arg("--no-first-account");
    }
    // Where tests run beside each other threads are late by any time; what is found counts all the
    // same, or no test could tell what a single run comes to.
    command.env("VEDETTE_GUARD_LATE", "1d");
    command.envs(settings.environment.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

async fn read_ready_lines(
    lines: &mut Lines<BufReader<ChildStdout>>,
    output: &Output,
) -> anyhow::Result<Ready> {
    let (mut admin, mut key) = (None, None);
    while let Some(line) = lines.next_line().await? {
        output.push(line.clone());
        if let Some(address) = line.strip_prefix("admin on http://") {
            admin = Some(address.trim().parse()?);
        } else if let Some((_scheme, address)) = listening(&line) {
            let admin = admin.context("the operator's port is printed first")?;
            return Ok(Ready { api: address.trim().parse()?, admin, key });
        } else if let Some(found) = find_key(&line) {
            key.get_or_insert(found);
        }
    }
    bail!("the service ended before it was ready")
}

/// `listening on http://ADDR`, or `https` where the service has a certificate.
fn listening(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("listening on ")?.split_once("://")
}

fn find_key(line: &str) -> Option<String> {
    let is_key = |word: &&str| word.starts_with("ct_") || word.starts_with("sp_");
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.find(is_key).map(str::to_owned)
}

impl Output {
    fn push(&self, line: String) {
        if let Some(show) = self.echo {
            show(&line);
        }
        self.lines.lock().push(line);
    }

    fn text(&self) -> String {
        self.lines.lock().join("\n")
    }
}

fn keep(stream: impl AsyncRead + Unpin + Send + 'static, output: Output) {
    keep_lines(BufReader::new(stream).lines(), output);
}

fn keep_lines<R>(mut lines: Lines<BufReader<R>>, output: Output)
where
    R: AsyncRead + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            output.push(line);
        }
    });
}
