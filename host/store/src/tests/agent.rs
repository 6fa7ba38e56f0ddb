//! Agents, and what they look at.

mod room;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use vedette_model::agent::{Agent, Certificate, NewAgent, Place, Registration, Sighting};
use vedette_model::delivery::queue;
use vedette_model::{AgentId, AlertFilter, IncidentFilter, NotificationSettings};

use super::*;
use crate::Error;
use crate::agent::RETIRE;
use crate::key;
use crate::tx::Binds;

fn agent(account: &Account, body: Value) -> NewAgent {
    NewAgent::parse(&body, AgentId(Uuid::new_v4()), account.id, 10, noon()).unwrap()
}

/// An agent that exists, with the hash of its key.
async fn with_agent(store: &Store, account: &Account) -> (AgentId, String) {
    let agent = agent(account, json!({}));
    let hash = Uuid::new_v4().to_string();
    store.create_agent(&agent, &hash, 10).await.unwrap();
    (agent.id, hash)
}

fn certificate(days: i64) -> Certificate {
    Certificate {
        subject: "CN=db01".to_owned(),
        issuer: "CN=Corp CA".to_owned(),
        serial_number: None,
        not_before: None,
        not_after: noon() + TimeDelta::days(days),
        fingerprint_sha256: None,
        san: vec!["db01".to_owned()],
        is_valid: None,
        error: None,
    }
}

fn sighting(account: &Account, agent_id: AgentId, host: &str, at: Timestamp) -> Sighting {
    let place = Place { host: host.to_owned(), port: 443, beside: None };
    Sighting {
        id: place.id(account.id, agent_id),
        agent_id,
        place,
        leaf: Some(certificate(5)),
        is_valid: true,
        error: None,
        at,
        named_at: at,
    }
}

/// A run of the ssl check of what an agent looks at.
async fn judged(store: &Store, account: &Account, seen: &Sighting) -> Decision {
    let context = store.target_context(account.id, seen.id, &ssl()).await.unwrap().unwrap();
    let run = record(&context.site, &ssl(), seen.at);
    let run = CheckRecord { source: Source::Agent, ..run };
    let found = vec![finding("ssl.expiring", "expiring"), changed("f1")];
    let decision = decide(&context, run, found);
    let settings = NotificationSettings {
        custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
        ..NotificationSettings::default()
    };
    let deliveries = queue(&decision, account, &settings, noon());
    let commit =
        Commit { deliveries: &deliveries, ..plain(account, context.state.version, &decision) };
    store.commit(commit).await.unwrap();
    decision
}

#[test]
fn an_agent_is_found_by_its_key_until_it_is_deleted() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, hash) = with_agent(&store, &account).await;
        let found = store.agent_of_key(&hash).await.unwrap().unwrap();
        assert_eq!((found.id, &*found.account), (id, &account));
        assert_eq!(store.agent_of_key("other").await.unwrap(), None);
        let made = only(store.agents(account.id).await.unwrap());
        assert_eq!((made.name.as_str(), made.last_seen_at), ("agent-1", None));

        let said = Registration {
            name: Some("dc1".to_owned()),
            hostname: Some("db01".to_owned()),
            interval_seconds: Some(60),
            ..Registration::default()
        };
        assert!(store.register_agent(account.id, id, &said, noon()).await.unwrap());
        let nothing = Registration::default();
        assert!(store.register_agent(account.id, id, &nothing, noon() + seconds(1)).await.unwrap());
        let known = only(store.agents(account.id).await.unwrap());
        let expected = Agent {
            name: "dc1".to_owned(),
            hostname: Some("db01".to_owned()),
            interval_seconds: 60,
            last_seen_at: Some(noon() + seconds(1)),
            ..made
        };
        assert_eq!(known, expected);
        // By the clock of a node that is behind.
        assert!(store.register_agent(account.id, id, &nothing, noon()).await.unwrap());
        store.note_report(account.id, id, &[], 9, noon()).await.unwrap();
        assert_eq!(store.agents(account.id).await.unwrap(), std::slice::from_ref(&expected));
        let last_seen_at = Some(noon() + seconds(2));
        store.note_report(account.id, id, &[], 9, noon() + seconds(2)).await.unwrap();
        let later = only(store.agents(account.id).await.unwrap());
        assert_eq!(later, Agent { last_seen_at, ..expected.clone() });
        // By a clock that was set back.
        let last_seen_at = Some(noon() - seconds(60));
        store.note_report(account.id, id, &[], 9, noon() - seconds(60)).await.unwrap();
        let earlier = only(store.agents(account.id).await.unwrap());
        assert_eq!(earlier, Agent { last_seen_at, ..expected });

        let stranger = signed_up(&store).await.id;
        assert!(!store.delete_agent(stranger, id).await.unwrap());
        assert!(!store.register_agent(stranger, id, &said, noon()).await.unwrap());
        assert!(store.agents(stranger).await.unwrap().is_empty());
        assert!(store.delete_agent(account.id, id).await.unwrap());
        assert!(!store.delete_agent(account.id, id).await.unwrap());
        assert_eq!(store.agent_of_key(&hash).await.unwrap(), None);
        assert!(!store.register_agent(account.id, id, &said, noon()).await.unwrap());
        let report = store.note_report(account.id, id, &[], 9, noon()).await;
        assert!(matches!(report, Err(Error::Gone)), "{report:?}");
    });
}

#[test]
fn agents_are_made_up_to_the_limit_each_with_a_name_of_its_own() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let make = {
            let (store, account) = (store.clone(), account.clone());
            move |nth: usize| {
                let (store, new) = (store.clone(), agent(&account, json!({})));
                async move { store.create_agent(&new, &format!("h{nth}"), 10).await }
            }
        };
        let answers = at_once(24, make).await;
        assert_eq!(answers.iter().filter(|one| matches!(one, Err(Error::AgentLimit))).count(), 14);
        let names: BTreeSet<String> = answers.into_iter().filter_map(Result::ok).collect();
        let all = agent(&account, json!({})).names;
        assert_eq!(names, BTreeSet::from_iter(all));

        let agents = store.agents(account.id).await.unwrap();
        let third = agents.iter().find(|agent| agent.name == "agent-3").unwrap();
        assert!(store.delete_agent(account.id, third.id).await.unwrap());
        let next = agent(&account, json!({}));
        let name = store.create_agent(&next, "next", 10).await.unwrap();
        assert_eq!(name, "agent-3", "the next number that is free");
        assert!(store.delete_agent(account.id, next.id).await.unwrap());
        let chosen = agent(&account, json!({"name": "agent-1"}));
        let name = store.create_agent(&chosen, "chosen", 10).await.unwrap();
        assert_eq!(name, "agent-1", "whoever chooses a name has it");
    });
}

#[test]
fn a_report_may_come_twice_and_late() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let first = sighting(&account, id, "db01", noon());
        let gone = Sighting {
            leaf: None,
            is_valid: false,
            error: Some("connection_refused".to_owned()),
            ..sighting(&account, id, "db01", noon() + seconds(9))
        };
        let late = Sighting {
            leaf: Some(certificate(1)),
            ..sighting(&account, id, "db01", noon() + seconds(5))
        };
        let now = noon() + seconds(9);
        let note = async |seen: &[Sighting]| store.note_report(account.id, id, seen, 2, now).await;
        note(&[]).await.unwrap();
        assert!(store.sightings(account.id).await.unwrap().is_empty());
        for _ in 0..2 {
            note(std::slice::from_ref(&first)).await.unwrap();
            assert_eq!(store.sightings(account.id).await.unwrap(), std::slice::from_ref(&first));
        }
        note(std::slice::from_ref(&gone)).await.unwrap();
        // The certificate that was seen last stays.
        let expected = Sighting { leaf: first.leaf.clone(), ..gone.clone() };
        assert_eq!(store.sightings(account.id).await.unwrap(), std::slice::from_ref(&expected));
        note(&[late, sighting(&account, id, "db02", noon())]).await.unwrap();
        let seen = store.sightings(account.id).await.unwrap();
        assert_eq!(seen.len(), 2);
        assert!(seen.contains(&expected), "{seen:?}");

        note(std::slice::from_ref(&first)).await.unwrap();
        assert_eq!(store.sightings(account.id).await.unwrap().len(), 2);
        let agent = only(store.agents(account.id).await.unwrap());
        assert_eq!(agent.last_seen_at, Some(now));

        // What was told by a clock that has been set back since is not later than what is told now.
        let earlier = noon() - seconds(60);
        let told = sighting(&account, id, "db01", earlier);
        store.note_report(account.id, id, std::slice::from_ref(&told), 2, earlier).await.unwrap();
        let known = store.sightings(account.id).await.unwrap();
        assert_eq!(known.iter().filter(|one| one.id == told.id).collect::<Vec<_>>(), [&told]);
    });
}

#[test]
fn a_certificate_is_there_until_a_look_tells_that_it_is_gone() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let now = noon() + seconds(9);
        let note = async |one: &Sighting| {
            store.note_report(account.id, id, std::slice::from_ref(one), 2, now).await.unwrap();
        };
        let first = sighting(&account, id, "db01", noon());
        let place = Place { beside: Some("CN=mail".to_owned()), ..first.place.clone() };
        let beside = |leaf: Option<Certificate>, at: Timestamp| Sighting {
            id: place.id(account.id, id),
            place: place.clone(),
            leaf,
            at,
            ..first.clone()
        };
        let known = async || {
            let mut known = store.sightings_at(account.id, id, &["db02", "db01"]).await.unwrap();
            known.sort_by_key(|one| one.place.beside.clone());
            known
        };
        note(&first).await;
        note(&beside(Some(certificate(3)), noon())).await;
        assert_eq!(known().await, [first.clone(), beside(Some(certificate(3)), noon())]);
        let gone = beside(None, noon() + seconds(5));
        note(&gone).await;
        assert_eq!(known().await, [first.clone(), gone.clone()]);
        note(&beside(Some(certificate(3)), noon() + seconds(4))).await;
        assert_eq!(known().await, [first.clone(), gone], "it came late");
        let back = beside(Some(certificate(3)), noon() + seconds(6));
        note(&back).await;
        assert_eq!(known().await, [first.clone(), back.clone()]);

        // That of the place itself: not where nothing could be seen.
        let refused = Sighting {
            leaf: None,
            is_valid: false,
            error: Some("connection_refused".to_owned()),
            at: noon() + seconds(7),
            ..first.clone()
        };
        note(&refused).await;
        let kept = Sighting { leaf: first.leaf.clone(), ..refused };
        assert_eq!(known().await, [kept, back.clone()]);
        let gone = Sighting { leaf: None, at: noon() + seconds(8), ..first };
        note(&gone).await;
        assert_eq!(known().await, [gone, back]);

        let (other, _) = with_agent(&store, &account).await;
        assert!(store.sightings_at(account.id, other, &["db01"]).await.unwrap().is_empty());
        assert!(store.sightings_at(account.id, id, &["db02"]).await.unwrap().is_empty());
        assert!(store.sightings_at(account.id, id, &[]).await.unwrap().is_empty());
        let stranger = signed_up(&store).await.id;
        assert!(store.sightings_at(stranger, id, &["db01"]).await.unwrap().is_empty());
    });
}

#[test]
fn what_an_agent_looks_at_is_judged_like_a_site_and_is_none() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (id, _) = with_agent(&store, &account).await;
        let seen = sighting(&account, id, "db01", noon());
        assert!(store.target_context(account.id, seen.id, &ssl()).await.unwrap().is_none());
        store.note_report(account.id, id, std::slice::from_ref(&seen), 9, noon()).await.unwrap();
        assert!(store.check_context(account.id, seen.id, &ssl()).await.unwrap().is_none());
        assert!(store.listed_sites(account.id).await.unwrap().1.is_empty());
        let decision = judged(&store, &account, &seen).await;
        assert_eq!(decision.raised.len(), 2);
        assert_eq!(
            (decision.raised[0].domain.as_str(), decision.raised[0].site_id),
            ("db01", seen.id)
        );
        let after = store.target_context(account.id, seen.id, &ssl()).await.unwrap().unwrap();
        assert_eq!((after.state.version, after.open.len()), (1, 2));

        let stranger = signed_up(&store).await.id;
        assert!(store.target_context(stranger, seen.id, &ssl()).await.unwrap().is_none());
        assert!(store.sightings(stranger).await.unwrap().is_empty());
        let alert = decision.raised[0].id;
        assert_eq!(store.set_alert_resolved(stranger, alert, true, noon()).await.unwrap(), None);
        for resolved in [true, false] {
            let set = store.set_alert_resolved(account.id, alert, resolved, noon()).await;
            assert_eq!(set.unwrap().unwrap().is_resolved, resolved);
        }
        // Alerts, incidents and filters of events name it.
        assert_eq!(store.site_ids(account.id).await.unwrap(), BTreeSet::from([seen.id]));
        let incident = incident::incident(&account, noon(), &[seen.id]);
        store.create_incident(&incident, 9).await.unwrap();
        let all = IncidentFilter { limit: 9, ..IncidentFilter::default() };
        let listed = only(store.incidents(account.id, &all).await.unwrap().items);
        assert_eq!(listed.affected_sites, Some(vec![seen.id]));
    });
}

#[test]
fn a_window_of_what_an_agent_looks_at_goes_with_the_agent() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (agent, _) = with_agent(&store, &account).await;
        let seen = sighting(&account, agent, "db01", noon());
        let window = maintenance::window(&account, Some(seen.id), 0);
        let early = store.create_maintenance_window(&window, 9).await;
        assert!(matches!(early, Err(Error::Gone)), "{early:?}");
        store.note_report(account.id, agent, std::slice::from_ref(&seen), 9, noon()).await.unwrap();
        store.create_maintenance_window(&window, 9).await.unwrap();
        let stranger = signed_up(&store).await;
        let theirs = maintenance::window(&stranger, Some(seen.id), 0);
        let theirs = store.create_maintenance_window(&theirs, 9).await;
        assert!(matches!(theirs, Err(Error::Gone)), "{theirs:?}");
        assert_eq!(store.maintenance_windows(account.id).await.unwrap(), [window]);

        let of_all = maintenance::window(&account, None, 0);
        store.create_maintenance_window(&of_all, 9).await.unwrap();
        assert!(store.delete_agent(account.id, agent).await.unwrap());
        assert_eq!(store.maintenance_windows(account.id).await.unwrap(), [of_all]);
    });
}

#[test]
fn a_deleted_agent_takes_along_what_it_looked_at() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (stays, _) = with_agent(&store, &account).await;
        let kept = sighting(&account, stays, "db01", noon());
        store.note_report(account.id, stays, std::slice::from_ref(&kept), 9, noon()).await.unwrap();
        judged(&store, &account, &kept).await;
        let before = rows(&store).await;

        let (goes, _) = with_agent(&store, &account).await;
        let seen: Vec<Sighting> =
            ["db01", "db02", "db03"].map(|host| sighting(&account, goes, host, noon())).to_vec();
        store.note_report(account.id, goes, &seen, 9, noon()).await.unwrap();
        for one in &seen {
            judged(&store, &account, one).await;
        }
        let all = AlertFilter { limit: 50, ..AlertFilter::default() };
        assert_eq!(store.alerts(account.id, &all).await.unwrap().total, 8);
        assert!(store.delete_agent(account.id, goes).await.unwrap());
        let left = store.alerts(account.id, &all).await.unwrap();
        assert_eq!((left.total, left.items.len()), (2, 2), "gone at once");
        assert_eq!(store.sightings(account.id).await.unwrap(), [kept]);
        while store.purge_next(7).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn an_agent_is_deleted_while_it_reports_and_others_raise_alerts() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (stays, _) = with_agent(&store, &account).await;
        let (goes, _) = with_agent(&store, &account).await;
        let (begun, mut begins) = tokio::sync::watch::channel(0);
        let ended = AtomicBool::new(false);
        let raising = async {
            for number in 0.. {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let seen = sighting(&account, stays, &format!("db{number}"), noon());
                let report = std::slice::from_ref(&seen);
                store.note_report(account.id, stays, report, 1_000, noon()).await.unwrap();
                judged(&store, &account, &seen).await;
                begun.send_modify(|count| *count += 1);
            }
        };
        let reporting = async {
            loop {
                let seen = sighting(&account, goes, "db01", noon());
                let report = std::slice::from_ref(&seen);
                match store.note_report(account.id, goes, report, 1_000, noon()).await {
                    Ok(_) => {}
                    Err(Error::Gone) => break,
                    Err(other) => panic!("{other:?}"),
                }
            }
        };
        let deleting = async {
            begins.wait_for(|count| *count > 3).await.unwrap();
            assert!(store.delete_agent(account.id, goes).await.unwrap());
            ended.store(true, Ordering::Relaxed);
        };
        tokio::join!(raising, reporting, deleting);
        let left = store.sightings(account.id).await.unwrap();
        assert!(left.iter().all(|one| one.agent_id == stays));
    });
}

#[test]
fn an_account_that_goes_leaves_no_agent() {
    on_both(|store| async move {
        let (account, other) = (signed_up(&store).await, signed_up(&store).await);
        let (stays, hash) = with_agent(&store, &other).await;
        let before = rows(&store).await;
        for host in ["db01", "db02"] {
            let (id, _) = with_agent(&store, &account).await;
            let seen = sighting(&account, id, host, noon());
            store
                .note_report(account.id, id, std::slice::from_ref(&seen), 9, noon())
                .await
                .unwrap();
            judged(&store, &account, &seen).await;
        }
        let binds = Binds::new().with("account", key::account(account.id));
        store.write(RETIRE, binds).await.unwrap();
        assert!(store.agents(account.id).await.unwrap().is_empty());
        assert!(store.sightings(account.id).await.unwrap().is_empty());
        assert_eq!(store.agent_of_key(&hash).await.unwrap().unwrap().id, stays);
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn an_agent_that_is_silent_is_taken_by_one_at_a_time() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let (silent, _) = with_agent(&store, &account).await;
        let (heard, _) = with_agent(&store, &account).await;
        with_agent(&store, &account).await; // nobody has ever heard from it
        let hour = |hours: i64| noon() + TimeDelta::hours(hours);
        store.note_report(account.id, silent, &[], 9, noon()).await.unwrap();
        store.note_report(account.id, heard, &[], 9, hour(5)).await.unwrap();
        let take = async |at: Timestamp| {
            let (heard, taken) = (at - TimeDelta::hours(2), at - TimeDelta::hours(1));
            let taken = store.take_silent_agents(heard, taken, at, 9).await.unwrap();
            taken.into_iter().map(|one| (one.agent.id, one.judged_to)).collect::<Vec<_>>()
        };
        assert_eq!(take(hour(6)).await, [(silent, None)]);
        assert_eq!(take(hour(6) + TimeDelta::minutes(59)).await, [], "it is taken");
        store.note_silence_judged(account.id, silent, hour(6)).await.unwrap();
        assert_eq!(take(hour(7)).await, [(silent, Some(hour(6)))]);
        assert_eq!(take(hour(9)).await.len(), 2, "the other as well");
    });
}
