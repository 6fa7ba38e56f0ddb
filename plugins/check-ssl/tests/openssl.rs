//! Raw hellos against a real server: OpenSSL's, run as a program on a port of this machine.
//! Skipped, by name, where it is not installed.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use check_ssl::{Config, Ssl, SslResult, result::Grade};
use tempfile::TempDir;
use vedette_sdk::{
    Check, Job,
    net::{NetError, Phase},
    testing::{Host, Step},
    x509::{Certificate, Examination, Verification},
};

const DOMAIN: &str = "www.example.com";
/// Nobody waits for so long but where the machine has no time for the program.
const PATIENCE: Duration = Duration::from_secs(60);

/// `openssl s_server`; dropping it ends it.
struct Server {
    process: Child,
    address: SocketAddr,
    _files: TempDir,
}

impl Server {
    /// None when there is no OpenSSL. `key`: arguments of `req` for the key; `arguments`: of
    /// `s_server`.
    fn start(key: &[&str], arguments: &[&str]) -> Option<Self> {
        Command::new("openssl").arg("version").output().ok()?;
        let files = TempDir::new().expect("a folder for the key");
        let made = Command::new("openssl")
            .args(["req", "-x509", "-nodes", "-days", "30", "-subj", "/CN=www.example.com"])
            .args(["-keyout", "key.pem", "-out", "cert.pem"])
            .args(key)
            .current_dir(&files)
            .output()
            .expect("openssl runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut process = Command::new("openssl")
            .args(["s_server", "-cert", "cert.pem", "-key", "key.pem", "-accept", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(&files)
            // Its end would end the server.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl runs");
        let mut said = BufReader::new(process.stdout.take().expect("its output is a pipe")).lines();
        let address = said.find_map(|line| line.ok()?.strip_prefix("ACCEPT ")?.parse().ok());
        let address = address.expect("openssl says where it listens");
        // What else it says must not fill the pipe.
        std::thread::spawn(move || said.for_each(drop));
        Some(Self { process, address, _files: files })
    }

    /// Runs the check with a handshake that fails, and real connections behind the raw hellos.
    fn check(&self) -> SslResult {
        let host = Host::new();
        host.set_remaining(Duration::from_secs(30));
        host.tls(|_| Err(NetError::Tls("nothing in common".to_owned())));
        host.x509(|chain| {
            assert_eq!(chain.certificates.len(), 1);
            assert_eq!(chain.certificates[0][..2], [0x30, 0x82], "the DER of a certificate");
            Ok(examination())
        });
        let address = self.address;
        host.tcp(move |request| {
            let mut stream = connect(address)?;
            stream.write_all(&request.send).map_err(|_| NetError::Reset)?;
            let mut answer = Vec::new();
            match stream.read_to_end(&mut answer) {
                Err(_) if answer.is_empty() => Err(NetError::Reset),
                _ => Ok(answer),
            }
        });
        host.connection(move |_| {
            let mut stream = connect(address)?;
            Ok(Box::new(move |step| match step {
                Step::Write(data) => {
                    stream.write_all(data).map(|()| Vec::new()).map_err(|_| NetError::Reset)
                }
                Step::Read { max } => {
                    let mut bytes = vec![0; max as usize];
                    let length = stream.read(&mut bytes).map_err(|_| NetError::Reset)?;
                    bytes.truncate(length);
                    Ok(bytes)
                }
                Step::StartTls { .. } => Err(NetError::Timeout(Phase::Handshake)),
            }))
        });
        let job = Job::new(DOMAIN, Config::default());
        Ssl::run(&host.cx(), job).expect("the check works").facts
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn connect(address: SocketAddr) -> Result<TcpStream, NetError> {
    let stream = TcpStream::connect(address).map_err(|_| NetError::Refused)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(|_| NetError::Refused)?;
    Ok(stream)
}

/// As if the certificate were a good one: what the host thinks of it is not the question here.
fn examination() -> Examination {
    let leaf = Certificate {
        subject: "CN=www.example.com".to_owned(),
        issuer: "CN=Lab".to_owned(),
        issuer_cn: Some("Lab".to_owned()),
        issuer_org: None,
        serial: "01".to_owned(),
        not_before: 0,
        not_after: 4_102_444_800,
        san_dns: vec![DOMAIN.to_owned()],
        san_ip: Vec::new(),
        signature_algorithm: "sha256WithRSAEncryption".to_owned(),
        key_algorithm: "RSA".to_owned(),
        key_bits: 2_048,
        sha256: "aa".to_owned(),
        spki_sha256: String::new(),
        tbs_sha256: String::new(),
        is_ca: false,
        self_signed: false,
        in_trust_path: true,
        has_ocsp_url: false,
        must_staple: false,
        sct_count: 0,
    };
    Examination {
        chain: vec![leaf],
        verification: Verification {
            trusted: true,
            chain_complete: true,
            hostname_matches: true,
            time_valid: true,
            purpose_valid: true,
            missing_issuer: None,
            completed_by_aia: false,
            error: None,
            chain_error: None,
        },
        ocsp_staple: None,
    }
}

const RSA: &[&str] = &["-newkey", "rsa:2048"];
const EC: &[&str] = &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

#[test]
fn servers_of_all_ages_are_seen_as_they_were_set_up() {
    for (key, arguments, version, cipher, grade) in [
        (
            RSA,
            &["-tls1", "-cipher", "ALL:@SECLEVEL=0"][..],
            "TLSv1.0",
            "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
            Grade::F, // ALL has anonymous suites
        ),
        (
            RSA,
            &["-tls1_1", "-cipher", "AES128-SHA:@SECLEVEL=0"],
            "TLSv1.1",
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            Grade::C,
        ),
        (
            EC,
            &["-tls1", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"],
            "TLSv1.0",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
            Grade::C,
        ),
        (
            RSA,
            &["-tls1_2", "-cipher", "AES256-SHA256"],
            "TLSv1.2",
            "TLS_RSA_WITH_AES_256_CBC_SHA256",
            Grade::B,
        ),
        (
            RSA,
            &["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA384"],
            "TLSv1.2",
            "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
            Grade::B,
        ),
        (
            RSA,
            &["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
            "TLSv1.2",
            "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
            Grade::A,
        ),
        (
            RSA,
            &["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256", "-Verify", "1"],
            "TLSv1.2",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            Grade::A,
        ),
        (
            RSA,
            &["-tls1_2", "-cipher", "NULL-SHA256:AES128-GCM-SHA256:@SECLEVEL=0"],
            "TLSv1.2",
            "TLS_RSA_WITH_AES_128_GCM_SHA256",
            Grade::F,
        ),
        (
            RSA,
            &["-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
            "TLSv1.3",
            "TLS_AES_256_GCM_SHA384",
            Grade::A,
        ),
        (
            RSA,
            &["-groups", "P-384", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
            "TLSv1.3",
            "TLS_AES_256_GCM_SHA384",
            Grade::A,
        ),
    ] {
        let Some(server) = Server::start(key, arguments) else {
            eprintln!("servers_of_all_ages_are_seen_as_they_were_set_up: skipped without openssl");
            return;
        };
        let seen = server.check();
        assert!(seen.valid, "{arguments:?}: {:?}", seen.error);
        assert_eq!(seen.protocol_version.as_deref(), Some(version), "{arguments:?}");
        assert_eq!(seen.cipher_name.as_deref(), Some(cipher), "{arguments:?}");
        assert_eq!(seen.tls_grade, Some(grade), "{arguments:?}");
    }
}
