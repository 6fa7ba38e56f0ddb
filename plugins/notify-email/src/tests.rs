use vedette_sdk::{
    Alert, Delivery, EmailDelivery, NoConfig, Notification, Notify, Severity,
    testing::channel::{
        self, assert_clean, assert_fits, assert_pure, hostile, notification, rendered,
    },
};

use crate::Email;

#[test]
fn subject_says_how_bad_where_and_what() {
    let critical = alert("example.com", Severity::Critical);
    let warning = alert("other.example", Severity::Warning);
    let over = Alert { resolved: true, ..critical.clone() };
    for (alerts, expected) in [
        (vec![critical.clone()], "[critical] example.com: the certificate expires in 5 days"),
        (vec![warning.clone()], "[warning] other.example: the certificate expires in 5 days"),
        (vec![over.clone()], "[resolved] example.com: the certificate expires in 5 days"),
        (
            vec![critical.clone(), critical.clone(), warning.clone()],
            "3 alerts: 2 critical, 1 warning on example.com and 1 more site",
        ),
        (
            vec![warning.clone(), critical.clone()],
            "2 alerts: 1 critical, 1 warning on example.com and 1 more site",
        ),
        (
            vec![warning.clone(), over.clone()],
            "2 alerts: 1 warning, 1 resolved on other.example and 1 more site",
        ),
        // An ordinary renewal.
        (
            vec![
                alert("other.example", Severity::Info),
                warning.clone(),
                Alert { resolved: true, ..warning.clone() },
            ],
            "3 alerts: 1 warning, 1 info, 1 resolved on other.example",
        ),
        (vec![over.clone(), over.clone()], "2 alerts: 2 resolved on example.com"),
        (
            vec![
                critical.clone(),
                alert("a.example", Severity::Info),
                alert("b.example", Severity::Info),
            ],
            "3 alerts: 1 critical, 2 info on example.com and 2 more sites",
        ),
    ] {
        assert_eq!(mail(notification(alerts)).subject, expected);
    }
}

#[test]
fn name_that_the_message_begins_with_is_said_once() {
    let mut named = alert("example.com", Severity::Critical);
    named.message = "example.com: certificate expires in 5 days".to_owned();
    let mail = mail(notification(vec![named]));
    assert_eq!(mail.subject, "[critical] example.com: certificate expires in 5 days");
    assert!(mail.text.contains("\n  certificate expires in 5 days\n"), "{}", mail.text);
}

#[test]
fn text_reads_in_a_terminal() {
    let mail = mail(notification(vec![alert("example.com", Severity::Critical)]));
    let rule = "-".repeat(78);
    let expected = format!(
        "CRITICAL example.com\n\n  the certificate expires in 5 days\n\n  \
         What to do: renew the certificate\n\n  Event: ssl.expiring\n  \
         Since: 2026-11-20 09:30 UTC\n  Alert: 0199b1a4-7c1e-7d30-8f3e-2f6d0c0c9f11\n\n{rule}\n\n\
         Sent by vedette, because e-mail is on in the notification settings of your\n\
         account; recipients are changed there.\n"
    );
    assert_eq!(mail.text, expected);
}

#[test]
fn html_says_the_same_in_one_column_without_images_and_links() {
    let html = html(notification(vec![alert("example.com", Severity::Critical)]));
    for part in [
        "<meta name=\"color-scheme\" content=\"light dark\">",
        "max-width:600px",
        ">CRITICAL</strong>",
        "background-color:#c62828",
        ">example.com</strong>",
        ">the certificate expires in 5 days</p>",
        "renew the certificate",
        "ssl.expiring",
        "2026-11-20 09:30 UTC",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    for absent in ["<a", "<img", "<table", "<style", "<script", "href", "src=", "url(", "http"] {
        assert!(!html.contains(absent), "{absent}\n{html}");
    }
}

#[test]
fn batch_tells_every_alert_in_its_order() {
    let alerts = (0..50).map(|n| alert(&format!("site-{n}.example"), Severity::Warning)).collect();
    let mail = mail(notification(alerts));
    let html = mail.html.as_deref().expect("an HTML part");
    for body in [mail.text.as_str(), html] {
        let places: Vec<usize> = (0..50)
            .map(|n| body.find(&format!("site-{n}.example")).expect("every site is named"))
            .collect();
        assert!(places.is_sorted(), "{body}");
    }
}

#[test]
fn resolution_asks_for_nothing_to_be_done() {
    let over = Alert { resolved: true, ..alert("example.com", Severity::Critical) };
    let mail = mail(notification(vec![over]));
    assert!(mail.text.starts_with("RESOLVED example.com\n"), "{}", mail.text);
    let html = mail.html.as_deref().expect("an HTML part");
    assert!(html.contains(">RESOLVED</strong>") && html.contains("#1a7f37"), "{html}");
    assert!(!mail.text.contains("What to do") && !html.contains("What to do:"));
}

#[test]
fn test_notification_says_that_it_is_one() {
    let alerts = vec![alert("example.com", Severity::Info)];
    let mail = mail(Notification { test: true, ..notification(alerts) });
    assert_eq!(mail.subject, "[test] this is a test notification");
    assert!(mail.text.starts_with("TEST example.com\n"), "{}", mail.text);
    assert!(!mail.text.contains("Alert:"), "there is none to look for");
}

#[test]
fn same_notification_is_the_same_mail() {
    assert_pure::<Email>();
}

#[test]
fn hostile_words_stay_words() {
    for (words, told) in hostile() {
        harmless(&mail(told), words);
    }
    assert_clean::<Email>();
}

#[test]
fn very_long_words_are_cut_in_the_subject_and_wrapped_in_the_text() {
    for unit in ["x", "ü", "猫", "x ", "=?"] {
        let long = unit.repeat(10_000);
        let mut alert = alert(&long, Severity::Critical);
        alert.message = long.clone();
        alert.suggestion = Some(long);
        harmless(&mail(notification(vec![alert])), unit);
    }
    let domain = format!("{}.evil.example", "paypal.com.".repeat(20));
    let subject = mail(notification(vec![alert(&domain, Severity::Critical)])).subject;
    assert!(subject.contains(".evil.example: the certificate"), "{subject}");
}

#[test]
fn largest_batch_of_the_worst_words_is_small_enough() {
    for unit in ["\"", "'", "&", "猫", "\u{1f600}"] {
        let mut worst = alert(&"a".repeat(253), Severity::Critical);
        worst.message = unit.repeat(1_000);
        worst.suggestion = Some(unit.repeat(2_000));
        worst.event = "e".repeat(64);
        // Rendering fails the test where the host would not take the mail.
        mail(notification(vec![worst; 50]));
    }
}

#[test]
fn time_beyond_the_calendar_is_an_error_rather_than_a_trap() {
    let mut timeless = alert("example.com", Severity::Info);
    timeless.created_at = i64::MAX;
    assert!(Email::render(notification(vec![timeless]), NoConfig {}).is_err());
}

fn harmless(mail: &EmailDelivery, words: &str) {
    let subject = &mail.subject;
    assert!(subject.chars().count() <= 120, "{words:?}: {subject}");
    assert!(!subject.contains("=?"), "{words:?}: {subject}");
    assert!(!subject.contains('\n'), "{words:?}: {subject}");
    let widest = mail.text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(78), "{words:?}: {}", mail.text);
    assert!(!mail.text.lines().any(|line| line.starts_with('.') || line.starts_with("Bcc")));
    // All tags are ours, whatever was written between them.
    let html = mail.html.as_deref().expect("an HTML part");
    let tags: Vec<&str> = html.split('<').skip(1).map(tag).collect();
    let known = ["!doctype", "html", "head", "meta", "title", "body", "div", "p", "strong", "br"];
    assert!(tags.iter().all(|tag| known.contains(tag)), "{words:?}: {tags:?}");
}

fn tag(text: &str) -> &str {
    let text = text.strip_prefix('/').unwrap_or(text);
    text.split([' ', '>']).next().unwrap_or_default()
}

fn html(notification: Notification) -> String {
    mail(notification).html.expect("an HTML part")
}

fn mail(notification: Notification) -> EmailDelivery {
    let mut deliveries = rendered::<Email>(notification);
    match (deliveries.pop(), deliveries.is_empty()) {
        (Some(Delivery::Email(mail)), true) => mail,
        other => panic!("expected one mail, got {other:?}"),
    }
}

fn alert(domain: &str, severity: Severity) -> Alert {
    Alert { domain: domain.to_owned(), severity, ..channel::alert() }
}

#[test]
fn as_many_alerts_as_it_takes_fit_whatever_they_say() {
    assert_fits::<Email>();
}
