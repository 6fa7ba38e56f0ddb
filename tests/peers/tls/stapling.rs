//! Staples that nginx serves from a file, and what the result makes of them.

use serde_json::{Value, json};
use vedette_tests::free_port;

use super::{Network, pki::Pki, server};
use crate::program::{command, installed, succeed, turn};

/// One staple: whose, when it was made, what the authority's list said, and the result.
struct Staple {
    name: &'static str,
    leaf: &'static str,
    /// The certificate that the response speaks of; none: no staple.
    of: Option<&'static str>,
    made: Option<&'static str>,
    revoked: bool,
    /// `ocsp_stapling`, `valid`, `error`.
    expected: (Option<bool>, bool, Option<&'static str>),
}

const GOOD: Staple = Staple {
    name: "good",
    leaf: "stapled",
    of: Some("stapled"),
    made: None,
    revoked: false,
    expected: (Some(true), true, None),
};

const STAPLES: &[Staple] = &[
    GOOD,
    Staple {
        name: "revoked",
        revoked: true,
        expected: (Some(true), false, Some("certificate_revoked")),
        ..GOOD
    },
    Staple {
        name: "stale",
        made: Some("30 days ago"),
        expected: (Some(false), true, None),
        ..GOOD
    },
    Staple {
        name: "revoked-stale",
        made: Some("30 days ago"),
        revoked: true,
        expected: (Some(false), false, Some("certificate_revoked")),
        ..GOOD
    },
    Staple { name: "wrong", of: Some("neighbour"), expected: (Some(false), true, None), ..GOOD },
    Staple { name: "none", of: None, expected: (Some(false), true, None), ..GOOD },
    // The leaf names no responder: there is nothing to staple.
    Staple { name: "unnamed", leaf: "rsa2048", of: None, expected: (None, true, None), ..GOOD },
];

#[tokio::test(flavor = "multi_thread")]
async fn staples_and_hsts_of_nginx_are_read() {
    let needed = [("openssl", "openssl"), ("nginx", "nginx"), ("faketime", "faketime")];
    if !installed(&needed) {
        return;
    }
    let _turn = turn().await;
    let network = Network::start().await.expect("a network of one name");
    for staple in STAPLES {
        let result = result(&network, staple).await.expect("nginx serves a staple");
        let (stapled, valid, error) = staple.expected;
        let said = json!([result["ocsp_stapling"], result["valid"], result["error"]]);
        println!("staple {:<8} {said}", staple.name);
        assert_eq!(said, json!([stapled, valid, error]), "{}: {result}", staple.name);
        let hsts = json!({
            "enabled": true, "max_age": 63_072_000, "include_sub_domains": true, "preload": true,
        });
        assert_eq!(result["hsts"], hsts, "{}", staple.name);
    }
}

async fn result(network: &Network, staple: &Staple) -> anyhow::Result<Value> {
    let header = "add_header Strict-Transport-Security \
                  'max-age=63072000; includeSubDomains; preload' always";
    let mut directives = vec!["ssl_protocols TLSv1.2 TLSv1.3".to_owned(), header.to_owned()];
    if let Some(of) = staple.of {
        let file = response(&network.pki, staple, of).await?;
        directives.push("ssl_stapling on".to_owned());
        directives.push(format!("ssl_stapling_file {file}"));
    }
    let directives: Vec<&str> = directives.iter().map(String::as_str).collect();
    let folder = network.folder.path().join(format!("staple-{}", staple.name));
    let address = free_port().await?;
    let server = server::nginx(&network.pki, &folder, address, staple.leaf, &directives).await?;
    Ok(network.check(server.address).await?.json())
}

/// An OCSP response in a file, signed by the root as the authority's own responder.
async fn response(pki: &Pki, staple: &Staple, of: &str) -> anyhow::Result<String> {
    let (list, answer) =
        (pki.file(&format!("{}.idx", staple.name)), pki.file(&format!("{}.ocsp", staple.name)));
    let mut asked = command("openssl");
    asked.args(["x509", "-noout", "-serial", "-in"]).arg(pki.certificate(of));
    let serial = succeed(&mut asked).await?;
    let serial = serial.trim().trim_start_matches("serial=");
    let entry = match staple.revoked {
        false => format!("V\t400101000000Z\t\t{serial}\tunknown\t/CN=leaf\n"),
        true => {
            format!("R\t400101000000Z\t260101000000Z,keyCompromise\t{serial}\tunknown\t/CN=leaf\n")
        }
    };
    std::fs::write(&list, entry)?;
    let mut made = match staple.made {
        Some(moment) => {
            let mut faked = command("faketime");
            faked.args([moment, "openssl"]);
            faked
        }
        None => command("openssl"),
    };
    made.args(["ocsp", "-ndays", "7", "-sha1", "-no_nonce", "-noverify", "-issuer"]);
    made.arg(pki.root()).arg("-cert").arg(pki.certificate(of));
    made.arg("-index").arg(&list).arg("-CA").arg(pki.root()).arg("-rsigner").arg(pki.root());
    made.arg("-rkey").arg(pki.key("root")).arg("-respout").arg(&answer);
    succeed(&mut made).await?;
    Ok(answer.display().to_string())
}
