use super::*;

fn hash(digit: char) -> String {
    std::iter::repeat_n(digit, 64).collect()
}

fn written() -> String {
    format!(
        r#"
        version = 1

        [[plugin]]
        id = "acme.smtp-banner"
        version = "1.2.0"
        sha256 = "{}"
        manifest-sha256 = "{}"
        approved = {{ by = "ops@example.com", at = "2026-11-20T09:30:00Z" }}
        enabled = true
        interval = "90s"
        settings.api-url = "https://api.example/v1"
        settings.words = ["ESMTP", {{ any = 1.5 }}]
        granted.dns = {{ names = ["target"], types = ["MX", "A"] }}
        granted.tcp = {{ to = ["target-mx:25"] }}
        granted.random = true
        granted.secrets = ["api-token"]
        secrets.api-token = {{ env = "SMTP_BANNER_TOKEN" }}
        previous = [{{ version = "1.1.0", sha256 = "{}", manifest-sha256 = "{}", approved = {{ by = "ops@example.com", at = "2026-11-01T09:30:00Z" }} }}]
        "#,
        hash('a'),
        hash('b'),
        hash('c'),
        hash('d'),
    )
}

fn with(from: &str, to: &str) -> Result<Lock, LockError> {
    let text = written();
    assert!(text.contains(from), "{from}");
    Lock::parse(&text.replace(from, to))
}

fn version(name: &str, digit: char) -> Previous {
    Previous {
        version: name.to_owned(),
        sha256: hash(digit),
        manifest_sha256: hash(digit),
        approved: Approved { by: "ops".to_owned(), at: Timestamp::UNIX_EPOCH },
        granted: Table::new(),
    }
}

#[test]
fn less_is_granted_to_the_file_that_runs() {
    let locked = |lock: Lock| lock.plugins.first().cloned().expect("one");
    let running = locked(Lock::parse(&written()).expect("a lock"));
    let changed = |from, to| locked(with(from, to).expect("a lock"));
    for (what, now, less) in [
        ("the same", running.clone(), false),
        ("one gone", changed("granted.random = true", ""), true),
        ("one narrowed", changed(r#"["MX", "A"]"#, r#"["MX"]"#), true),
        ("one wider", changed(r#"["MX", "A"]"#, r#"["MX", "A", "TXT"]"#), false),
        (
            "another file",
            Locked { sha256: hash('e'), granted: Table::new(), ..running.clone() },
            false,
        ),
    ] {
        assert_eq!(now.takes_from(&running), less, "{what}");
    }
}

#[test]
fn what_is_written_reads_back() {
    let lock = Lock::parse(&written()).expect("a lock");
    let plugin = lock.find("acme.smtp-banner").expect("it is there");
    assert_eq!(plugin.version, "1.2.0");
    assert_eq!(plugin.secrets["api-token"], SecretPlace::Env("SMTP_BANNER_TOKEN".to_owned()));
    assert!(plugin.capabilities().expect("capabilities").random);
    assert_eq!(plugin.interval, Some(Duration::from_secs(90)));
    assert_eq!(plugin.settings["api-url"].as_str(), Some("https://api.example/v1"));
    assert!(lock.names(&hash('a')) && lock.names(&hash('c')) && !lock.names(&hash('e')));
    let text = lock.to_text();
    assert_eq!(Lock::parse(&text).expect(&text), lock, "{text}");
    assert!(text.contains("granted.tcp = { to = [\"target-mx:25\"] }"), "{text}");
    assert!(text.contains("interval = \"90s\"\nsettings.api-url = \"https://"), "{text}");
}

#[test]
fn a_grant_follows_where_the_setting_that_it_names_leads() {
    let of = |api: &str| {
        let lock = with("\"target-mx:25\"", "\"{api-url}\"").expect("a lock");
        let mut locked = lock.plugins.into_iter().next().expect("one");
        locked.settings.insert("api-url".to_owned(), api.into());
        locked
    };
    let first = of("one.example:25");
    let tcp = first.capabilities().expect("capabilities").tcp;
    assert_eq!(tcp, Some(vec!["one.example:25".parse().expect("a place")]));
    for (what, api, less) in [
        ("the same place", "one.example:25", false),
        ("another", "two.example:25", true),
        ("none", "nowhere", true),
    ] {
        assert_eq!(of(api).takes_from(&first), less, "{what}");
    }
    let lock = Lock { plugins: vec![of("nowhere")] };
    assert_eq!(Lock::parse(&lock.to_text()).as_ref(), Ok(&lock), "the others are followed");
}

#[test]
fn an_empty_lock_and_odd_names_read_back() {
    let empty = Lock::default();
    assert_eq!(Lock::parse(&empty.to_text()), Ok(empty));
    let mut lock = Lock::parse(&written()).expect("a lock");
    let plugin = lock.find_mut("acme.smtp-banner").expect("it is there");
    let odd = "a \"b\"\n.c";
    plugin.granted.insert("secrets".to_owned(), vec![odd].into());
    plugin.secrets = BTreeMap::from([(odd.to_owned(), SecretPlace::File("/run/a b".into()))]);
    assert_eq!(Lock::parse(&lock.to_text()), Ok(lock));
}

#[test]
fn what_cannot_be_followed_is_refused_by_name() {
    for (from, to, expected) in [
        ("version = 1\n", "version = 2\n", "its version is 2"),
        ("version = 1\n", "", "must begin with version = 1"),
        ("enabled = true", "signed-by = \"acme\"", "unknown field `signed-by`"),
        ("version = 1\n", "version = 1\nrequire-signature = true\n", "`require-signature`"),
        ("env =", "value =", "unknown variant `value`"),
        ("\"90s\"", "\"0s\"", "interval must be between 1s and 366d, and not 0s"),
        ("\"90s\"", "90", "expected a string"),
        ("granted.random", "granted.disk", "unknown field `disk`"),
        ("target-mx:25", "everywhere", "granted: capabilities.tcp.to must name"),
        ("granted.secrets", "#", "secrets.api-token is not in granted.secrets"),
        ("sha256 = \"a", "sha256 = \"A", "is no SHA-256"),
        (
            "approved = { by = \"ops@example.com\", at = \"2026-11-20T",
            "approved = { at = \"2026-11-20T",
            "missing field `by`",
        ),
    ] {
        let refused = with(from, to).expect_err(expected).to_string();
        assert!(refused.starts_with("plugins.lock cannot be used: "), "{refused}");
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    let refused = Lock::parse("version = 1\nenabled").expect_err("no value").to_string();
    assert!(refused.ends_with("(line 2)"), "{refused}");
    let twice = format!("{}{}", written(), written().replace("version = 1\n", ""));
    let refused = Lock::parse(&twice).expect_err("twice").to_string();
    assert!(refused.contains("acme.smtp-banner stands in it twice"), "{refused}");
}

#[test]
fn a_version_that_is_replaced_can_be_rolled_back_to() {
    let mut lock = Lock::parse(&written()).expect("a lock");
    let plugin = lock.find_mut("acme.smtp-banner").expect("it is there");
    let kept = |plugin: &Locked| -> Vec<String> {
        plugin.previous.iter().map(|previous| previous.version.clone()).collect()
    };
    plugin.replace(version("1.3.0", '1'));
    assert_eq!((&*plugin.version, kept(plugin)), ("1.3.0", vec!["1.2.0".into(), "1.1.0".into()]));
    assert_eq!(plugin.places().count(), 0, "what is not granted has no value");
    assert_eq!(plugin.secrets.len(), 1, "but 1.2.0 may come back");
    plugin.replace(version("1.4.0", '2'));
    assert_eq!(kept(plugin), ["1.3.0", "1.2.0"], "two are kept");
    let back = plugin.previous[0].clone();
    plugin.replace(back);
    assert_eq!((&*plugin.version, kept(plugin)), ("1.3.0", vec!["1.4.0".into(), "1.2.0".into()]));
    plugin.replace(version("1.3.0", '1'));
    assert_eq!(kept(plugin), ["1.4.0", "1.2.0"], "the same file is no other version");
    let back = plugin.previous[1].clone();
    plugin.replace(back);
    assert_eq!((&*plugin.version, plugin.places().count()), ("1.2.0", 1), "with its secret");
    assert_eq!(Lock::parse(&lock.to_text()).as_ref(), Ok(&lock));
}

#[test]
fn where_a_secret_is_goes_with_the_last_version_that_is_granted_it() {
    let mut lock = Lock::parse(&written()).expect("a lock");
    let plugin = lock.find_mut("acme.smtp-banner").expect("it is there");
    for (name, digit, known) in [("1.3.0", '1', 1), ("1.4.0", '2', 1), ("1.5.0", '3', 0)] {
        plugin.replace(version(name, digit));
        assert_eq!(plugin.secrets.len(), known, "{name}");
        let text = Lock { plugins: vec![plugin.clone()] }.to_text();
        assert!(Lock::parse(&text).is_ok(), "{text}");
    }
}
