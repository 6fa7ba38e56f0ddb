//! Answers that are kept: for how long, and how they age.

use super::*;
use crate::fixture::{HOUR, rdap};

#[test]
fn kept_answer_is_dated_anew_and_asked_for_again_after_a_day() {
    let world = rdap_says(|| Ok(response(200, &rdap("example.com", LATER))));
    assert_eq!(world.check("example.com").days_remaining, Some(60));
    asked(&world);
    world.pass(20 * HOUR);
    assert_eq!(world.check("www.example.com").days_remaining, Some(59));
    assert_eq!(asked(&world), [""; 0]);
    // The next of the runs that are a day apart.
    world.pass(4 * HOUR);
    world.check("example.com");
    assert_eq!(asked(&world), [COM]);
}

#[test]
fn registration_that_ran_out_while_it_was_kept_is_asked_for_again() {
    let mut renewed = false;
    let world = World::new().http(move |url| {
        if url == IANA {
            return Err(NetError::Refused);
        }
        let until = if renewed { "2027-01-01T05:00:00Z" } else { "2026-01-01T05:00:00Z" };
        renewed = true;
        Ok(response(200, &rdap("example.com", until)))
    });
    assert_eq!(world.check("example.com").days_remaining, Some(0));
    world.pass(6 * HOUR);
    assert_eq!(world.check("example.com").days_remaining, Some(364));
}

#[test]
fn failure_is_kept_for_minutes_only() {
    let world = both_say(|| Ok(response(500, "")), || Err(NetError::Refused));
    world.check("example.com");
    asked(&world);
    world.pass(599);
    assert_eq!(error(&world.check("example.com")), "registry_unavailable");
    assert_eq!(asked(&world), [""; 0]);
    world.pass(1);
    world.check("example.com");
    assert_eq!(asked(&world).first().map(String::as_str), Some(COM));
}

#[test]
fn denial_is_kept_like_a_failure_so_that_whois_is_not_asked_by_every_run() {
    let denied = || Ok(response(403, ""));
    let refused = both_say(denied, || Err(NetError::Refused));
    for world in [refused, both_say(denied, not_found)] {
        assert_eq!(error(&world.check("example.com")), "rate_limited");
        asked(&world);
        world.pass(599);
        assert_eq!(error(&world.check("example.com")), "rate_limited");
        assert_eq!(asked(&world), [""; 0]);
        world.pass(1);
        assert_eq!(error(&world.check("example.com")), "rate_limited");
        let questions = asked(&world);
        assert!(questions.iter().any(|question| question.contains(DOT_COM)), "{questions:?}");
        assert!(!questions.contains(&COM.to_owned()), "RDAP is left alone for longer");
    }
}

#[test]
fn registration_that_has_lapsed_is_asked_for_again_after_an_hour() {
    let mut renewed = false;
    let world = World::new().http(move |url| {
        if url == IANA {
            return Err(NetError::Refused);
        }
        let until = if renewed { "2026-12-31T00:00:00Z" } else { "2025-12-31T00:00:00Z" };
        renewed = true;
        Ok(response(200, &rdap("example.com", until)))
    });
    let seen = world.run("example.com").expect("the check works");
    let hour = Some(std::time::Duration::from_secs(3_600));
    assert_eq!((seen.facts.days_remaining, seen.next_run_in), (Some(-1), hour));
    world.pass(HOUR - 1);
    let seen = world.run("example.com").expect("the check works");
    assert_eq!((seen.facts.days_remaining, seen.next_run_in), (Some(-2), hour));
    world.pass(1);
    let seen = world.run("example.com").expect("the check works");
    assert_eq!((seen.facts.days_remaining, seen.next_run_in), (Some(363), None));
}
