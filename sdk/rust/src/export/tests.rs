use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;
use crate::{
    ChannelDescriptor, Delivery, Descriptor, EventType, Finding, Notification, Observation,
    Severity, export::checker::Guest as _, export::notifier::Guest as _,
    testing::channel::notification,
};

struct Echo;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    words: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Self { words: 3 }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Words {
    said: Vec<String>,
}

const SILENT: EventType = EventType {
    name: "echo.silent",
    alert_type: "echo",
    severity: Severity::Warning,
    title: "Silence",
    self_resolving: true,
    confirmations: 2,
    clears: 1,
};

impl Check for Echo {
    type Config = Settings;
    type Facts = Words;

    fn describe() -> Descriptor {
        Descriptor {
            id: "acme.echo",
            version: "1.2.0",
            title: "Echo",
            description: "Says the target again.",
            summary_fields: &["said"],
            events: &[SILENT],
            metrics: &[],
        }
    }

    fn validate(target: &str, config: Settings) -> Result<Settings, Vec<Problem>> {
        match target {
            "deaf.example" => Err(whole("cannot hear".to_owned())),
            _ => Ok(config),
        }
    }

    fn run(_: &Cx, job: Job<Settings>) -> Result<Observation<Words>, CheckError> {
        let said = vec![job.target; job.config.words.into()];
        Ok(Observation::new(Words { said }, "heard").metric("words", 3.0))
    }

    fn assess(evidence: Evidence<Settings, Words>) -> Assessment {
        let times = evidence.remembered::<u32>().unwrap_or_default() + 1;
        let verdict = Assessment::new(Health::Ok).remember(&times);
        if evidence.current.said.is_empty() {
            return verdict.with(Finding::new(&SILENT, "silent", "it says nothing"));
        }
        verdict
    }
}

impl Notify for Echo {
    type Config = Settings;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "acme.echo",
            version: "1.2.0",
            title: "Echo",
            description: "Says it again.",
            secret_fields: &["echo_url"],
            batch_max: 10,
        }
    }

    fn render(_: Notification, _: Settings) -> Result<Vec<Delivery>, String> {
        Ok(Vec::new())
    }
}

fn evidence(current: &str) -> checker::Evidence {
    checker::Evidence {
        current: current.to_owned(),
        current_at: 1_700_000_000_999,
        settled: None,
        siblings: vec![("dns".to_owned(), r#"{"said":["a"]}"#.to_owned())],
        config: "{}".to_owned(),
        alert_days: 14,
        memory: None,
    }
}

#[test]
fn descriptor_carries_the_schemas_of_its_types() {
    let said = <Checker<Echo> as checker::Guest>::describe();
    let accepted: Value = serde_json::from_str(&said.config_schema).unwrap();
    let answered: Value = serde_json::from_str(&said.result_schema).unwrap();
    assert_eq!(accepted["properties"]["words"]["default"], 3);
    assert_eq!(accepted["additionalProperties"], false);
    assert_eq!(answered["required"], serde_json::json!(["said"]));
    assert_eq!(said.events[0].name, "echo.silent");
    assert_eq!((said.id.as_str(), said.version.as_str()), ("acme.echo", "1.2.0"));
}

#[test]
fn valid_configuration_comes_back_with_its_defaults() {
    let validate = |target: &str, config: &str| {
        <Checker<Echo> as checker::Guest>::validate(target.to_owned(), config.to_owned())
    };
    assert_eq!(validate("a.example", "{}").unwrap(), r#"{"words":3}"#);
    assert_eq!(validate("deaf.example", "{}").unwrap_err()[0].message, "cannot hear");
    let problems = validate("a.example", r#"{"words":900}"#).unwrap_err();
    assert_eq!(problems[0].pointer, "/words");
}

#[test]
fn run_answers_json_and_refuses_a_stale_configuration() {
    let job = |config: &str| checker::Job {
        run_id: "1".to_owned(),
        target: "a.example".to_owned(),
        port: None,
        connect_to: None,
        config: config.to_owned(),
        settings: "{}".to_owned(),
        omit: Vec::new(),
    };
    let seen = Checker::<Echo>::run(job(r#"{"words":1}"#)).unwrap();
    assert_eq!(seen.result, r#"{"said":["a.example"]}"#);
    assert_eq!(seen.metrics[0].name, "words");
    let refused = Checker::<Echo>::run(job(r#"{"letters":1}"#)).unwrap_err();
    assert!(matches!(refused, CheckError::InvalidConfig(problems) if problems.len() == 1));
}

#[test]
fn memory_and_findings_go_through() {
    let mut evidence = evidence(r#"{"said":[]}"#);
    evidence.memory = Some("4".to_owned());
    let verdict = Checker::<Echo>::assess(evidence);
    assert_eq!(verdict.memory.as_deref(), Some("5"));
    assert_eq!(verdict.findings[0].event, "echo.silent");
    assert_eq!(verdict.findings[0].confirmations, None);
}

#[test]
fn evidence_is_in_seconds_and_knows_its_siblings() {
    let judged = judged::<Echo>(&evidence(r#"{"said":[]}"#)).unwrap();
    assert_eq!(judged.current_at, 1_700_000_000);
    assert_eq!(judged.sibling::<Words>("dns"), Some(Words { said: vec!["a".to_owned()] }));
    assert_eq!(judged.sibling::<Words>("ct"), None);
}

#[test]
fn settled_result_of_another_shape_is_no_baseline() {
    let mut old = evidence(r#"{"said":[]}"#);
    old.settled = Some((r#"{"heard":1}"#.to_owned(), 1_000));
    assert_eq!(judged::<Echo>(&old).unwrap().settled, None);
    old.settled = Some((r#"{"said":[]}"#.to_owned(), -1));
    assert_eq!(judged::<Echo>(&old).unwrap().settled.unwrap().at, -1);
}

#[test]
fn result_of_another_shape_cannot_be_judged() {
    assert!(judged::<Echo>(&evidence(r#"{"heard":1}"#)).unwrap_err().contains("said"));
    assert!(judged::<Echo>(&evidence("nonsense")).is_err());
}

#[test]
fn channel_says_which_setting_is_wrong() {
    let notification = notification(Vec::new());
    let refused = Notifier::<Echo>::render(notification, r#"{"words":"x"}"#.to_owned());
    assert!(refused.unwrap_err().starts_with("/words invalid type"));
    assert_eq!(<Notifier<Echo> as notifier::Guest>::describe().secret_fields, ["echo_url"]);
}
