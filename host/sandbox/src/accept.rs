//! What a guest answered, accepted field by field or refused as a whole.

use std::collections::BTreeMap;

use serde_json::Value;
use vedette_model::{
    Assessment, Finding, Observation, assessment::EventType, delivery::Rendered, parse::whole,
};

use crate::{
    bindings::{
        check::{exports::vedette::plugin::checker as wit, vedette::plugin::types as wit_types},
        notifier::exports::vedette::plugin::notifier as wit_notifier,
    },
    channel::Verdict,
    check::{CheckDescriptor, Problem},
    egress::sendable,
    host::mask,
    output::{
        self, CONFIG, DELIVERED, DELIVERIES, DETAILS, FINDINGS, Forbidden, KEY, MEMORY, MESSAGE,
        METRICS, PROBLEMS, RESULT, SUGGESTION, cut,
    },
    schema::Schema,
};

/// An observation whose result satisfies the plugin's own schema.
pub(crate) fn observation(
    answer: wit::Observation,
    descriptor: &CheckDescriptor,
    schema: &Schema,
    secrets: &BTreeMap<String, String>,
) -> Result<Observation, Forbidden> {
    output::at_most("metrics", answer.metrics.len(), METRICS)?;
    let metrics = answer.metrics.into_iter().map(|metric| {
        if !descriptor.metrics.iter().any(|known| known.name == metric.name) {
            return Err(Forbidden(format!(
                "metric {:?} is not in the descriptor",
                cut(metric.name, 64)
            )));
        }
        let value = output::finite("metric", metric.value)?;
        Ok((metric.name, value))
    });
    let mut result = output::json("result", &answer.result, RESULT)?;
    if !secrets.is_empty() {
        mask_all(&mut result, secrets);
    }
    schema
        .check(&result)
        .map_err(|problem| Forbidden(format!("result does not fit its schema: {problem}")))?;
    Ok(Observation {
        result,
        metrics: metrics.collect::<Result<_, _>>()?,
        summary: output::text("summary", mask(answer.summary, secrets), MESSAGE)?,
        next_run_in_s: answer.next_run_in_s,
    })
}

/// Replaces every secret in the texts of a result. In its JSON a quote or a backslash of theirs
/// would be escaped, and the secret not be known again.
fn mask_all(value: &mut Value, secrets: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => *text = mask(std::mem::take(text), secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_all(item, secrets)),
        Value::Object(fields) => {
            let masked = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                mask_all(&mut value, secrets);
                (mask(name, secrets), value)
            });
            *fields = masked.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An assessment whose findings are all of listed events.
pub(crate) fn assessment(
    answer: wit::Assessment,
    events: &[EventType],
) -> Result<Assessment, Forbidden> {
    output::at_most("findings", answer.findings.len(), FINDINGS)?;
    let findings = answer.findings.into_iter().map(|found| finding(found, events));
    let findings = findings.collect::<Result<_, _>>()?;
    if let Some(memory) = &answer.memory {
        output::json("memory", memory, MEMORY)?;
    }
    Ok(Assessment { health: answer.health.into(), findings, memory: answer.memory })
}

fn finding(found: wit::Finding, events: &[EventType]) -> Result<Finding, Forbidden> {
    if !events.iter().any(|event| event.name == found.event) {
        return Err(Forbidden(format!(
            "event {:?} is not in the descriptor",
            cut(found.event, 64)
        )));
    }
    let suggestion = found.suggestion.map(|text| output::text("suggestion", text, SUGGESTION));
    let details = found.details.map(|text| output::json("details", &text, DETAILS));
    Ok(Finding {
        event: found.event,
        severity: found.severity.map(Into::into),
        dedup_key: output::text("dedup-key", found.dedup_key, KEY)?,
        message: output::text("message", found.message, MESSAGE)?,
        suggestion: suggestion.transpose()?,
        details: details.transpose()?,
        confirmations: found.confirmations.map(u32::from),
    })
}

/// What a configuration was normalised to; it must still fit the schema. The empty one that is
/// tried at install may lack what the schema requires, and then need not be given it.
pub(crate) fn config(answer: &str, given: &Value, schema: &Schema) -> Result<Value, Forbidden> {
    // As it was written: what is stored is what was sent, and a plugin must find what it looks for.
    let config = output::json_as_it_is("configuration", answer, CONFIG)?;
    if let Some(Problem { pointer, message }) = unprintable(&config).into_iter().next() {
        return Err(Forbidden(format!("the normalised configuration {message} at {pointer}")));
    }
    match schema.check(&config) {
        Err(problem) if schema.check(given).is_ok() => Err(Forbidden(format!(
            "the normalised configuration does not fit its schema: {problem}"
        ))),
        Ok(()) | Err(_) => Ok(config),
    }
}

/// The texts of a configuration that have control characters, other than those of lines and tabs.
pub(crate) fn unprintable(config: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    find_unprintable(config, &mut String::new(), &mut found);
    found
}

/// A configuration whose whole numbers are written as such: `1000.0` is one, as JSON Schema has it, and
/// what is written in Rust reads no integer from it.
pub(crate) fn with_whole_numbers(mut config: Value) -> Value {
    write_whole(&mut config);
    config
}

fn write_whole(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(write_whole),
        Value::Object(fields) => fields.values_mut().for_each(write_whole),
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().and_then(whole) {
                *number = whole.into();
            }
        }
        Value::Number(_) | Value::String(_) | Value::Null | Value::Bool(_) => {}
    }
}

fn find_unprintable(value: &Value, pointer: &mut String, found: &mut Vec<Problem>) {
    let mut inside = |step: &dyn std::fmt::Display, value: &Value| {
        let length = pointer.len();
        pointer.push_str(&format!("/{step}"));
        find_unprintable(value, pointer, found);
        pointer.truncate(length);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(nth, item)| inside(&nth, item));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| inside(&output::reason(name.clone()), field));
        }
        Value::String(text) if output::is_unprintable(text) && found.len() < PROBLEMS => {
            found.push(Problem {
                pointer: pointer.clone(),
                message: "must not hold control characters".to_owned(),
            });
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(crate) fn problems(answer: Vec<wit_types::Problem>) -> Result<Vec<Problem>, Forbidden> {
    output::at_most("problems", answer.len(), PROBLEMS)?;
    let problems = answer.into_iter().map(|problem| {
        Ok(Problem {
            pointer: output::text("pointer", problem.pointer, KEY)?,
            message: output::text("message", problem.message, MESSAGE)?,
        })
    });
    problems.collect()
}

/// Deliveries of one notification. A URL is a reference that the host resolves, never one of the
/// plugin's own making, and what stands behind it is a path or a query: a channel cannot choose
/// where its alerts go, nor make another host of the one that the account set.
pub(crate) fn deliveries(
    answer: Vec<wit_notifier::Delivery>,
    fields: &[String],
) -> Result<Vec<Rendered>, Forbidden> {
    output::at_most("deliveries", answer.len(), DELIVERIES)?;
    let mut left = DELIVERED;
    let rendered = answer.into_iter().map(|delivery| {
        let size = size(&delivery);
        left = left.checked_sub(size).ok_or_else(|| {
            Forbidden(format!("the deliveries are larger than {DELIVERED} bytes together"))
        })?;
        rendered(delivery, fields)
    });
    rendered.collect()
}

fn rendered(delivery: wit_notifier::Delivery, fields: &[String]) -> Result<Rendered, Forbidden> {
    match delivery {
        wit_notifier::Delivery::Http(http) => {
            let named = http.url.strip_prefix("ref:").is_some_and(|reference| {
                fields.iter().any(|field| {
                    let suffix = reference.strip_prefix(field.as_str());
                    suffix.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
                })
            });
            if !named {
                let message = "an http delivery goes to ref:<field> of one of the secret fields, \
                               with a path or a query behind it or nothing";
                return Err(Forbidden(message.to_owned()));
            }
            let body = String::from_utf8(http.body)
                .map_err(|_| Forbidden("the body of an http delivery is not UTF-8".to_owned()))?;
            let headers = http.headers.into_iter().map(header).collect::<Result<Vec<_>, _>>()?;
            let method = output::text("method", http.method, 16)?;
            // Else every attempt would fail, and for a reason that sounds like the receiver's.
            sendable(&method, &headers)
                .map_err(|why| Forbidden(format!("an http delivery cannot be sent: {why}")))?;
            Ok(Rendered::Http {
                url: output::text("url", http.url, MESSAGE)?,
                method,
                headers,
                body,
            })
        }
        wit_notifier::Delivery::Email(mail) => Ok(Rendered::Email {
            subject: output::text("subject", mail.subject, MESSAGE)?,
            text: output::lines("text", mail.text, DELIVERED)?,
            html: mail.html.map(|html| output::lines("html", html, DELIVERED)).transpose()?,
            told: Vec::new(),
        }),
    }
}

fn header((name, value): (String, String)) -> Result<(String, String), Forbidden> {
    Ok((output::text("header", name, KEY)?, output::text("header", value, MESSAGE)?))
}

fn size(delivery: &wit_notifier::Delivery) -> usize {
    match delivery {
        wit_notifier::Delivery::Http(http) => {
            let headers = http.headers.iter().map(|(name, value)| name.len() + value.len());
            http.body.len() + http.url.len() + headers.sum::<usize>()
        }
        wit_notifier::Delivery::Email(mail) => {
            mail.subject.len() + mail.text.len() + mail.html.as_ref().map_or(0, String::len)
        }
    }
}

pub(crate) fn verdict(answer: wit_notifier::Verdict) -> Result<Verdict, Forbidden> {
    match answer {
        wit_notifier::Verdict::Delivered => Ok(Verdict::Delivered),
        wit_notifier::Verdict::Retry(after) => {
            Ok(Verdict::Retry(after.map(|seconds| seconds.min(LONGEST_RETRY))))
        }
        wit_notifier::Verdict::Rejected(reason) => {
            output::text("reason", reason, MESSAGE).map(Verdict::Rejected)
        }
    }
}

/// Seconds.
const LONGEST_RETRY: u32 = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_delivery_that_could_not_be_sent_is_no_delivery() {
        let written = |method: &str, header: (&str, &str)| {
            let delivery = wit_notifier::Delivery::Http(wit_notifier::HttpDelivery {
                url: "ref:url".to_owned(),
                method: method.to_owned(),
                headers: vec![(header.0.to_owned(), header.1.to_owned())],
                body: b"{}".to_vec(),
            });
            deliveries(vec![delivery], &["url".to_owned()]).map(|rendered| rendered.len())
        };
        let json = ("content-type", "application/json");
        assert_eq!(written("POST", json).expect("can be sent"), 1);
        for (method, header) in [
            ("GE T", json),
            ("CONNECT", json),
            ("POST", ("host", "other.example")),
            ("POST", ("Content-Length", "3")),
            ("POST", ("two words", "x")),
        ] {
            let Forbidden(said) = written(method, header).expect_err(method);
            assert!(said.starts_with("an http delivery cannot be sent: "), "{said}");
        }
    }

    #[test]
    fn whole_numbers_are_written_as_such() {
        let given = json!({"a": [1.0, 1.5, -2.0, 1e300, "1.0"], "b": {"c": 0.0, "d": 7}});
        let same = json!({"a": [1, 1.5, -2, 1e300, "1.0"], "b": {"c": 0, "d": 7}});
        assert_eq!(with_whole_numbers(given).to_string(), same.to_string());
    }

    #[test]
    fn a_secret_is_masked_whatever_json_makes_of_its_characters() {
        let secrets = BTreeMap::from([("token".to_owned(), "pa\"ss\\1".to_owned())]);
        let mut result = json!({"a": ["x pa\"ss\\1", 1], "pa\"ss\\1": {"b": null}});
        mask_all(&mut result, &secrets);
        assert_eq!(result, json!({"a": ["x [secret]", 1], "[secret]": {"b": null}}));
    }
}
