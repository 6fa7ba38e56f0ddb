use super::*;
use crate::{ChannelDescriptor, NoConfig};

/// Says again what a stranger wrote, a delivery for each alert, to an address of its own choice.
struct Parrot;

impl Notify for Parrot {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "acme.parrot",
            version: "1.0.0",
            title: "Parrot",
            description: "",
            secret_fields: &["parrot_url"],
            batch_max: 100,
        }
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let say = |alert: &Alert| HttpDelivery::post_json("ref:elsewhere", &alert.message);
        notification.alerts.iter().map(|alert| say(alert).map(Delivery::Http)).collect()
    }
}

#[test]
fn words_of_strangers_stand_in_every_alert() {
    for (words, told) in hostile() {
        assert!(HOSTILE.contains(&words));
        assert!(told.alerts.iter().all(|alert| alert.domain == words && alert.message == words));
    }
    assert_eq!(hostile().len(), 2 * HOSTILE.len());
}

#[test]
fn replies_and_bodies_are_the_channels_own() {
    assert_eq!(body::<Parrot>(notification(vec![alert()])), "the certificate expires in 5 days");
    assert_eq!(bodies::<Parrot>(notification(vec![alert(); 32])).len(), 32);
    assert_eq!(answered::<Parrot>(429, &[("Retry-After", "7")], ""), Verdict::Retry(Some(7)));
    assert_eq!(refusal::<Parrot>(410, "<html>"), "answered 410");
    assert_pure::<Parrot>();
}

#[test]
#[should_panic(expected = "33 deliveries")]
fn more_deliveries_than_the_host_takes_fail_the_test() {
    rendered::<Parrot>(notification(vec![alert(); 33]));
}

#[test]
#[should_panic(expected = "bytes")]
fn larger_deliveries_than_the_host_takes_fail_the_test() {
    let long = Alert { message: "x".repeat(1 << 20), ..alert() };
    rendered::<Parrot>(notification(vec![long]));
}

#[test]
#[should_panic(expected = "Bcc")]
fn words_that_go_out_as_they_came_fail_the_test() {
    assert_clean::<Parrot>();
}

#[test]
#[should_panic(expected = "ref:elsewhere")]
fn address_of_another_field_fails_the_test() {
    assert_posts_json::<Parrot>("parrot_url");
}

#[test]
#[should_panic(expected = "Retry(None)")]
fn reply_that_is_not_final_fails_a_test_of_refusals() {
    refusal::<Parrot>(500, "");
}
