//! Servers that ask to be left alone.

use super::*;
use crate::{
    fixture::{self, HOUR},
    result::Source,
};

#[test]
fn name_that_was_throttled_is_not_asked_for_six_hours() {
    for (status, retry_after, hours) in
        [(429, None, 6), (429, Some("120"), 6), (403, Some("120"), 6), (429, Some("36000"), 10)]
    {
        let world = rdap_says(move || {
            let headers = retry_after.map(|v| ("retry-after".to_owned(), v.to_owned()));
            Ok(Response { headers: headers.into_iter().collect(), ..response(status, "") })
        });
        let wait = |hours: i64| Some(std::time::Duration::from_secs((hours * HOUR) as u64));
        let seen = world.run("example.com").expect("the check works");
        assert_eq!((error(&seen.facts), seen.next_run_in), ("rate_limited", wait(hours)));
        assert_eq!(asked(&world), [COM], "WHOIS is the same registry's");
        world.pass(HOUR);
        let seen = world.run("example.com").expect("the check works");
        assert_eq!((error(&seen.facts), seen.next_run_in), ("rate_limited", wait(hours - 1)));
        assert_eq!(asked(&world), [""; 0]);
        world.pass((hours - 1) * HOUR);
        world.check("example.com");
        assert_eq!(asked(&world), [COM]);
    }
}

#[test]
fn registry_that_throttles_again_and_again_is_left_alone() {
    let world = rdap_says(|| Ok(response(429, "")));
    for target in ["a.com", "b.com", "c.com", "d.com", "e.com"] {
        assert_eq!(error(&world.check(target)), "rate_limited");
        assert_eq!(asked(&world).len(), 1, "{target}");
    }
    for target in ["a.com", "f.com"] {
        assert_eq!(error(&world.check(target)), "rate_limited");
        assert_eq!(asked(&world), [""; 0], "{target}");
    }
}

#[test]
fn retry_after_may_be_a_date() {
    let world = rdap_says(|| {
        let headers = vec![("retry-after".to_owned(), "Thu, 01 Jan 2026 08:00:00 GMT".to_owned())];
        Ok(Response { headers, ..response(429, "") })
    });
    let seen = world.run("example.com").expect("the check works");
    assert_eq!(seen.next_run_in.map(|wait| wait.as_secs()), Some(8 * 3_600));
}

#[test]
fn whois_server_that_throttled_a_name_is_not_asked_for_it() {
    let world = both_say(
        || Ok(response(500, "")),
        || Ok("% Query rate limit exceeded. Please try again later.\r\n".to_owned()),
    );
    let seen = world.run("example.com").expect("the check works");
    assert_eq!(error(&seen.facts), "rate_limited");
    assert_eq!(seen.next_run_in.map(|wait| wait.as_secs()), Some(6 * 3_600));
    asked(&world);
    world.pass(6 * HOUR - 1);
    assert_eq!(error(&world.check("example.com")), "rate_limited");
    let questions = asked(&world);
    assert!(questions.iter().all(|question| !question.contains(DOT_COM)), "{questions:?}");
    world.pass(1);
    world.check("example.com");
    assert!(asked(&world).iter().any(|question| question.contains(DOT_COM)));
    // Not asking is no reason to doubt RDAP.
    let world = both_say(|| Ok(response(404, "")), || Ok(String::new()));
    assert_eq!(error(&world.check("example.com")), "domain_not_found");
}

#[test]
fn server_that_denies_us_leaves_the_question_to_whois() {
    let whois = || Ok(fixture::thin("example.com", LATER, DOT_COM));
    let world = both_say(|| Ok(response(403, "")), whois);
    let seen = world.check("example.com");
    assert_eq!(
        (error(&seen), seen.days_remaining, seen.source),
        ("", Some(60), Some(Source::Whois))
    );
    // Without WHOIS it is not known how the name stands.
    let world = rdap_says(|| Ok(response(403, ""))).whois(|_, tld| Ok(iana(tld, None)));
    assert_eq!(error(&world.check("example.com")), "rate_limited");
    assert_eq!(asked(&world)[0], COM);
    world.pass(6 * HOUR - 1);
    assert_eq!(error(&world.check("example.com")), "rate_limited");
    assert!(!asked(&world).contains(&COM.to_owned()), "it is left alone with that name");
    world.pass(600);
    world.check("example.com");
    assert_eq!(asked(&world)[0], COM);
    let world = both_say(|| Ok(response(403, "")), || Err(NetError::Refused));
    assert_eq!(error(&world.check("example.com")), "rate_limited");
}

#[test]
fn name_that_whois_alone_does_not_know_is_not_gone_where_rdap_denies_us() {
    let world = both_say(|| Ok(response(403, "")), not_found);
    assert_eq!(error(&world.check("example.com")), "rate_limited");
    // An RDAP server that is away does not hold it back.
    let world = both_say(|| Ok(response(500, "")), not_found);
    assert_eq!(error(&world.check("example.com")), "domain_not_found");
}
