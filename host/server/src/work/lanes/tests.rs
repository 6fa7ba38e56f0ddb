use std::ops::Range;

use super::{
    room::{MOST_HELD, ROOM_OF_DOUBTFUL, ROOM_OF_SLOW},
    *,
};
use crate::work::sample::{at, delivery};

fn starts(lanes: &mut Lanes, delivery: Delivery) -> bool {
    matches!(lanes.place(delivery, at(0)), Placed::Start(_))
}

#[test]
fn slow_receiver_delays_nobody_else() {
    let mut lanes = Lanes::default();
    assert!(starts(&mut lanes, delivery(1, "webhook", 1)));
    assert!(!starts(&mut lanes, delivery(1, "webhook", 2)));
    assert!(starts(&mut lanes, delivery(1, "slack", 3)));
    assert!(starts(&mut lanes, delivery(2, "webhook", 4)));
}

#[test]
fn deliveries_of_a_receiver_go_out_in_their_order() {
    let mut lanes = Lanes::default();
    for id in 1..=3 {
        lanes.place(delivery(1, "webhook", id), at(0));
    }
    let slow = receiver(&delivery(1, "webhook", 1));
    let mut next = || lanes.back(&slow, at(1)).map(|(delivery, _)| delivery.id.0.as_u128());
    assert_eq!([next(), next(), next()], [Some(2), Some(3), None]);
    assert_eq!((lanes.held(), lanes.lanes.len()), (0, 0));
}

#[test]
fn further_attempt_waits_for_nobody_and_the_lane_is_free_after_the_last() {
    let mut lanes = Lanes::default();
    let again = |id| Delivery { attempt: 1, ..delivery(1, "webhook", id) };
    let lane = receiver(&delivery(1, "webhook", 1));
    assert!(starts(&mut lanes, delivery(1, "webhook", 1)));
    assert!(starts(&mut lanes, again(2)));
    assert!(!starts(&mut lanes, delivery(1, "webhook", 3)));
    assert_eq!(lanes.held(), 3);
    assert!(lanes.back(&lane, at(1)).is_none(), "one is still out");
    assert!(lanes.sort(vec![lane.clone()], at(1)).free.is_empty());
    assert!(lanes.back(&lane, at(1)).is_some());
    assert!(lanes.back(&lane, at(1)).is_none());
    assert_eq!((lanes.held(), lanes.lanes.len()), (0, 0));
}

#[test]
fn full_queue_comes_back_as_soon_as_its_receiver_is_quick() {
    let mut lanes = Lanes::default();
    for id in 0..=MOST_WAITING as u128 {
        let placed = lanes.place(delivery(1, "webhook", id), at(0));
        assert!(!matches!(placed, Placed::Full(..)), "{id}");
    }
    assert_eq!(lanes.room(), MOST_HELD - MOST_WAITING - 1);
    let mut wait = |seconds| match lanes.place(delivery(1, "webhook", 99), at(seconds)) {
        Placed::Full(_, wait) => wait,
        Placed::Start(_) | Placed::Waits => panic!("the queue is full"),
    };
    assert_eq!([wait(0), wait(2), wait(9)], [SHORTEST_WAIT, Duration::from_secs(2), LONGEST_WAIT]);
}

#[test]
fn delivery_whose_lease_is_ending_is_not_begun() {
    let mut lanes = Lanes::default();
    lanes.place(delivery(1, "webhook", 1), at(0));
    lanes.place(delivery(1, "webhook", 2), at(0));
    lanes.place(delivery(1, "webhook", 3), at(10));
    let slow = receiver(&delivery(1, "webhook", 1));
    let next = lanes.back(&slow, at(45));
    let next = next.map(|(delivery, leased)| (delivery.id.0.as_u128(), leased));
    assert_eq!(next, Some((3, at(10))));
    assert_eq!(lanes.held(), 1);
}

#[test]
fn lane_that_is_out_or_rests_is_not_gathered() {
    let mut lanes = Lanes::default();
    let lane = |account| receiver(&delivery(account, "webhook", 1));
    let waiting = || vec![lane(1), lane(2), lane(1), lane(3)];
    assert_eq!(lanes.sort(waiting(), at(0)).free, [lane(1), lane(2), lane(3)]);
    lanes.begin(&lane(1), at(0));
    lanes.rest(&lane(1), at(2));
    lanes.rest(&lane(3), at(5));
    let sorted = lanes.sort(waiting(), at(1));
    assert_eq!((sorted.free, sorted.stuck.len()), (vec![lane(2)], 2));
    assert_eq!(sorted.stuck[&lane(1)], at(2), "as long again as it has been out");
    assert_eq!((sorted.stuck[&lane(3)], sorted.next), (at(5), Some(at(5))));

    assert!(lanes.back(&lane(1), at(1)).is_none());
    assert_eq!(lanes.sort(waiting(), at(1)).next, Some(at(2)), "it rests still");
    assert_eq!(lanes.sort(waiting(), at(2)).free, [lane(1), lane(2)]);
    lanes.wake(&lane(3));
    assert_eq!(lanes.sort(waiting(), at(2)).free, [lane(1), lane(2), lane(3)]);
    assert_eq!(lanes.held(), 0);
}

#[test]
fn lane_is_in_the_way_when_much_of_what_waits_is_its_own() {
    let mut lanes = Lanes::default();
    let (slow, free) = (receiver(&delivery(1, "webhook", 1)), receiver(&delivery(2, "webhook", 2)));
    lanes.begin(&slow, at(0));
    let mut waiting = vec![slow.clone(); IN_THE_WAY - 1];
    waiting.extend(vec![free; IN_THE_WAY]);
    let sorted = lanes.sort(waiting.clone(), at(1));
    assert_eq!(sorted.in_the_way(&waiting), None, "it is counted by what waits, not by lanes");
    waiting.push(slow.clone());
    let sorted = lanes.sort(waiting.clone(), at(1));
    assert_eq!(sorted.in_the_way(&waiting), Some(vec![(slow, at(2))]));
}

/// An attempt goes out to each of them, and ends.
fn tries(lanes: &mut Lanes, receivers: &[Receiver], began: Timestamp, ended: Timestamp) {
    receivers.iter().for_each(|receiver| lanes.begin(receiver, began));
    for receiver in receivers {
        let took = (ended - began).to_std().expect("it ends later");
        lanes.tried(receiver, took, ended);
        assert!(lanes.back(receiver, ended).is_none());
    }
}

#[test]
fn receiver_is_slow_by_what_he_took_and_not_by_how_long_the_batch_was_out() {
    let mut lanes = Lanes::default();
    let quick = receiver(&delivery(1, "webhook", 1));
    lanes.begin(&quick, at(0));
    lanes.tried(&quick, Duration::from_secs(1), at(300));
    assert_eq!(lanes.known.standing(&quick), Standing::Quick, "the database was away meanwhile");
}

fn webhooks(accounts: Range<usize>) -> Vec<Receiver> {
    accounts.map(|account| receiver(&delivery(account as u128, "webhook", 1))).collect()
}

#[test]
fn receivers_that_were_quick_find_room_however_many_others_hang() {
    let mut lanes = Lanes::default();
    let (hang, quick) = (webhooks(0..2 * MOST_HELD), webhooks(9000..9100));
    tries(&mut lanes, &quick, at(0), at(1));
    let all = || [hang.clone(), quick.clone()].concat();
    let sorted = lanes.sort(all(), at(1));
    let (first, rest) = sorted.free.split_at(ROOM_OF_DOUBTFUL);
    assert_eq!((first, rest), (&hang[..ROOM_OF_DOUBTFUL], &quick[..]));
    assert_eq!(sorted.next, Some(at(3)));

    first.iter().for_each(|receiver| lanes.begin(receiver, at(1)));
    assert_eq!(lanes.sort(all(), at(1)).free, quick, "also when they are on their way");
    let left_out = lanes.place(delivery(ROOM_OF_DOUBTFUL as u128, "webhook", 1), at(1));
    assert!(matches!(left_out, Placed::Full(_, wait) if wait == CROWDED_WAIT));
    assert!(starts(&mut lanes, delivery(9000, "webhook", 1)));
}

#[test]
fn slow_receivers_leave_room_to_those_of_whom_nothing_is_known() {
    let mut lanes = Lanes::default();
    let (slow, new) = (webhooks(0..MOST_HELD), webhooks(9000..9001));
    tries(&mut lanes, &slow, at(0), at(10));
    let sorted = lanes.sort([slow.clone(), new.clone()].concat(), at(10));
    assert_eq!(sorted.free, [&slow[..ROOM_OF_SLOW], &new[..]].concat());
    // Who was quick is slow no longer.
    tries(&mut lanes, &sorted.free, at(10), at(11));
    let sorted = lanes.sort(slow.clone(), at(11));
    assert_eq!(sorted.free.len(), 2 * ROOM_OF_SLOW);
    assert_eq!(lanes.held(), 0);
}

#[test]
fn lane_that_had_nothing_to_send_says_nothing_of_its_receiver() {
    let mut lanes = Lanes::default();
    let slow = webhooks(1..2);
    tries(&mut lanes, &slow, at(0), at(10));
    lanes.begin(&slow[0], at(20));
    assert!(lanes.back(&slow[0], at(20)).is_none());
    assert_eq!(lanes.known.standing(&slow[0]), Standing::Slow);
}

#[test]
fn rest_from_before_the_clock_was_set_back_is_over() {
    let mut lanes = Lanes::default();
    let lane = receiver(&delivery(1, "webhook", 1));
    lanes.rest(&lane, at(3602));
    assert_eq!(lanes.sort(vec![lane.clone()], at(0)).free, [lane]);
}

#[test]
fn batch_waits_while_its_lane_is_gathered() {
    let mut lanes = Lanes::default();
    lanes.begin(&receiver(&delivery(1, "webhook", 1)), at(0));
    assert!(!starts(&mut lanes, delivery(1, "webhook", 2)));
    let next = lanes.back(&receiver(&delivery(1, "webhook", 1)), at(1));
    assert_eq!(next.map(|(delivery, _)| delivery.id.0.as_u128()), Some(2));
}

#[test]
fn draining_leaves_those_that_are_out() {
    let mut lanes = Lanes::default();
    lanes.place(delivery(1, "webhook", 1), at(0));
    lanes.place(delivery(1, "webhook", 2), at(0));
    lanes.place(delivery(2, "webhook", 3), at(0));
    assert_eq!(lanes.drain().len(), 1);
    assert_eq!(lanes.held(), 2);
}
