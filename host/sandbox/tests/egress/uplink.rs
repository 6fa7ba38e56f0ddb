//! Recursors that have lost their way to others, and names whose own servers fail.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use hickory_proto::{
    op::ResponseCode,
    rr::{RData, Record, RecordType, rdata},
};
use vedette_model::domain_name::Target;

use crate::{
    egress::{Audience, Egress, NetError, code},
    lab::{Dns, Reply, addresses, name, to_loopback},
};

/// The names that it was asked about before stay in its cache, and so do the root's servers.
const KEPT: [&str; 3] = ["kept.example", "beside.test", ""];

#[tokio::test]
async fn a_recursor_that_lives_on_what_it_has_kept_is_as_good_as_none() {
    let (dns, is_cut_off) = recursor().await;
    let egress = proven(&dns).await;
    assert_eq!(ask(&egress, "kept.example").await, None);
    assert!(egress.resolver().is_resolving(soon()).await);

    is_cut_off.store(true, Relaxed);
    assert_eq!(ask(&egress, "other.example").await, Some(code::RESOLVER_DOWN.to_owned()));
    assert_eq!(ask(&egress, "kept.example").await, None, "it answers from its cache");
    assert!(!egress.resolver().was_heard_lately());
    assert!(!egress.resolver().is_resolving(soon()).await);
    // Whether it is back is for others to ask: who looks up a name waits for no more than that.
    let (began, before) = (Instant::now(), made_up_beneath(&dns, ""));
    while began.elapsed() < Duration::from_secs(6) {
        assert_eq!(ask(&egress, "other.example").await, Some(code::RESOLVER_DOWN.to_owned()));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(made_up_beneath(&dns, ""), before);

    is_cut_off.store(false, Relaxed);
    let deadline = Instant::now() + PATIENCE;
    while !egress.resolver().is_resolving(soon()).await {
        assert!(Instant::now() < deadline, "it is back, and asked again after a moment");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(!egress.resolver().is_cut_off());
}

#[tokio::test]
async fn that_others_were_reached_before_somebody_came_to_ask_is_not_believed() {
    let (dns, is_cut_off) = recursor().await;
    let egress = proven(&dns).await;
    let has_uplink = || egress.resolver().has_uplink();
    assert_eq!(has_uplink().await, Some(true));
    is_cut_off.store(true, Relaxed);
    assert_eq!(has_uplink().await, Some(false));
}

#[tokio::test]
async fn strangers_are_asked_once_a_second_however_many_want_to_know() {
    let (dns, _) = recursor().await;
    let egress = proven(&dns).await;
    let (began, before) = (Instant::now(), made_up_beneath(&dns, ""));
    for _ in 0..3 {
        let all = join_all((0..20).map(|_| egress.resolver().has_uplink())).await;
        assert!(all.iter().all(|has_uplink| *has_uplink == Some(true)), "{all:?}");
    }
    // What is not answered in time, as on a busy machine, is asked again.
    let seconds = began.elapsed().as_secs() + 1;
    let asked = made_up_beneath(&dns, "") - before;
    assert!((3..=4 * seconds as usize).contains(&asked), "{asked} questions in {seconds} s");
}

#[tokio::test]
async fn one_look_for_others_in_vain_answers_all_that_want_to_know() {
    let (dns, is_cut_off) = recursor().await;
    let egress = proven(&dns).await;
    let before = made_up(&dns);
    is_cut_off.store(true, Relaxed);
    let all = join_all((0..20).map(|_| egress.resolver().has_uplink())).await;
    assert!(all.iter().all(|has_uplink| *has_uplink == Some(false)), "{all:?}");
    let after = made_up(&dns);
    let asked: Vec<_> = after.difference(&before).collect();
    assert_eq!(asked.len(), 2, "once beneath each top-level domain: {asked:?}");
}

#[tokio::test]
async fn what_is_known_is_told_while_strangers_are_asked_and_who_leaves_leaves_the_turn() {
    let is_silent = Arc::new(AtomicBool::new(false));
    let says_nothing = Arc::clone(&is_silent);
    let dns = Dns::new(move |asked, rtype, _| match asked {
        asked if KEPT.contains(&asked) => held(asked, rtype),
        _ if says_nothing.load(Relaxed) => Reply::Silence,
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let egress = proven(&dns).await;
    let before = made_up(&dns);
    is_silent.store(true, Relaxed);
    let asks = egress.clone();
    let asking = tokio::spawn(async move { asks.resolver().has_uplink().await });
    let deadline = Instant::now() + PATIENCE;
    while made_up(&dns) == before {
        assert!(Instant::now() < deadline, "somebody is asked: {:?}", dns.asked());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(egress.resolver().proven_domains().len(), 2);
    assert!(!egress.resolver().is_cut_off(), "nothing came of the question so far");
    assert!(!asking.is_finished());

    asking.abort();
    is_silent.store(false, Relaxed);
    let is_back = has_uplink_in_time(&egress, Some(true));
    tokio::time::timeout(PATIENCE, is_back).await.expect("the next one asks");
}

#[tokio::test]
async fn a_name_whose_own_servers_fail_is_blamed_and_strangers_are_asked_seldom() {
    let (dns, _) = recursor().await;
    let egress = proven(&dns).await;
    let (began, before) = (Instant::now(), made_up_beneath(&dns, ""));
    let broken: Vec<_> = (0..20).map(|n| format!("n{n}.broken.test")).collect();
    for failure in join_all(broken.iter().map(|host| ask(&egress, host))).await {
        assert_eq!(failure, Some(code::DNS_FAILED.to_owned()));
    }
    // Once in five seconds; what is not answered in time, as on a busy machine, is asked again.
    let spans = began.elapsed().as_secs() / 5 + 1;
    let asked = made_up_beneath(&dns, "") - before;
    assert!((1..=4 * spans as usize).contains(&asked), "{asked} questions in {spans} spans of 5 s");
}

#[tokio::test]
async fn servers_that_never_reached_others_say_nothing_by_failing_to() {
    let (dns, is_cut_off) = recursor().await;
    is_cut_off.store(true, Relaxed);
    let egress = to_loopback(Some(&dns));
    assert_eq!(ask(&egress, "kept.example").await, None);
    assert!(egress.resolver().is_resolving(soon()).await, "they have not lost what they never had");
    assert_eq!(egress.resolver().has_uplink().await, None);
    assert_eq!(ask(&egress, "other.example").await, Some(code::DNS_FAILED.to_owned()));
}

#[tokio::test]
async fn a_top_level_domain_that_is_down_is_not_our_own_trouble() {
    let is_down = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&is_down);
    let dns = Dns::new(move |asked, rtype, _| match asked {
        asked if asked.ends_with("example") && fails.load(Relaxed) => {
            Reply::Code(ResponseCode::ServFail)
        }
        asked if KEPT.contains(&asked) => held(asked, rtype),
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let egress = proven(&dns).await;
    is_down.store(true, Relaxed);
    assert_eq!(ask(&egress, "kept.example").await, Some(code::DNS_FAILED.to_owned()));
    assert_eq!(egress.resolver().has_uplink().await, Some(true), "others are reached");
}

#[tokio::test]
async fn servers_that_refuse_to_look_for_nobody_say_nothing_of_their_way_out() {
    let said_of_nobody = Arc::new(Mutex::new(ResponseCode::NXDomain));
    let said = Arc::clone(&said_of_nobody);
    let dns = Dns::new(move |asked, rtype, _| match asked {
        asked if KEPT.contains(&asked) => held(asked, rtype),
        asked if asked.starts_with(MADE_UP) => Reply::Code(*said.lock().unwrap()),
        _ => Reply::Code(ResponseCode::ServFail),
    })
    .await;
    let egress = proven(&dns).await;
    *said_of_nobody.lock().unwrap() = ResponseCode::Refused;
    assert_eq!(ask(&egress, "other.example").await, Some(code::DNS_FAILED.to_owned()));
    assert_eq!(egress.resolver().has_uplink().await, None);
    assert!(egress.resolver().is_resolving(soon()).await);

    // Also where they had lost it before.
    *said_of_nobody.lock().unwrap() = ResponseCode::ServFail;
    has_uplink_in_time(&egress, Some(false)).await;
    assert!(egress.resolver().is_cut_off());
    *said_of_nobody.lock().unwrap() = ResponseCode::Refused;
    has_uplink_in_time(&egress, None).await;
    assert!(!egress.resolver().is_cut_off());
}

#[tokio::test]
async fn a_forwarder_that_has_nobody_to_ask_any_more_is_as_good_as_none() {
    let refuses = Arc::new(AtomicBool::new(false));
    let refusing = Arc::clone(&refuses);
    let dns = Dns::new(move |asked, rtype, _| match asked {
        "kept.example" | "beside.test" => held(asked, rtype),
        _ if refusing.load(Relaxed) => Reply::Code(ResponseCode::Refused),
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let egress = proven(&dns).await;
    refuses.store(true, Relaxed);
    assert_eq!(ask(&egress, "other.example").await, Some(code::RESOLVER_DOWN.to_owned()));
    assert_eq!(ask(&egress, "kept.example").await, None, "it answers from its cache");
    assert!(!egress.resolver().is_resolving(soon()).await);
}

/// One that knows the names it has kept and, while it is not cut off, that all others do not exist, but
/// for those whose own servers fail.
async fn recursor() -> (Dns, Arc<AtomicBool>) {
    let is_cut_off = Arc::new(AtomicBool::new(false));
    let has_no_way = Arc::clone(&is_cut_off);
    let dns = Dns::new(move |asked, rtype, _| match asked {
        asked if KEPT.contains(&asked) => held(asked, rtype),
        asked if asked.ends_with("broken.test") || has_no_way.load(Relaxed) => {
            Reply::Code(ResponseCode::ServFail)
        }
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    (dns, is_cut_off)
}

fn held(asked: &str, rtype: RecordType) -> Reply {
    match (asked, rtype) {
        ("", RecordType::NS) => {
            let server = RData::NS(rdata::NS(name("a.root-servers.example.")));
            Reply::Records(vec![Record::from_rdata(name("."), 518_400, server)])
        }
        ("", _) => Reply::NoData,
        _ => addresses(&["127.0.0.1"]),
    }
}

/// An egress layer that has seen that its server reaches others, in both top-level domains.
async fn proven(dns: &Dns) -> Egress {
    let egress = to_loopback(Some(dns));
    let deadline = Instant::now() + PATIENCE;
    for known in ["kept.example", "beside.test"] {
        assert_eq!(ask(&egress, known).await, None);
    }
    while egress.resolver().proven_domains().len() < 2 {
        assert!(Instant::now() < deadline, "both are answered beneath: {:?}", dns.asked());
        tokio::time::sleep(Duration::from_millis(50)).await;
        egress.resolver().is_resolving(soon()).await;
    }
    egress
}

/// What was found out stands for a moment.
async fn has_uplink_in_time(egress: &Egress, expected: Option<bool>) {
    let deadline = Instant::now() + PATIENCE;
    while egress.resolver().has_uplink().await != expected {
        assert!(Instant::now() < deadline, "in the end it is {expected:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The names that nobody has, and that it was asked for.
fn made_up(dns: &Dns) -> BTreeSet<String> {
    let names = dns.asked().into_iter().map(|(name, _)| name);
    names.filter(|name| name.starts_with(MADE_UP)).collect()
}

/// How often it was asked for names that nobody has, beneath this domain.
fn made_up_beneath(dns: &Dns, domain: &str) -> usize {
    let asked = dns.asked();
    asked.iter().filter(|(name, _)| name.starts_with(MADE_UP) && name.ends_with(domain)).count()
}

/// The code of what keeps the name from being found; none where it is.
async fn ask(egress: &Egress, host: &str) -> Option<String> {
    let target = Target::parse(host).unwrap();
    match egress.resolve(&target, Audience::Authenticated, soon()).await {
        Ok(_) => None,
        Err(NetError::Other(code, _)) => Some(code),
        Err(other) => panic!("{host}: {other}"),
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

const MADE_UP: &str = "vedette-";
/// A first attempt in vain, as on a busy machine, is made again after a minute.
const PATIENCE: Duration = Duration::from_secs(180);
