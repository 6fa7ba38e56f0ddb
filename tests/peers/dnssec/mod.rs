//! The tri-state of DNSSEC, against `delv` on zones that `named` serves: a signed root, one
//! top-level zone, and below it zones that are well, unsigned, islands, or broken each in its way.

mod case;
mod judge;
mod named;
mod signing;
mod spoil;

use futures::{StreamExt, stream};
use vedette_tests::{Settings, check};

use crate::program::{installed, turn};
use case::{CASES, State};
use named::Named;

/// Programs that run at a time.
const AT_ONCE: usize = 4;
/// How often a zone is asked about that was not judged: on a busy machine a chain of trust may not
/// be followed in time.
const ROUNDS: usize = 3;
/// What has to be seen: so many differently broken zones, judged alike.
const BROKEN: usize = 12;

#[tokio::test(flavor = "multi_thread")]
async fn dnssec_agrees_with_delv() {
    let programs = ["named", "delv", "dnssec-keygen", "dnssec-signzone"];
    if !installed(&programs.map(|name| (name, "bind9"))) {
        return;
    }
    let _turn = turn().await;
    let named = Named::start().await.expect("named serves what was signed");
    let named = &named;
    let judged: Vec<_> = stream::iter(CASES)
        .map(|case| async move {
            (case, judge::ask(named, &case.target()).await, judged(named, case).await)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;

    println!("{:<28} {:<10} {:<10} vedette", "name", "expected", "delv");
    let (mut agreed, mut wrong) = (0, Vec::new());
    for (case, delv, (ours, result)) in judged {
        let delv = delv.expect("delv runs");
        let target = case.target();
        println!("{target:<28} {:<10} {:<10} {}", case.state, delv.verdict, word(ours));
        if !delv.verdict.is(case.state) || ours != Some(case.state) {
            wrong.push(format!("{target} ({}): delv {delv:?}, vedette {result}", case.about));
        } else if case.state == State::Bogus {
            agreed += 1;
        }
    }
    println!("broken zones judged alike: {agreed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agreed >= BROKEN, "{agreed}");
}

/// What the check says once it has come to a judgement, in our words and whole.
async fn judged(named: &Named, case: &case::Case) -> (Option<State>, String) {
    let mut said = ours(named, case).await;
    for _ in 1..ROUNDS {
        if said.0.is_some() {
            break;
        }
        said = ours(named, case).await;
    }
    said
}

async fn ours(named: &Named, case: &case::Case) -> (Option<State>, String) {
    let settings = Settings { dns: vec![named.address()], ..Settings::default() };
    let anchor = named.anchor_records().display().to_string();
    let settings = Settings { toml: format!("dnssec_anchor = {anchor:?}\n"), ..settings };
    let ran = check(&settings, &["dns", &case.target(), "--json"]).await.expect("vedette runs");
    let dnssec = &ran.json()["dnssec"];
    let state = match (dnssec["enabled"].as_bool(), dnssec["valid"].as_bool()) {
        (Some(true), Some(true)) => Some(State::Secure),
        (Some(true), Some(false)) => Some(State::Bogus),
        (Some(true), None) => Some(State::PassedOver),
        (Some(false), None) => Some(State::Unsigned),
        (Some(false) | None, _) => None,
    };
    (state, format!("{} {}", ran.output.trim(), ran.errors.trim()))
}

fn word(state: Option<State>) -> String {
    state.map_or_else(|| "unknown".to_owned(), |state| state.to_string())
}
