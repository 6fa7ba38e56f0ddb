//! Programs of others: found, started, waited for, ended.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    sync::{Mutex, MutexGuard},
    time::{Instant, sleep, timeout},
};

/// A server answers, and a program ends, in this time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Waits for the machine: what is timed, and what has many programs, runs alone.
pub(crate) async fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// Where the program is: in `VEDETTE_PEERS`, on `PATH`, among the system's servers.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("VEDETTE_PEERS").map(|folder| PathBuf::from(folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut folders = own.into_iter().chain(std::env::split_paths(&path)).chain(system);
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

/// Whether all of them are there; says which one is not, by the name of its package.
pub(crate) fn installed(programs: &[(&str, &str)]) -> bool {
    let missing = programs.iter().find(|(name, _)| find(name).is_none());
    if let Some((_, package)) = missing {
        pass_over(package);
    }
    missing.is_none()
}

/// Says that a test is passed over, for want of this. It fails instead where whoever runs the tests has
/// installed all of it (`VEDETTE_PEERS_COMPLETE`): else what proves nothing would look like a proof.
pub(crate) fn pass_over(wanted: &str) {
    let is_complete = std::env::var_os("VEDETTE_PEERS_COMPLETE").is_some();
    assert!(!is_complete, "{wanted} is not installed, and VEDETTE_PEERS_COMPLETE says that all is");
    println!("skipped: {wanted} is not installed");
}

/// Whether Node is there, in a version that runs what comes from npm; says so where it is not.
pub(crate) async fn has_node() -> bool {
    if !installed(&[("node", "nodejs")]) {
        return false;
    }
    let version = succeed(command("node").arg("--version")).await.unwrap_or_default();
    let major = version.trim().trim_start_matches('v').split('.').next();
    let is_new = major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 20);
    if !is_new {
        println!("skipped: Node 20 is not installed");
    }
    is_new
}

/// The program as a command without input, ended with its value.
pub(crate) fn command(name: &str) -> Command {
    let mut command = Command::new(find(name).unwrap_or_else(|| name.into()));
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs to the end and keeps what was printed.
pub(crate) async fn output(command: &mut Command) -> anyhow::Result<Output> {
    let described = format!("{:?}", command.as_std());
    let running = command.output();
    let ended = timeout(PATIENCE, running).await;
    ended.with_context(|| format!("{described} ran longer than {PATIENCE:?}"))?.context(described)
}

/// Runs to the end; anything but success is an error that quotes the program.
pub(crate) async fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let described = format!("{:?}", command.as_std());
    let ended = output(command).await?;
    if !ended.status.success() {
        bail!("{described}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    Ok(String::from_utf8(ended.stdout)?)
}

/// A running server; ends with the value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts it and waits until it accepts connections at `address`.
    pub(crate) async fn start(mut command: Command, address: SocketAddr) -> anyhow::Result<Self> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("{:?}", command.as_std()))?;
        let mut server = Self { child, address };
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("{:?} ended with {status}", command.as_std());
            }
            anyhow::ensure!(Instant::now() < end, "{:?} does not listen", command.as_std());
            sleep(Duration::from_millis(20)).await; // a foreign program has no other signal
        }
        Ok(server)
    }

    /// SIGKILL: a crash. Its port and its files are free again afterwards.
    pub(crate) async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}
