//! Much at once: what is listed, what is summarised, how often that is told.

use super::*;

#[test]
fn flood_is_told_by_its_worst_and_a_sentence_about_the_others() {
    let severity = |nth: u128| match nth {
        0..1290 => Severity::Warning,
        _ => Severity::Critical,
    };
    let all: Vec<Delivery> =
        (0..1333_u128).map(|nth| raise(nth, &alert(nth, nth % 987, severity(nth), 0))).collect();
    let gathering = gathered(&Lane { waiting: &all, ..EMPTY }, 9);
    assert_eq!((gathering.batches.len(), gathering.quiet_at), (1, at(19)));
    let batch = &gathering.batches[0];
    assert_eq!((batch.head.notices.len(), batch.summarised.len()), (100, 1234));
    assert!(batch.shared);
    let summary = batch.head.notices.last().expect("100 of them");
    assert!(summary.message.starts_with("1 234 more alerts on 987 sites; "), "{}", summary.message);
    assert_eq!((summary.severity, summary.site_id.0), (Severity::Warning, Uuid::nil()));
    let critical =
        batch.head.notices.iter().filter(|one| one.severity == Severity::Critical).count();
    assert_eq!(critical, 43, "the worst are listed");
}

#[test]
fn flood_on_a_channel_that_carries_one_ends_with_a_notification_of_its_own() {
    let all: Vec<Delivery> =
        (0..130_u128).map(|nth| raise(nth, &alert(nth, nth, Severity::Warning, 0))).collect();
    for (batch_max, notifications) in [(1, 100), (2, 99)] {
        let gathering = gathered(&Lane { waiting: &all, batch_max, ..EMPTY }, 9);
        assert_eq!((gathering.batches.len(), gathering.quiet_at), (notifications, at(19)));
        let sizes = gathering.batches.iter().map(|batch| batch.head.notices.len());
        assert!(sizes.max().is_some_and(|most| most <= batch_max), "{batch_max}");
        let last = gathering.batches.last().expect("they were counted");
        let summary = last.head.notices.last().expect("no notification says nothing");
        assert!(summary.message.starts_with("31 more alerts on 31 sites; "), "{}", summary.message);
        assert_eq!(last.summarised.len(), 31 - usize::from(batch_max == 1));
        assert!(last.shared);
    }
}

#[test]
fn what_is_raised_after_a_flood_waits_no_longer_than_ever() {
    let after = Lane { quiet_at: Some(at(19)), ..EMPTY };
    for (raised, goes, quiet_at) in [(9, 11, 19), (12, 14, 19), (16, 18, 20), (18, 19, 21)] {
        let one = [raise(1, &down(1, raised))];
        let lane = Lane { waiting: &one, ..after };
        assert_eq!(plan(&lane, at(raised)), Plan::Rest(at(goes)), "{raised}");
        let gathering = gathered(&lane, goes);
        let said = (gathering.batches.len(), gathering.quiet_at);
        assert_eq!(said, (1, at(quiet_at)), "{raised}: the flood's own window stays open");
    }
    // Left over when the flood was told.
    let left = [raise(1, &down(1, 0))];
    assert_eq!(plan(&Lane { waiting: &left, ..after }, at(10)), Plan::Rest(at(11)));
}

#[test]
fn what_is_more_than_can_be_listed_after_a_flood_waits_for_the_end_of_its_window() {
    let all: Vec<Delivery> = (0..101).map(|nth| raise(nth, &down(nth, 12))).collect();
    let after = Lane { waiting: &all, quiet_at: Some(at(19)), ..EMPTY };
    for now in [12, 14, 18] {
        assert_eq!(plan(&after, at(now)), Plan::Rest(at(19)), "{now}");
    }
    assert_eq!(gathered(&after, 19).quiet_at, at(29));
    let listed = Lane { waiting: &all[..100], ..after };
    assert_eq!(said(&gathered(&listed, 14))[0].len(), 100);
}

#[test]
fn flood_that_goes_on_is_told_six_times_a_minute() {
    let (mut waiting, mut quiet_at, mut told) = (Vec::new(), None, Vec::new());
    for second in 0..60_u32 {
        let alerts = (0..60_u32).map(|nth| down(u128::from(second * 60 + nth), second.into()));
        waiting.extend(alerts.map(|alert| raise(alert.id.0.as_u128(), &alert)));
        let lane = Lane { waiting: &waiting, quiet_at, ..EMPTY };
        if let Plan::Gather(gathering) = plan(&lane, at(second.into())) {
            quiet_at = Some(gathering.quiet_at);
            waiting.clear();
            told.push(second);
        }
    }
    assert_eq!(told, [0, 2, 12, 22, 32, 42, 52]);
}

#[test]
fn a_hundred_are_listed_without_a_summary() {
    let all: Vec<Delivery> = (0..100).map(|nth| raise(nth, &down(nth, 0))).collect();
    let gathering = gathered(&Lane { waiting: &all, ..EMPTY }, 9);
    assert_eq!(gathering.batches[0].head.notices.len(), 100);
    assert_eq!((gathering.batches[0].merged.len(), gathering.quiet_at), (99, at(11)));
}
