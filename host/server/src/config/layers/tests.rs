use std::{io::Write, time::Duration};

use super::*;
use crate::config::Mounted;

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let file = file("db = \"mem://file\"\nlocation = \"file\"\nedition = \"team\"\n");
    let environment = |name: &str| match name {
        "VEDETTE_DB" => Some("mem://environment".to_owned()),
        "VEDETTE_LOCATION" => Some("environment".to_owned()),
        _ => None,
    };
    let mut flags = Table::new();
    set(&mut flags, "db", "mem://flag".into());
    let config = Config::load(Some(file.path()), environment, flags).unwrap();
    assert_eq!(config.db, "mem://flag");
    assert_eq!(config.location, "environment");
    assert_eq!(config.edition, Mounted::Team);
}

#[test]
fn a_section_is_merged_key_by_key() {
    let file = file(
        "[egress]\nallow = [\"10.0.0.0/8\"]\ndeny = [\"10.9.0.0/16\"]\n[intervals]\nssl = \"60s\"\n",
    );
    let environment = |name: &str| (name == "VEDETTE_INTERVALS_DNS").then(|| "5m".to_owned());
    let mut flags = Table::new();
    let allow = Value::Array(vec!["127.0.0.0/8".into()]);
    set(&mut flags, "egress.allow", allow);
    let config = Config::load(Some(file.path()), environment, flags).unwrap();
    assert_eq!(config.egress.allow, ["127.0.0.0/8".parse().unwrap()]);
    assert_eq!(config.egress.deny, ["10.9.0.0/16".parse().unwrap()]);
    assert_eq!(config.intervals.ssl, Duration::from_secs(60));
    assert_eq!(config.intervals.dns, Duration::from_secs(300));
    assert_eq!(config.intervals.ct, Duration::from_secs(3600));
}

#[test]
fn unknown_keys_are_refused_by_name() {
    const EVERY: &str = "deploy/vedette.example.toml shows every key";
    for (text, named, advice) in [
        ("lisen = \"127.0.0.1:0\"", "lisen", "did you mean `listen`?"),
        ("[intervals]\nsll = \"60s\"", "intervals.sll", "did you mean `intervals.ssl`?"),
        ("[egres]\nallow = []", "egres", "did you mean `egress`?"),
        (
            "[plugins.ct]\nsources = [{ kind = \"crtsh\", ulr = \"https://crt.sh/\" }]",
            "plugins.ct.sources[0].ulr",
            "did you mean `plugins.ct.sources[0].url`?",
        ),
        ("[plugins.ssl]\nx = 1", "plugins.ssl", EVERY),
        ("[nobody]", "nobody", EVERY),
    ] {
        let file = file(text);
        let cause = Config::load(Some(file.path()), |_| None, Table::new()).unwrap_err();
        assert!(matches!(cause, Error::File { .. }), "{text}: {cause}");
        let told = format!(": there is no key `{named}`; {advice}");
        assert!(cause.to_string().ends_with(&told), "{text}: {cause}");
    }
}

#[test]
fn a_bad_value_is_refused_with_its_key() {
    let bad = [
        ("VEDETTE_LISTEN", "nowhere", "listen nowhere is not an address and port"),
        ("VEDETTE_DB", "surrealkv://", "db must name a folder"),
        ("VEDETTE_ADMIN_TOKEN", "", "admin.token must not be empty"),
        ("VEDETTE_ADMIN_TOKEN", "abc\n", "admin.token must consist of visible ASCII"),
        ("VEDETTE_CRON_SECRET", "t\u{f6}k", "cron.secret must consist of visible ASCII"),
        ("VEDETTE_PAYMENTS_SECRET", " ps", "payments.secret must consist of visible ASCII"),
        ("VEDETTE_CHANNELS_EXTRA_HOSTS", "*", "channels.extra_hosts holds *"),
        ("VEDETTE_SMTP_URL", "smtp://mail.example", "smtp.from is required"),
        ("VEDETTE_PUBLIC_URL", "https://v.example/?a=b", "public_url must have"),
        ("VEDETTE_CHANNELS_EXTRA_HOSTS", "https://chat.example", "channels.extra_hosts"),
        ("VEDETTE_WHOIS_ROOT", "http://whois.example:43", "plugins.domain.whois_root"),
        ("VEDETTE_WHOIS_ROOT", "::1:43", "plugins.domain.whois_root"),
        ("VEDETTE_WHOIS_ROOT", "whois:43", "plugins.domain.whois_root"),
        ("VEDETTE_RDAP_BOOTSTRAP_URL", "http://rdap/dns.json", "plugins.domain.rdap_bootstrap_url"),
        (
            "VEDETTE_CT_SOURCES",
            "[{ kind = \"crtsh\", url = \"http://mirror:8080/\" }]",
            "plugins.ct.sources[0].url",
        ),
        (
            "VEDETTE_CT_SOURCES",
            "[{ kind = \"crtsh\", url = \"https://crt.example/?a=b\" }]",
            "plugins.ct.sources[0].url",
        ),
        (
            "VEDETTE_CT_SOURCES",
            "[{ kind = \"crtsh\", url = \"https://crt.example/\", key = \"AA==\" }]",
            "plugins.ct.sources[0].key",
        ),
        ("VEDETTE_TRUSTED_PROXY", "10.0.0.0/8,10.1", "trusted_proxy"),
        ("VEDETTE_INTERVALS_SSL", "0s", "intervals.ssl must be at least 1s"),
        ("VEDETTE_CONFIRM_RECHECK", "999ms", "confirm.recheck must be at least 1s"),
        ("VEDETTE_GUARD_LATE", "999ms", "guard.late must be at least 1s"),
        ("VEDETTE_RETENTION_CHECKS", "29d", "retention.checks must be between 30d and 36500d"),
        ("VEDETTE_RETENTION_ALERTS", "never", "retention.alerts never is neither a span"),
        ("VEDETTE_EDITION", "gold", "edition"),
        ("VEDETTE_NO_FIRST_ACCOUNT", "maybe", "VEDETTE_NO_FIRST_ACCOUNT"),
        ("VEDETTE_CORS_ORIGINS", "https://app.example.com/", "cors.origins"),
    ];
    for (variable, text, named) in bad {
        let environment = |name: &str| (name == variable).then(|| text.to_owned());
        let cause = Config::load(None, environment, Table::new()).unwrap_err().to_string();
        assert!(cause.starts_with(named), "{variable}={text}: {cause}");
    }
}

#[test]
fn a_log_filter_is_of_levels_and_of_crates_with_theirs() {
    let load = |filter: &str| {
        let environment = |name: &str| (name == "VEDETTE_LOG").then(|| filter.to_owned());
        Config::load(None, environment, Table::new())
    };
    for good in [
        "info",
        "WARN",
        "off",
        "",
        "warn,vedette_server=debug",
        " warn , vedette_server=debug ",
        "warn,surrealdb::core::kvs::ds=off,",
        "info,[request{id}]=debug",
    ] {
        assert!(load(good).is_ok(), "{good}");
    }
    for (bad, named) in [
        ("loud", "loud"),
        ("info,loud", "loud"),
        ("vedette_server", "vedette_server"),
        ("vedette_server=loud", "vedette_server=loud"),
        ("vedette-server=debug", "vedette-server=debug"),
        ("vedette_server=", "vedette_server="),
        ("=debug", "=debug"),
        ("warn;vedette_server=debug", "warn;vedette_server=debug"),
        ("info,[request", "[request"),
    ] {
        let told = load(bad).unwrap_err().to_string();
        assert!(told.starts_with(&format!("log.filter holds {named}, ")), "{bad}: {told}");
        assert!(told.contains("as in warn,vedette_server=debug"), "{bad}: {told}");
    }
}

#[test]
fn a_bad_value_is_told_with_the_layer_that_it_comes_from() {
    let told = |file: Option<&Path>, variable: (&str, &str), flags: Table| {
        let environment = |name: &str| (name == variable.0).then(|| variable.1.to_owned());
        Config::load(file, environment, flags).unwrap_err().to_string()
    };
    let file = file("[intervals]\nssl = \"1ms\"\n");
    let mut flags = Table::new();
    set(&mut flags, "intervals.ssl", "3ms".into());
    let variable = ("VEDETTE_INTERVALS_SSL", "2ms");
    let short = "intervals.ssl must be at least 1s (set";
    let path = file.path().display();
    assert_eq!(told(Some(file.path()), ("", ""), Table::new()), format!("{short} in {path})"));
    let of_variable = told(Some(file.path()), variable, Table::new());
    assert_eq!(of_variable, format!("{short} in VEDETTE_INTERVALS_SSL)"));
    assert_eq!(told(Some(file.path()), variable, flags), format!("{short} by a flag)"));

    let source = "[{ kind = \"crtsh\", url = \"http://mirror:8080/\" }]";
    let inside = told(None, ("VEDETTE_CT_SOURCES", source), Table::new());
    assert!(inside.ends_with("(set in VEDETTE_CT_SOURCES)"), "{inside}");
    let missing = told(None, ("VEDETTE_SMTP_URL", "smtp://mail.example"), Table::new());
    assert!(missing.starts_with("smtp.from is required") && !missing.contains("(set"), "{missing}");
}

#[test]
fn a_url_is_one_of_the_web() {
    for (variable, named) in [
        ("VEDETTE_PUBLIC_URL", "public_url"),
        ("VEDETTE_HEARTBEAT_URL", "heartbeat.url"),
        ("VEDETTE_OIDC_JWKS_URL", "oidc.jwks_url"),
        ("VEDETTE_PAYMENTS_API_BASE", "payments.api_base"),
        ("VEDETTE_RDAP_BOOTSTRAP_URL", "plugins.domain.rdap_bootstrap_url"),
        ("VEDETTE_RENEWAL_DIRECTORY_URL", "renewal.directory_url"),
    ] {
        for text in ["ftp://host.example/hunter2", "file:///hunter2", "host.example/hunter2", ""] {
            let environment = |name: &str| (name == variable).then(|| text.to_owned());
            let cause = Config::load(None, environment, Table::new()).unwrap_err().to_string();
            assert!(cause.starts_with(&format!("{named} must be a URL with http")), "{cause}");
            assert!(!cause.contains("hunter2"), "{cause}");
        }
    }
}

#[test]
fn an_issuer_comes_with_its_audience_and_a_place_for_its_keys() {
    let load = |text: &str| Config::load(Some(file(text).path()), |_| None, Table::new());
    let (issuer, named) = ("issuer = \"https://login.example/\"", "issuer = \"login\"");
    let (audience, keys) = ("audience = \"a\"", "jwks_url = \"https://login.example/keys\"");
    for good in [
        format!("[oidc]\n{issuer}\n{audience}\n"),
        format!("[oidc]\n{issuer}\n{audience}\n{keys}\n"),
        format!("[oidc]\n{named}\n{audience}\n{keys}\n"),
    ] {
        load(&good).unwrap();
    }
    for (bad, key) in [
        (format!("[oidc]\n{issuer}\n"), "oidc.audience"),
        (format!("[oidc]\n{audience}\n"), "oidc.issuer"),
        (format!("[oidc]\n{keys}\n"), "oidc.issuer"),
        (format!("[oidc]\n{named}\n{audience}\n"), "oidc.issuer"),
    ] {
        let cause = load(&bad).unwrap_err().to_string();
        assert!(cause.starts_with(key), "{bad}: {cause}");
    }
}

#[test]
fn a_product_buys_a_plan_that_costs_something() {
    let load = |text: &str| Config::load(Some(file(text).path()), |_| None, Table::new());
    for good in [
        "[payments]\nproducts = { p1 = \"pro\", p2 = \"team\", p3 = \"team\" }\n",
        "[payments]\nsecret = \"s\"\napi_base = \"http://127.0.0.1:1/v1\"\napi_key = \"k\"\n",
    ] {
        load(good).unwrap();
    }
    for (bad, key) in [
        ("products = { p1 = \"pro\", p2 = \"free\" }", "payments.products.p2"),
        ("products = { p1 = \"starter\" }", "payments.products.p1"),
        ("secret = \"\"", "payments.secret"),
        ("api_key = \"\"", "payments.api_key"),
    ] {
        let cause = load(&format!("[payments]\n{bad}\n")).unwrap_err().to_string();
        assert!(cause.starts_with(key), "{bad}: {cause}");
    }
}

#[test]
fn the_environment_carries_lists_and_tables() {
    let environment = |name: &str| match name {
        "VEDETTE_DNS_SERVER" => Some("127.0.0.1:5353, [::1]:53".to_owned()),
        "VEDETTE_PAYMENTS_PRODUCTS" => Some("{ prod_1 = \"pro\" }".to_owned()),
        "VEDETTE_SIGNUP_MAX_FREE_PER_IP" => Some("7".to_owned()),
        _ => None,
    };
    let config = Config::load(None, environment, Table::new()).unwrap();
    assert_eq!(config.dns_server.len(), 2);
    assert_eq!(config.payments.products["prod_1"], "pro");
    assert_eq!(config.signup.max_free_per_ip, 7);
}

#[test]
fn a_variable_that_is_no_toml_is_told_with_an_example_and_not_quoted() {
    for (variable, text, example) in [
        ("VEDETTE_CT_SOURCES", "[{ kind = \"hunter2\"", "[{ kind = \"crtsh\", url = "),
        ("VEDETTE_PAYMENTS_PRODUCTS", "hunter2 = \"pro\"", "{ prod_1 = \"pro\" }"),
        ("VEDETTE_SIGNUP_MAX_FREE_PER_IP", "hunter2", "5"),
        ("VEDETTE_SIGNUP_MAX_FREE_PER_IP", "", "5"),
    ] {
        let environment = |name: &str| (name == variable).then(|| text.to_owned());
        let cause = Config::load(None, environment, Table::new()).unwrap_err().to_string();
        let start = format!("{variable}: must be TOML such as {example}");
        assert!(cause.starts_with(&start), "{text}: {cause}");
        let (_, reason) = cause.rsplit_once(", but: ").unwrap();
        assert!(!reason.is_empty() && !cause.contains("hunter2"), "{text}: {cause}");
    }
}

#[test]
fn secrets_are_not_printed() {
    let environment = |name: &str| (name == "VEDETTE_CRON_SECRET").then(|| "hunter2".to_owned());
    let config = Config::load(None, environment, Table::new()).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn a_file_that_is_refused_shows_where_and_no_secret() {
    for (text, place, said) in [
        (
            "listen = 5\n[cron]\nsecret = \"hunter2\"\n",
            "line 1, column 10",
            ": listen: invalid type: integer",
        ),
        ("[cron]\nsecret = \"hunter2\n", "line 2, ", ""),
        ("[cron]\nsecret = hunter2\n", "line 2, column 10", ""),
        (
            "[cron]\nsecret = [\"hunter2\"]\n",
            "line 2, column 10",
            "cron.secret: invalid type: sequence",
        ),
        ("[admin]\n# é\n\ttokken = \"hunter2\"\n", "line 3, column 2", "mean `admin.token`?"),
        ("[cron]\nsecret = 711711\n", "line 2, column 10", "cron.secret: invalid type: integer"),
        ("[retention]\nchecks = \"7d\"\n", "line 2, column 10", "retention.checks: must be"),
        (
            "[payments]\napi_base = \"https://u:hunter2@ x\"\n",
            "line 2, column 12",
            "payments.api_base: must be",
        ),
    ] {
        let file = file(text);
        let cause = Config::load(Some(file.path()), |_| None, Table::new()).unwrap_err();
        let shown = cause.to_string();
        assert!(shown.contains(place) && shown.contains(said), "{text}: {shown}");
        assert!(!shown.contains("hunter2") && !shown.contains("711711"), "{text}: {shown}");
        assert!(!format!("{cause:?}").contains("hunter2"), "{cause:?}");
    }
}

#[test]
fn the_example_shows_every_key_with_its_default() {
    let text = include_str!("../../../../../deploy/vedette.example.toml");
    let mut shown = Table::new();
    // A key without a default is shown commented out: it counts once its `#` is taken away.
    let plain: String = text
        .lines()
        .map(|line| line.strip_prefix("#: ").unwrap_or(line))
        .flat_map(|line| [line, "\n"])
        .collect();
    merge(&mut shown, toml::from_str(&plain).unwrap());
    toml::from_str::<Config>(&plain).unwrap();
    for (key, ..) in KEYS {
        let path = key.split('.').collect::<Vec<_>>();
        let value = path
            .iter()
            .try_fold(Value::Table(shown.clone()), |value, part| value.get(*part).cloned());
        assert!(value.is_some(), "{key} is not in the example");
    }
    let example: Config = toml::from_str(text).unwrap();
    assert_eq!(format!("{example:?}"), format!("{:?}", Config::default()));
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}
