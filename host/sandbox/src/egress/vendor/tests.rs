use super::*;

fn vendor(hosts: &[&str], paths: &[&str]) -> Vendor {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Vendor { hosts: owned(hosts), paths: owned(paths) }
}

fn slack() -> Vendor {
    let hosts = ["hooks.slack.com", "hooks.slack-gov.com"];
    vendor(&hosts, &["/services/", "/workflows/", "/triggers/"])
}

fn discord() -> Vendor {
    let hosts = ["discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"];
    vendor(&hosts, &["/api/webhooks/", "/api/v*/webhooks/"])
}

fn teams() -> Vendor {
    let hosts =
        ["*.webhook.office.com", "*.logic.azure.com", "*.environment.api.powerplatform.com"];
    vendor(&hosts, &[])
}

fn judged(text: &str, vendor: &Vendor) -> Result<Url, String> {
    let allow = vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
    let policy = Policy { allow, ..Policy::default() };
    policy.vet_vendor_url(text, vendor, &["Chat.Acme.example".to_owned()])
}

#[test]
fn vendors_own_urls_are_taken() {
    for (vendor, urls) in [
        (
            slack(),
            [
                "https://hooks.slack.com/services/T0/B0/x",
                "https://hooks.slack.com/workflows/T0/A0/1/x",
                "https://hooks.slack.com/triggers/T0/1/x",
                "https://hooks.slack-gov.com/services/T0/B0/x",
                "https://HOOKS.Slack.com:443/services/T0/B0/x",
            ],
        ),
        (
            discord(),
            [
                "https://discord.com/api/webhooks/1/x",
                "https://discordapp.com/api/webhooks/1/x",
                "https://ptb.discord.com/api/v10/webhooks/1/x",
                "https://canary.discord.com/api/webhooks/1/x?thread_id=7",
                "HTTPS://discord.com/api/v9/webhooks/1/x",
            ],
        ),
        (
            teams(),
            [
                "https://acme.webhook.office.com/webhookb2/x/IncomingWebhook/y/z",
                "https://prod-00.westeurope.logic.azure.com:443/workflows/x?sig=y",
                "https://default0.0a.environment.api.powerplatform.com:443/powerautomate/x?sig=y",
                "https://ACME.webhook.office.com/webhookb2/x",
                "https://a.b.webhook.office.com/x",
            ],
        ),
    ] {
        for url in urls {
            assert_eq!(judged(url, &vendor).map(drop), Ok(()), "{url}");
        }
    }
}

#[test]
fn what_only_looks_like_the_vendor_is_refused() {
    for (vendor, urls) in [
        (
            slack(),
            [
                "http://hooks.slack.com/services/T0/B0/x",
                "https://hooks.slack.com:444/services/T0/B0/x",
                "https://hooks.slack.com.evil.com/services/T0/B0/x",
                "https://evilhooks.slack.com/services/T0/B0/x",
                "https://hooks.slack.com@evil.com/services/T0/B0/x",
                "https://user@hooks.slack.com/services/T0/B0/x",
                "https://hooks.slack.com./services/T0/B0/x",
                "https://hooks.slack.com\\@evil.com/services/T0/B0/x",
                "https://hooks%2eslack.com/services/T0/B0/x",
                "https://slack.com/services/T0/B0/x",
                "https://hooks.slack.com/",
                "https://hooks.slack.com/services/",
                "https://hooks.slack.com/services/../api/x",
                "https://hooks.slack.com/servicesx/T0",
                "https://discord.com/api/webhooks/1/x",
                "https://8.8.8.8/services/T0/B0/x",
            ]
            .as_slice(),
        ),
        (
            discord(),
            [
                "https://discord.com@evil/api/webhooks/1/x",
                "https://discord.com.evil.com/api/webhooks/1/x",
                "https://evil.com/discord.com/api/webhooks/1/x",
                "https://evil.com?discord.com/api/webhooks/1/x",
                "https://evil.com#@discord.com/api/webhooks/1/x",
                "https://www.discord.com/api/webhooks/1/x",
                "https://discord.com/api/v/webhooks/1/x",
                "https://discord.com/api/vx/webhooks/1/x",
                "https://discord.com/api/users/1",
                "https://discord.com:8443/api/webhooks/1/x",
                "ftp://discord.com/api/webhooks/1/x",
            ]
            .as_slice(),
        ),
        (
            teams(),
            [
                "https://webhook.office.com/x",
                "https://evil-webhook.office.com/x",
                "https://acme.webhook.office.com.evil.com/x",
                "https://logic.azure.com/workflows/x",
                "https://evillogic.azure.com/workflows/x",
                "https://api.powerplatform.com/x",
                "http://acme.webhook.office.com/x",
                "https://acme.webhook.office.com:8443/x",
            ]
            .as_slice(),
        ),
    ] {
        for url in urls {
            assert!(judged(url, &vendor).is_err(), "{url}");
        }
    }
}

#[test]
fn operators_hosts_and_open_addresses_stand_in_for_every_vendor() {
    for vendor in [slack(), discord(), teams()] {
        for url in [
            "https://chat.acme.example/hooks/x",
            "https://chat.acme.example:8065/hooks/x",
            "http://127.0.0.1:4711/anything",
            "https://127.0.0.1/",
            "http://[fd00::7]:8065/hooks/x",
        ] {
            assert_eq!(judged(url, &vendor).map(drop), Ok(()), "{url}");
        }
        for url in [
            "http://chat.acme.example/hooks/x",
            "https://evil.chat.acme.example/hooks/x",
            "https://10.0.0.1/hooks/x",
            "http://2130706433:4711/x",
            "http://[::ffff:127.0.0.1]/x",
        ] {
            assert!(judged(url, &vendor).is_err(), "{url}");
        }
    }
}

#[test]
fn channel_without_hosts_takes_what_the_policy_lets_through() {
    let any = Vendor::default();
    for url in ["http://hooks.example.com:8080/x", "https://8.8.8.8/", "http://127.0.0.1/"] {
        assert_eq!(judged(url, &any).map(drop), Ok(()), "{url}");
    }
    let refused = judged("http://10.0.0.1/", &any);
    assert_eq!(refused, Err(format!("is refused: {}", Refusal::Denied)));
}

#[test]
fn refusal_says_what_to_write() {
    let refused = judged("https://evil.example/services/x", &slack()).unwrap_err();
    let expected = "must be an https URL of hooks.slack.com or hooks.slack-gov.com with a path below \
                    /services/ or /workflows/ or /triggers/";
    assert_eq!(refused, expected);
    let refused = judged("https://evil.example/x", &vendor(&["*.a.example"], &[])).unwrap_err();
    assert_eq!(refused, "must be an https URL of *.a.example");
}

#[test]
fn hosts_and_paths_of_a_manifest_are_read_strictly() {
    assert!(slack().is_formed() && discord().is_formed() && teams().is_formed());
    for host in ["*", "*.", "*evil.example", "a.*.example", "EXAMPLE.com", "a.example/x", "com"] {
        assert!(!vendor(&[host], &[]).is_formed(), "{host}");
    }
    for path in ["", "hooks/", "/hooks"] {
        assert!(!vendor(&[], &[path]).is_formed(), "{path}");
    }
}
