//! How many places an agent looks at, and which of them make room for others.

use super::*;

/// The hosts of these places.
fn hosts(seen: &[Sighting]) -> BTreeSet<&str> {
    seen.iter().map(|one| one.place.host.as_str()).collect()
}

#[test]
fn what_there_is_no_room_for_is_left_out_and_all_else_is_noted() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let seen = |host: &str, at| sighting(&account, id, host, noon() + seconds(at));
        let note = async |seen: &[Sighting]| {
            store.note_report(account.id, id, seen, 3, noon() + seconds(9)).await.unwrap()
        };
        let both = [seen("db01", 0), seen("db02", 0)];
        assert_eq!(note(&both).await, BTreeSet::new());
        let more = ["db03", "db01", "db04", "db02"].map(|host| seen(host, 1));
        assert_eq!(note(&more).await, BTreeSet::from([more[2].id]));
        let known = store.sightings(account.id).await.unwrap();
        assert_eq!(hosts(&known), BTreeSet::from(["db01", "db02", "db03"]));
        assert!(known.iter().all(|one| one.at == noon() + seconds(1)), "{known:?}");
        assert_eq!(note(&[seen("db05", 2)]).await.len(), 1);
        assert_eq!(note(&[seen("db01", 2)]).await, BTreeSet::new());
    });
}

#[test]
fn what_was_let_go_leaves_room_and_counts_again_when_it_is_named() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let seen = |host: &str, at| sighting(&account, id, host, noon() + seconds(at));
        let note = async |seen: Sighting| {
            let now = noon() + seconds(9);
            store.note_report(account.id, id, &[seen], 2, now).await.unwrap().is_empty()
        };
        assert!(note(seen("db01", 0)).await && note(seen("db02", 5)).await);
        assert!(!note(seen("db03", 6)).await);
        judged(&store, &account, &seen("db01", 0)).await;

        let both = [seen("db01", 0).id, seen("db02", 0).id];
        let let_go =
            async || store.let_go(account.id, id, &both, noon() + seconds(5)).await.unwrap();
        assert_eq!(let_go().await, 1, "the other was seen since");
        assert_eq!(let_go().await, 0, "it counts no more");
        let of_agent = store.sightings_of(account.id, id).await.unwrap();
        assert_eq!(hosts(&of_agent), BTreeSet::from(["db02"]));
        let all = store.sightings(account.id).await.unwrap();
        assert_eq!(hosts(&all), BTreeSet::from(["db02"]));
        assert_eq!(store.count_let_go(account.id, id).await.unwrap(), 1);
        let left = only(store.sightings_at(account.id, id, &["db01"]).await.unwrap());
        assert_eq!((&left.leaf, left.is_valid), (&None, true));
        // It stands there with all that was judged of it.
        let context = store.target_context(account.id, both[0], &ssl()).await.unwrap().unwrap();
        assert_eq!(context.open.len(), 2);

        assert!(note(seen("db03", 6)).await, "there is room");
        assert!(!note(seen("db01", 7)).await, "and no more of it");
        assert!(store.target_context(account.id, both[0], &ssl()).await.unwrap().is_some());
        let third = [seen("db03", 6).id];
        assert_eq!(store.let_go(account.id, id, &third, noon() + seconds(7)).await.unwrap(), 1);
        assert!(note(seen("db01", 8)).await, "it is back");
        assert_eq!(store.count_let_go(account.id, id).await.unwrap(), 1, "db03");
        let of_agent = store.sightings_of(account.id, id).await.unwrap();
        assert_eq!(hosts(&of_agent), BTreeSet::from(["db01", "db02"]));
        assert!(of_agent.iter().all(|one| one.leaf.is_some()), "{of_agent:?}");

        let stranger = signed_up(&store).await.id;
        assert!(store.sightings_of(stranger, id).await.unwrap().is_empty());
        assert_eq!(store.count_let_go(stranger, id).await.unwrap(), 0);
    });
}

#[test]
fn what_is_named_again_stays_however_old_its_look_is() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let named = |host: &str, at| Sighting {
            named_at: noon() + seconds(at),
            ..sighting(&account, id, host, noon())
        };
        let note = async |seen: &[Sighting], now: i64| {
            store.note_report(account.id, id, seen, 2, noon() + seconds(now)).await.unwrap();
        };
        note(&[named("db01", 0), named("db02", 0)], 0).await;
        note(&[named("db01", 9)], 9).await;
        // By the clock of a node that is behind.
        note(&[named("db01", 6)], 6).await;
        let both = [named("db01", 0).id, named("db02", 0).id];
        let gone = store.let_go(account.id, id, &both, noon() + seconds(7)).await.unwrap();
        assert_eq!(gone, 1, "db02");
        let left = only(store.sightings_of(account.id, id).await.unwrap());
        assert_eq!(left, named("db01", 9));
        // By a clock that was set back.
        note(&[named("db01", -60)], -60).await;
        let left = only(store.sightings_of(account.id, id).await.unwrap());
        assert_eq!(left, named("db01", -60));
    });
}

#[test]
fn a_look_from_before_brings_nothing_back_that_was_let_go() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let seen = |host: &str, at| sighting(&account, id, host, noon() + seconds(at));
        let note = async |seen: &[Sighting]| {
            store.note_report(account.id, id, seen, 2, noon() + seconds(9)).await.unwrap()
        };
        note(&[seen("db01", 1), seen("db02", 5)]).await;
        let first = [seen("db01", 0).id];
        store.let_go(account.id, id, &first, noon() + seconds(5)).await.unwrap();
        // The same again, and an earlier one.
        for at in [1, 0] {
            assert!(note(&[seen("db01", at)]).await.is_empty(), "it needs no room");
            assert_eq!(store.count_let_go(account.id, id).await.unwrap(), 1);
        }
        let more = [seen("db01", 1), seen("db03", 2), seen("db04", 6)];
        assert_eq!(note(&more).await, BTreeSet::from([more[1].id]), "it was seen before the other");
        let all = store.sightings(account.id).await.unwrap();
        assert_eq!(hosts(&all), BTreeSet::from(["db02", "db04"]));

        assert_eq!(note(&[seen("db01", 2)]).await, BTreeSet::from(first), "a later one does");
        let fourth = [more[2].id];
        store.let_go(account.id, id, &fourth, noon() + seconds(7)).await.unwrap();
        assert!(note(&[seen("db01", 2)]).await.is_empty(), "and there is room");
        let all = store.sightings(account.id).await.unwrap();
        assert_eq!(hosts(&all), BTreeSet::from(["db01", "db02"]));
        assert!(all.iter().all(|one| one.leaf.is_some()), "{all:?}");
    });
}

#[test]
fn what_is_named_no_more_is_looked_for_once_in_a_while_and_only_of_an_agent_that_reports() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let day = |days: i64| noon() + TimeDelta::days(days);
        let report =
            async |at: Timestamp| store.note_report(account.id, id, &[], 9, at).await.unwrap();
        let looks = async |at: Timestamp| {
            let (since, before) = (at - TimeDelta::days(7), at - TimeDelta::hours(1));
            store.looks_for_unnamed(account.id, id, since, before, at).await.unwrap()
        };
        assert!(!looks(day(9)).await, "it has never reported");
        for days in [0, 3, 6] {
            report(day(days)).await;
            assert!(!looks(day(days)).await, "{days} days");
        }
        report(day(7)).await;
        assert!(looks(day(7)).await);
        assert!(!looks(day(7) + TimeDelta::minutes(59)).await, "somebody did");
        assert!(looks(day(7) + TimeDelta::minutes(60)).await);
        // It was silent for longer, and begins anew.
        report(day(11)).await;
        assert!(!looks(day(11)).await);
        for days in [14, 17] {
            report(day(days)).await;
            assert!(!looks(day(days)).await, "{days} days");
        }
        report(day(18)).await;
        assert!(looks(day(18)).await);
        let stranger = signed_up(&store).await.id;
        let theirs = store.looks_for_unnamed(stranger, id, day(18), day(18), day(19)).await;
        assert!(!theirs.unwrap());
    });
}
