//! Alerts by mail: what a recipient reads, and what becomes of it when the relay does not want it.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{net::TcpStream, sync::Notify};
use vedette_tests::{Authority, Lab, Leaf, Mailbox, Mailed, Reply, Service, Verdict, relay_toml};

use crate::world::{World, in_some_round, text, until, waited};

const PATH: &str = "/settings/notifications";

/// A relay, and a world that sends to it; the owner's alerts go to these recipients.
async fn start(recipients: &[&str]) -> (Mailbox, World) {
    let mailbox = Mailbox::start().await.expect("free port");
    let world = World::with(|settings| settings.toml = mailbox.toml("")).await;
    switch_on(&world, recipients).await;
    (mailbox, world)
}

async fn switch_on(world: &World, recipients: &[&str]) {
    let body = json!({"email": true, "alert_emails": recipients});
    world.owner.client.patch(PATH, body).await.expect(200);
}

/// Words without the line breaks that wrapping put between them.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bodies(mail: &Mailed) -> (String, String) {
    let part = |media_type| mail.part(media_type).unwrap_or_else(|| panic!("{}", mail.raw));
    (part("text/plain"), part("text/html"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expiring_certificate_is_mailed_as_subject_text_and_html() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    let site = world.site("mailed.example", 5).await;
    world.watch("mailed.example", &site).await;
    let alert = world.open_alerts(1).await.remove(0);
    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);

    assert_eq!(mail.from, "alerts@watch.example");
    assert_eq!(mail.to, ["ops@example.com"]);
    assert!(mail.raw.is_ascii(), "{}", mail.raw);
    let one = |name: &str| {
        let mut values = mail.header(name);
        assert_eq!(values.len(), 1, "{name}: {values:?}\n{}", mail.raw);
        values.remove(0)
    };
    assert_eq!(one("to"), "ops@example.com");
    assert!(one("from").contains("<alerts@watch.example>"));
    assert_eq!(one("auto-submitted"), "auto-generated");
    assert!(one("message-id").ends_with("@watch.example>"));
    assert!(uuid::Uuid::parse_str(&one("x-vedette-delivery")).is_ok());
    assert!(chrono::DateTime::parse_from_rfc2822(&one("date")).is_ok());
    assert_eq!(one("mime-version"), "1.0");
    let subject = one("subject");
    assert!(subject.starts_with("[critical] mailed.example: "), "{subject}");

    let message = text(&alert["message"]);
    let message = message.strip_prefix("mailed.example: ").unwrap_or(&message);
    let (plain, html) = bodies(&mail);
    assert!(flat(&plain).contains(message), "{plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 78), "{plain}");
    for part in ["CRITICAL", "mailed.example", "ssl.expiring"] {
        assert!(plain.contains(part) && html.contains(part), "{part}\n{plain}\n{html}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_accounts_own_address_is_told_where_no_other_is_named() {
    let (mailbox, world) = start(&[]).await;
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["email"]), "{sent}");
    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(mail.to, std::slice::from_ref(&world.owner.email));
    let subject = mail.header("subject").remove(0);
    assert!(subject.contains("test"), "{subject}");
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_of_one_run_are_one_mail() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    let site = world.site("batch.example", 60).await;
    let id = world.watch("batch.example", &site).await;
    world.latest_ssl(&id, |_| true).await;
    site.renew(world.lab.certificate("batch.example", 5).expect("signed")).expect("served");
    world.check_now("batch.example", &site, &id).await;
    let mail = until("a mail of two alerts", async || {
        let subject = |mail: &Mailed| mail.header("subject").concat();
        mailbox.arrived().into_iter().find(|mail| subject(mail).starts_with("2 alerts: "))
    })
    .await;
    assert_eq!(mail.header("subject"), ["2 alerts: 1 critical, 1 warning on batch.example"]);
    let (plain, html) = bodies(&mail);
    for event in ["ssl.expiring", "certificate.changed"] {
        assert!(plain.contains(event) && html.contains(event), "{event}\n{plain}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_condition_is_mailed() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    let wrong = world.lab.authority.issue(&Leaf::for_names(&["else.example"])).expect("signed");
    let site = world.lab.site("over.example", wrong).await.expect("free port");
    let id = world.watch("over.example", &site).await;
    mailbox.wait_for(1).await.expect("the alert arrives");
    site.renew(world.lab.certificate("over.example", 90).expect("signed")).expect("served");
    world.check_now("over.example", &site, &id).await;
    until("a mail that says so", async || {
        let said = |mail: &Mailed| bodies(mail).0.contains("RESOLVED over.example");
        mailbox.arrived().iter().any(said).then_some(())
    })
    .await;
    let threads: BTreeSet<String> = mailbox.arrived().iter().map(thread).collect();
    assert_eq!(threads.len(), 1, "its end is shown below its beginning: {threads:?}");
}

/// What the mail refers to.
fn thread(mail: &Mailed) -> String {
    let mut lines = mail.raw.lines();
    let line = lines.find_map(|line| line.strip_prefix("References: "));
    line.expect("a mail about one site").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_add_no_header_and_end_no_message() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    let name = format!(
        "=?utf-8?q?x?= \r\nBcc: victim@example.com\r\n\r\n{}\r\n.\r\nRSET <script>",
        ".".repeat(150)
    );
    let stranger = Authority::new(&name).expect("a name is any text");
    let certificate = stranger.issue(&Leaf::for_names(&["hostile.example"])).expect("signed");
    let site = world.lab.site("hostile.example", certificate).await.expect("free port");
    world.watch("hostile.example", &site).await;
    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(mail.to, ["ops@example.com"]);
    for name in ["from", "to", "subject", "date", "message-id", "mime-version", "content-type"] {
        assert_eq!(mail.header(name).len(), 1, "{name}\n{}", mail.raw);
    }
    assert!(mail.header("bcc").is_empty() && mail.header("cc").is_empty(), "{}", mail.raw);
    let stuffed = mail.stuffed.lines().filter(|line| line.starts_with('.'));
    assert!(stuffed.clone().all(|line| line.starts_with("..")), "{}", mail.stuffed);
    let (_, html) = bodies(&mail);
    assert!(!html.contains("<script"), "{html}");
    assert!(html.trim_end().ends_with("</html>"), "the message came whole: {html}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_asks_for_patience_is_tried_three_times_with_the_same_message() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    mailbox.answer_next(Verdict::Says("451 not now"));
    mailbox.answer_next(Verdict::Says("421 not now either"));
    let site = world.site("patience.example", 5).await;
    world.watch("patience.example", &site).await;
    let tries = mailbox.wait_for(3).await.expect("three tries");
    assert_eq!(tries.iter().map(|mail| mail.taken).collect::<Vec<_>>(), [false, false, true]);
    assert!(tries[0].raw == tries[1].raw && tries[1].raw == tries[2].raw);
    assert_eq!(tries[0].header("message-id"), tries[2].header("message-id"));
    for (pause, expected) in [(tries[1].at - tries[0].at, 1), (tries[2].at - tries[1].at, 3)] {
        let expected = Duration::from_secs(expected);
        assert!(waited(pause, expected), "{pause:?} instead of {expected:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_relay_ends_an_attempt_after_ten_seconds() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    mailbox.answer_next(Verdict::Hang);
    let site = world.site("silent.example", 5).await;
    world.watch("silent.example", &site).await;
    let tries = mailbox.wait_for(2).await.expect("silence is a failed try");
    // Ten seconds, which begin before the mail is here, and a pause of one.
    let pause = tries[1].at - tries[0].at;
    assert!(waited(pause, Duration::from_secs(7)), "{pause:?}");
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], 2, "it had the message: {log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_waits_for_a_relay_that_is_away_for_longer_than_three_attempts_take() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    mailbox.go_away();
    let failed = text(&world.send_test().await["message"]);
    assert!(failed.contains("email: the mail relay turned us away: 421"), "{failed}");
    let site = world.site("away.example", 5).await;
    world.watch("away.example", &site).await;
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    until("a fourth try", async || (mailbox.turned_away() > 4).then_some(())).await;
    let log = world.log(&alert, |log| log[0]["error"].is_string()).await;
    assert_eq!((&log[0]["state"], &log[0]["attempts"]), (&json!("pending"), &json!(0)), "{log:?}");
    until("what to do in the log", async || {
        world.service.output().contains("see to the mail relay").then_some(())
    })
    .await;
    mailbox.come_back();
    mailbox.wait_for(1).await.expect("what waited arrives");
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], 1, "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_mail_fails_for_good_and_the_alert_stays() {
    let (mailbox, world) = start(&["ops@example.com"]).await;
    mailbox.answer_next(Verdict::Says("550 no such words here"));
    let site = world.site("refused.example", 5).await;
    world.watch("refused.example", &site).await;
    until("the failure in the log", async || {
        world.service.output().contains("no such words here").then_some(())
    })
    .await;
    assert_eq!(mailbox.arrived().len(), 1, "it is not tried again");
    world.open_alerts(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_the_relay_refuses_keeps_it_from_nobody() {
    let five = ["a@x.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example"];
    let (mailbox, world) = start(&five).await;
    mailbox.refuse("b@x.example", "550 no such user");
    mailbox.refuse("d@x.example", "450 mailbox is locked");
    let site = world.site("five.example", 5).await;
    world.watch("five.example", &site).await;
    until("three tries of the locked one", async || {
        (mailbox.named("d@x.example") == 3).then_some(())
    })
    .await;
    let taken = mailbox.arrived();
    let mut recipients: Vec<String> = taken.iter().flat_map(|mail| mail.to.clone()).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, ["a@x.example", "c@x.example", "e@x.example"], "each has it once");
    assert_eq!(mailbox.named("b@x.example"), 1, "who was refused for good is not tried again");
    for mail in &taken {
        assert_eq!(mail.header("to"), mail.to, "nobody learns of the others");
    }
    let mut ids: Vec<String> = taken.iter().flat_map(|mail| mail.header("message-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["state"] == "failed").await;
    let error = text(&log[0]["error"]);
    for part in ["b@x.example: ", "no such user", "d@x.example: ", "mailbox is locked"] {
        assert!(error.contains(part), "{part}: {error}");
    }

    let failed = text(&world.send_test().await["message"]);
    assert!(failed.contains("email"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_the_relay_lets_wait_takes_the_mail_from_nobody() {
    let (mailbox, world) = start(&["a@x.example", "b@x.example", "c@x.example"]).await;
    mailbox.hush("a@x.example");
    let site = world.site("waits.example", 5).await;
    world.watch("waits.example", &site).await;
    let taken = mailbox.wait_for(3).await.expect("each has it");
    let mut quick: Vec<String> = taken[..2].iter().flat_map(|mail| mail.to.clone()).collect();
    quick.sort_unstable();
    assert_eq!(quick, ["b@x.example", "c@x.example"]);
    assert_eq!(taken[2].to, ["a@x.example"], "in the next attempt");
    // Else they would come a second before the next attempt, and not ten.
    let before = taken[2].at - taken[1].at;
    assert!(before > Duration::from_secs(2), "they do not wait for its time to be up: {before:?}");
    let named = ["a@x.example", "b@x.example", "c@x.example"].map(|to| mailbox.named(to));
    assert_eq!(named, [2, 1, 1], "who has it gets no further attempt");
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], 2, "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_relay_of_one_connection_at_a_time_brings_the_mail_to_all() {
    in_some_round("the mail comes to all over one connection", async |_| {
        one_connection_brings_it_to_all().await
    })
    .await;
}

/// Whether all have the mail in one attempt, over the one connection that the relay admits. A machine
/// can be too busy for it to answer in time there: then another connection is turned away.
async fn one_connection_brings_it_to_all() -> bool {
    let five = ["a@x.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example"];
    let (mailbox, world) = start(&five).await;
    mailbox.admit_one_at_a_time();
    let taken = Arc::new(Notify::new());
    mailbox.answer_next(Verdict::Held(Arc::clone(&taken)));
    let site = world.site("single.example", 5).await;
    world.watch("single.example", &site).await;
    until("a connection beside the first", async || (mailbox.turned_away() > 0).then_some(()))
        .await;
    taken.notify_one();
    let mails = mailbox.wait_for(5).await.expect("each has it");
    let order: Vec<&str> = mails.iter().flat_map(|mail| &mail.to).map(String::as_str).collect();
    // Which of the first two comes to the relay's door first is theirs to settle.
    let [first, turned_away] = if order[0] == five[0] { [0, 1] } else { [1, 0] };
    let who_was_turned_away_is_last = [first, 2, 3, 4, turned_away].map(|place| five[place]);
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    let told = (&log[0]["attempts"], mailbox.turned_away());
    println!("{order:?}, attempts and connections turned away: {told:?}");
    order == who_was_turned_away_is_last && told == (&json!(1), 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_begins_no_further_mail_and_nobody_is_told_twice() {
    let five = ["a@x.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example"];
    let (mailbox, mut world) = start(&five).await;
    let under_way = [(); 2].map(|()| Arc::new(Notify::new()));
    for taken in &under_way {
        mailbox.answer_next(Verdict::Held(Arc::clone(taken)));
    }
    let site = world.site("stopped.example", 5).await;
    world.watch("stopped.example", &site).await;
    mailbox.wait_for(2).await.expect("one, and one beside it");
    let alert = text(&world.open_alerts(1).await[0]["id"]);

    let api = world.service.api;
    let taken = async {
        // Its listeners close with the stop.
        until("the stop to begin", async || TcpStream::connect(api).await.is_err().then_some(()))
            .await;
        for taken in &under_way {
            taken.notify_one();
        }
    };
    let (code, ()) = tokio::join!(world.service.stop(), taken);
    assert_eq!(code.expect("stops"), Some(0));
    assert_eq!(mailbox.arrived().len(), 2);

    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    mailbox.wait_for(5).await.expect("the others get theirs");
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], 1, "{log:?}");
    assert_eq!(five.map(|to| mailbox.named(to)), [1; 5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_are_mailed_fifty_times_a_day_and_no_more() {
    let recipients = ["a@x.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example"];
    let (mailbox, world) = start(&recipients).await;
    world.hook().await;
    for _ in 0..10 {
        let sent = world.send_test().await;
        assert_eq!(sent["channels"], json!(["email", "webhook"]), "{sent}");
    }
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["webhook"]), "the others are tried: {sent}");
    let said = text(&sent["message"]);
    assert!(said.contains("sent to webhook; not delivered: email: an account can send"), "{said}");
    assert_eq!(mailbox.wait_for(50).await.expect("they arrive").len(), 50);
    assert_eq!(world.lab.receiver.wait_for(11).await.expect("they arrive").len(), 11);

    let client = &world.owner.client;
    client.patch(PATH, json!({"custom_webhook_url": null})).await.expect(200);
    let refused = client.send(reqwest::Method::POST, PATH, None).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.number("retry-after") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_relay_the_test_call_says_so() {
    let world = World::start().await;
    switch_on(&world, &["ops@example.com"]).await;
    let client = &world.owner.client;
    let refused = client.send(reqwest::Method::POST, PATH, None).await.expect(503);
    assert!(text(&refused["message"]).contains("smtp.url"), "{refused}");
    world.hook().await;
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["webhook"]), "the others are still tried");
    assert!(text(&sent["message"]).contains("email"), "{sent}");
    world.lab.receiver.wait_for(1).await.expect("it arrives");
    let site = world.site("no-relay.example", 5).await;
    world.watch("no-relay.example", &site).await;
    world.lab.receiver.wait_for(2).await.expect("the alert goes out on the other channel");
    world.open_alerts(1).await;
}

/// A relay that takes mail encrypted only: with a certificate of the lab's authority, or of this
/// one.
async fn encrypted(stranger: Option<Authority>) -> (Mailbox, World) {
    let lab = Lab::start().await.expect("loopback has free ports");
    let authority = stranger.as_ref().unwrap_or(&lab.authority);
    let certificate = authority.issue(&Leaf::for_names(&["relay.example"])).expect("signed");
    let mailbox = Mailbox::encrypted(certificate).await.expect("free port");
    lab.dns.answer("relay.example", Reply::address(mailbox.address().ip()));
    let mut settings = lab.settings();
    let port = mailbox.address().port();
    settings.toml = relay_toml(&format!("smtp://relay.example:{port}?tls=required"));
    let service = Service::start(settings).await.expect("the service starts");
    let owner = service.account("owner@example.com", "pro").await.expect("accounts can be made");
    let world = World { lab, service, owner };
    switch_on(&world, &["ops@example.com"]).await;
    (mailbox, world)
}

#[tokio::test(flavor = "multi_thread")]
async fn starttls_is_spoken_with_a_relay_of_the_operators_root() {
    let (mailbox, world) = encrypted(None).await;
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["email"]), "{sent}");
    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);
    assert!(mail.encrypted);
    // The connection is kept for the next one.
    world.send_test().await;
    mailbox.wait_for(2).await.expect("it arrives");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_cannot_be_trusted_gets_no_mail() {
    let (mailbox, world) = encrypted(Some(Authority::new("Stranger").expect("a name"))).await;
    let failed = text(&world.send_test().await["message"]);
    assert!(failed.contains("email") && failed.contains("TLS"), "{failed}");
    assert_eq!(mailbox.arrived().len(), 0);
    assert_eq!(mailbox.named("ops@example.com"), 0);
}
