//! One hostile guest per row of the threat table: each is stopped, named, and leaves the host as
//! it was.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use vedette_model::{Assessment, Health};
use vedette_sandbox::{Job, PluginError, Recording, RunError, Sandbox, Stop, ValidateError};
use wasm_encoder::BlockType;

use crate::{
    guest::{Guest, I32, I64, SPARE},
    lab::{evidence, holding, job, replay, replay_about, test},
};

async fn stop(sandbox: &Sandbox) -> Stop {
    stop_about(sandbox, "example.com").await
}

async fn stop_about(sandbox: &Sandbox, target: &str) -> Stop {
    match replay_about(sandbox, target, Vec::new()).await {
        Err(RunError::Broken { why, .. }) => why,
        other => panic!("not stopped: {other:?}"),
    }
}

/// How a planned run is stopped.
async fn stop_watched(sandbox: &Sandbox, target: &str) -> Stop {
    let watched = Job { watched: true, ..job(target) };
    match sandbox.replay(&test(), watched, Arc::new(Recording::new(Vec::new()))).await {
        Err(RunError::Broken { why, .. }) => why,
        other => panic!("not stopped: {other:?}"),
    }
}

/// What the installed version says that this result means, which somebody brought.
async fn assess(sandbox: &Sandbox, current: Value) -> Result<Assessment, PluginError> {
    assess_about(sandbox, None, current).await
}

async fn assess_about(
    sandbox: &Sandbox,
    planned: Option<&str>,
    current: Value,
) -> Result<Assessment, PluginError> {
    let installed = sandbox.version(&test()).expect("installed");
    sandbox.assess(&installed, planned, evidence(current)).await
}

fn running(body: impl Fn(&mut wasm_encoder::InstructionSink<'_>) + 'static) -> Sandbox {
    let mut guest = Guest::check("", &[]);
    guest.run(body);
    holding(&guest)
}

fn answering(result: &str) -> Sandbox {
    let mut guest = Guest::check("", &[]);
    guest.run_answers(result);
    holding(&guest)
}

#[tokio::test]
async fn an_endless_loop_is_stopped_by_its_cpu_time() {
    let sandbox = running(|code| {
        code.loop_(BlockType::Empty).br(0).end().unreachable();
    });
    // After 50 ms of it; the wall clock would have let it go on for two seconds.
    assert_eq!(stop(&sandbox).await, Stop::Cpu);
}

#[tokio::test]
async fn loopers_do_not_keep_an_honest_check_waiting() {
    let looper = running(|code| {
        code.loop_(BlockType::Empty).br(0).end().unreachable();
    });
    let mut loops = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let looper = looper.clone();
        loops.spawn(async move { stop(&looper).await });
    }
    let honest = holding(&Guest::check("", &[]));
    let ran = replay(&honest, Vec::new()).await.expect("an observation");
    assert_eq!(ran.observation.result, json!({"ok": true}));
    assert!(loops.join_all().await.iter().all(|stop| *stop == Stop::Cpu));
}

#[tokio::test]
async fn a_memory_bomb_gets_no_more_than_its_limit() {
    let sandbox = running(|code| {
        // Grow page by page until refused; trap like an allocator that is out of memory.
        code.loop_(BlockType::Empty);
        code.i32_const(1).memory_grow(0).i32_const(-1).i32_ne().br_if(0).end();
        code.memory_size(0).i32_const(256).i32_ne();
        code.if_(BlockType::Empty);
        code.loop_(BlockType::Empty).br(0).end(); // more than 16 MiB: this would be told apart
        code.end().unreachable();
    });
    assert_eq!(stop(&sandbox).await, Stop::Memory);
}

#[tokio::test]
async fn recursion_ends_at_the_wasm_stack() {
    let mut guest = Guest::check("", &["vedette:env/clock@1.0.0"]);
    let clock = guest.import("vedette:env/clock@1.0.0", "now", &[], &[I64]);
    // describe, validate, run, assess are exports in this order after the imports; `run` is
    // replaced last, so it is the last of them.
    let itself = clock + 4;
    guest.run(move |code| {
        // A host call at every level: host code runs on what is left of the same stack.
        code.call(clock).drop();
        (0..15).for_each(|_| {
            code.i32_const(0);
        });
        code.call(itself);
    });
    assert_eq!(stop(&holding(&guest)).await, Stop::Stack);
}

#[tokio::test]
async fn a_trap_says_nothing_of_the_target() {
    let sandbox = running(|code| {
        code.unreachable();
    });
    let error = replay(&sandbox, Vec::new()).await.expect_err("broken");
    let RunError::Broken { why: Stop::Trap, message } = error else { panic!("{error:?}") };
    assert_eq!(message, "wasm trap: wasm `unreachable` instruction executed");
}

#[tokio::test]
async fn lists_that_lie_about_their_length_are_refused() {
    let mut guest = Guest::check("", &[]);
    let beyond = guest.data().observation_at(0, i32::MAX);
    guest.run(move |code| {
        code.i32_const(beyond);
    });
    assert_eq!(stop(&holding(&guest)).await, Stop::Trap);

    // Within its memory, and more than one call may pass to the host.
    let mut guest = Guest::check("", &[]);
    guest.pages = 64;
    let large = guest.data().observation_at(0, 3 << 20);
    guest.run(move |code| {
        code.i32_const(large);
    });
    assert_eq!(stop(&holding(&guest)).await, Stop::HostCall);
}

#[tokio::test]
async fn text_that_is_no_utf_8_is_refused() {
    let mut guest = Guest::check("", &[]);
    let [at, len] = guest.data().text("{\"ok\":true}");
    let answer = guest.data().observation_at(at, len);
    guest.run(move |code| {
        let memory = wasm_encoder::MemArg { offset: 0, align: 0, memory_index: 0 };
        code.i32_const(at + 2).i32_const(0xff).i32_store8(memory).i32_const(answer);
    });
    assert_eq!(stop(&holding(&guest)).await, Stop::Trap);
}

#[tokio::test]
async fn lying_results_are_refused_each_by_name() {
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(256 << 10));
    let table = [
        ("NaN", "result is not JSON"),
        ("", "result is not JSON"),
        ("{\"ok\":\"yes\"}", "result does not fit its schema: /ok"),
        ("[]", "result does not fit its schema"),
        (deep.as_str(), "result is nested deeper than 32 levels"),
        (large.as_str(), "result is larger than allowed"),
    ];
    for (result, expected) in table {
        let error = replay(&answering(result), Vec::new()).await.expect_err(expected);
        let RunError::Broken { why: Stop::Output, message } = error else { panic!("{error:?}") };
        assert!(message.starts_with(expected), "{message}");
    }
}

#[tokio::test]
async fn metrics_must_be_known_and_finite() {
    for (metric, kept) in [(1.5, true), (f64::NAN, false), (f64::NEG_INFINITY, false)] {
        let mut guest = Guest::check("", &[]);
        let answer = guest.data().observation("{}", &[metric]);
        guest.run(move |code| {
            code.i32_const(answer);
        });
        let ran = replay(&holding(&guest), Vec::new()).await;
        assert_eq!(ran.is_ok(), kept, "{metric}");
        if let Ok(ran) = ran {
            assert_eq!(ran.observation.metrics, [("n".to_owned(), 1.5)]);
        }
    }
}

#[tokio::test]
async fn ends_without_an_observation_are_told_apart() {
    let with = |case: i32, text: &'static str| {
        let mut guest = Guest::check("", &[]);
        let answer = guest.data().check_error(case, text);
        guest.run(move |code| {
            code.i32_const(answer);
        });
        holding(&guest)
    };
    let unsupported = replay(&with(1, "no\naddresses"), Vec::new()).await;
    assert_eq!(unsupported, Err(RunError::UnsupportedTarget("no addresses".into())));
    let silent = replay(&with(1, "\n"), Vec::new()).await;
    let expected = "this check takes no such target";
    assert_eq!(silent, Err(RunError::UnsupportedTarget(expected.into())));
    // The text's address, read as seconds, is bounded like any number of a guest's.
    let retry = replay(&with(2, ""), Vec::new()).await;
    assert!(matches!(retry, Err(RunError::RetryIn(wait)) if wait >= Duration::from_secs(5)));
    let failed = replay(&with(3, "source is down"), Vec::new()).await;
    let expected = RunError::Broken { why: Stop::Failed, message: "source is down".into() };
    assert_eq!(failed, Err(expected));
}

#[tokio::test]
async fn log_lines_beyond_the_last_cost_nothing_and_break_nothing() {
    let log = "vedette:env/log@1.0.0";
    let mut guest = Guest::check("", &[log]);
    let write = guest.import(log, "write", &[I32; 5], &[]);
    let answer = guest.data().observation("{}", &[]);
    guest.run(move |code| {
        code.i32_const(5_000).local_set(SPARE).loop_(BlockType::Empty);
        code.i32_const(0).i32_const(0).i32_const(64).i32_const(0).i32_const(0).call(write);
        code.local_get(SPARE).i32_const(1).i32_sub().local_tee(SPARE).br_if(0).end();
        code.i32_const(answer);
    });
    replay(&holding(&guest), Vec::new()).await.expect("an observation");
}

#[tokio::test]
async fn a_plugin_that_keeps_breaking_is_paused() {
    let sandbox = running(|code| {
        code.unreachable();
    });
    for n in 0..5 {
        assert_eq!(stop_watched(&sandbox, &format!("site{n}.example")).await, Stop::Trap);
    }
    assert_eq!(stop_watched(&sandbox, "example.com").await, Stop::Paused);
    assert_eq!(stop(&sandbox).await, Stop::Paused);
    let assessed = assess(&sandbox, json!({})).await;
    assert!(matches!(assessed, Err(PluginError::Broken { why: Stop::Paused, .. })));
}

/// Whoever asks names the target and brings the result.
#[tokio::test]
async fn what_anybody_asks_for_pauses_no_plugin() {
    let mut guest = Guest::check("", &[]);
    guest.run(|code| {
        code.unreachable();
    });
    guest.assess(|code| {
        code.unreachable();
    });
    let sandbox = holding(&guest);
    for n in 0..20 {
        let target = format!("site{n}.example");
        assert_eq!(stop_about(&sandbox, &target).await, Stop::Trap, "{target}");
        let assessed = assess(&sandbox, json!({})).await;
        assert!(matches!(assessed, Err(PluginError::Broken { why: Stop::Trap, .. })));
    }
    assert_eq!(sandbox.paused("acme.test"), None);
}

#[tokio::test]
async fn a_plugin_that_one_target_breaks_goes_on_for_the_others() {
    let sandbox = running(|code| {
        code.unreachable();
    });
    let serves_another = async || {
        assess_about(&sandbox, Some("other.example"), json!({})).await.expect("judged");
    };
    serves_another().await;
    for n in 0..12 {
        let target = format!("host{n}.site.example");
        assert_eq!(stop_watched(&sandbox, &target).await, Stop::Trap, "{target}");
    }
    assert_eq!(sandbox.paused("acme.test"), None);
    serves_another().await;
}

#[tokio::test]
async fn a_plugin_that_could_not_work_is_not_paused() {
    let mut guest = Guest::check("", &[]);
    let answer = guest.data().check_error(3, "no answer");
    guest.run(move |code| {
        code.i32_const(answer);
    });
    let sandbox = holding(&guest);
    for n in 0..6 {
        assert_eq!(stop_watched(&sandbox, &format!("site{n}.example")).await, Stop::Failed);
    }
}

#[tokio::test]
async fn assessments_are_of_listed_events_and_bounded() {
    let with = |event: &'static str, count: usize| {
        let mut guest = Guest::check("", &[]);
        let answer = guest.data().findings(event, count);
        guest.assess(move |code| {
            code.i32_const(answer);
        });
        holding(&guest)
    };
    let found = assess(&with("test.bad", 32), json!({})).await.expect("fine");
    assert_eq!((found.health, found.findings.len()), (Health::Degraded, 32));
    assert_eq!(found.findings[0].message, "line one line two");

    for (event, count, expected) in [
        ("test.good", 1, "event \"test.good\" is not in the descriptor"),
        ("test.bad", 33, "findings is larger than allowed (33, at most 32)"),
    ] {
        let refused = assess(&with(event, count), json!({})).await;
        let Err(PluginError::Broken { why: Stop::Output, message }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(message, expected);
    }
}

#[tokio::test]
async fn results_that_others_send_in_never_reach_the_plugin_unless_they_fit() {
    let mut guest = Guest::check("", &[]);
    guest.assess(|code| {
        code.unreachable();
    });
    let sandbox = holding(&guest);
    let refused = assess(&sandbox, json!({"ok": 1})).await;
    assert!(matches!(refused, Err(PluginError::InvalidInput(_))), "{refused:?}");
}

#[tokio::test]
async fn pure_calls_see_the_evidences_time_and_nothing_else() {
    let (clock, tcp) = ("vedette:env/clock@1.0.0", "vedette:net/tcp@1.0.0");
    let mut guest = Guest::check("tcp = { to = [\"target:25\"] }", &[clock, tcp]);
    let now = guest.import(clock, "now", &[], &[I64]);
    let exchange = guest.import(tcp, "exchange", &[I32; 11], &[]);
    let fine = guest.data().findings("test.bad", 0);
    guest.assess(move |code| {
        code.local_get(2).call(now).i64_ne().if_(BlockType::Empty).unreachable().end();
        code.i32_const(fine);
    });
    let sandbox = holding(&guest);
    let first = assess(&sandbox, json!({})).await.expect("its own time");
    let again = assess(&sandbox, json!({})).await.expect("its own time");
    assert_eq!(first, again);

    guest.assess(move |code| {
        (0..11).for_each(|_| {
            code.i32_const(0);
        });
        code.call(exchange).i32_const(fine);
    });
    let reached = assess(&holding(&guest), json!({})).await;
    let Err(PluginError::Broken { why: Stop::Trap, message }) = reached else {
        panic!("{reached:?}")
    };
    assert!(message.contains("vedette:net/tcp"), "{message}");
}

#[tokio::test]
async fn an_endless_assessment_is_stopped_too() {
    let mut guest = Guest::check("", &[]);
    guest.assess(|code| {
        code.loop_(BlockType::Empty).br(0).end().unreachable();
    });
    let stopped = assess(&holding(&guest), json!({})).await;
    assert!(matches!(stopped, Err(PluginError::Broken { why: Stop::Cpu, .. })), "{stopped:?}");
}

#[tokio::test]
async fn configurations_are_held_against_the_schema_before_the_plugin_sees_them() {
    let says = crate::guest::Says {
        config_schema: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#,
        ..Default::default()
    };
    let sandbox = holding(&Guest::check_saying(&says, "", &[]));
    assert_eq!(sandbox.validate(&test(), "example.com", &json!({})).await, Ok(json!({})));
    let refused = sandbox.validate(&test(), "example.com", &json!({"path": 1})).await;
    let Err(ValidateError::Problems(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/path");
    for (text, fits) in
        [("a\tb\r\nc\u{ad}", true), ("\0", false), ("a\u{7f}", false), ("\u{85}", false)]
    {
        let judged = sandbox.validate(&test(), "example.com", &json!({"path": text})).await;
        let problems = match judged {
            Err(ValidateError::Problems(problems)) => problems,
            other => other.map(|_| Vec::new()).expect("no fault of the plugin"),
        };
        assert_eq!(problems.iter().all(|problem| problem.pointer != "/path"), fits, "{text:?}");
    }
}
