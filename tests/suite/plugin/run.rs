//! Single runs on the operator's own machine.

use std::path::Path;

use serde_json::json;
use vedette_tests::Ran;

use super::{Operated, path};
use crate::guest::Guest;

/// `vedette plugin run` of that file, about a site of the lab.
async fn run_from(file: &Path, more: &[&str]) -> Ran {
    let arguments = ["run", path(file), "--target", "shop.example"];
    let ran = vedette_tests::plugin(&[&arguments[..], more].concat()).await;
    ran.expect("the program runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_check_of_an_operators_plugin_needs_no_service() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    let folder = operated.folder();
    let settings = vedette_tests::Settings {
        toml: format!("[plugins]\nfolder = '{}'\n", folder.display()),
        ..operated.world.lab.settings()
    };
    let arguments = ["banner", "shop.example", "--json"];
    let pending = vedette_tests::check(&settings, &arguments).await.expect("the program runs");
    assert_eq!(pending.code, Some(2), "{pending:?}");
    assert_eq!(operated.run(&["approve", "acme.banner"]).await.code, Some(0));
    let ran = vedette_tests::check(&settings, &arguments).await.expect("the program runs");
    assert_eq!((ran.code, &ran.json()["ok"]), (Some(0), &json!(true)), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_run_from_its_file_and_tells_what_that_cost() {
    let operated = Operated::start().await;
    let dns = operated.world.lab.settings().dns;
    let dns = dns.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let network = ["--egress-allow", "127.0.0.0/8", "--dns-server", dns.as_str(), "--json"];
    let good = operated.component("acme.banner", "1.0.0", true);
    let ran = run_from(&good, &network).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = ran.json();
    assert_eq!((&said["id"], &said["health"]), (&json!("acme.banner"), &json!("ok")));
    assert_eq!((&said["result"], &said["findings"]), (&json!({ "ok": true }), &json!([])));
    assert_eq!(said["costs"]["calls"]["used"], 0, "{said}");
    assert!(said["costs"]["memory"]["used"].as_u64().is_some_and(|kib| kib > 0), "{said}");
    assert!(!operated.folder().exists(), "nothing is installed");

    let mut answering = Operated::guest("acme.banner", "1.0.0", false);
    answering.run_answers_settings();
    answering.manifest += "[settings.properties]\nok = { type = \"boolean\" }\n";
    let answering = operated.file("answering.wasm", &answering);
    let ran = run_from(&answering, &[&network[..], &["--set", "ok=true"]].concat()).await;
    assert_eq!(ran.json()["result"], json!({ "ok": true }), "{ran:?}");

    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    let broken = operated.file("broken.wasm", &broken);
    let channel = operated.file("pager.wasm", &Guest::channel("ref:pager_url"));
    let ours = operated.component("acme.ssl", "1.0.0", true);
    for (file, more, code, said) in [
        (&broken, vec![], 1, "it trapped"),
        (&ours, vec![], 1, "the check type ssl is built in"),
        (&channel, vec![], 2, "acme.pager is a channel"),
        (&good, vec!["--secret", "token"], 2, "--secret must be NAME=VARIABLE"),
        (
            &good,
            vec!["--secret", "token=PATH"],
            2,
            "names token, and the plugin asks for no secrets",
        ),
        (&good, vec!["--set", "limit=3"], 2, "this plugin has no settings"),
    ] {
        let ran = run_from(file, &[&network[..], more.as_slice()].concat()).await;
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.json().to_string().contains(said), "{ran:?}");
    }
}
