//! What a plugin says of itself, held against its manifest and the contract.

use vedette_model::{alert::CERT_CHANGE, assessment::EventType};

use super::GateError;
use crate::{
    bindings::{
        check::vedette::plugin::types as wit,
        notifier::exports::vedette::plugin::notifier as wit_notifier,
    },
    channel::ChannelDescriptor,
    check::{CheckDescriptor, MetricDef},
    manifest::{Kind, Manifest},
    output::{self, EVENTS, FIELDS, Forbidden, KEY, METRICS, SUGGESTION, TITLE},
    registry::Plugin,
    schema::Schema,
};

/// A check's descriptor and its compiled schemas.
#[derive(Debug)]
pub(super) struct DescribedCheck {
    pub(super) descriptor: CheckDescriptor,
    pub(super) config: Schema,
    pub(super) result: Schema,
}

/// A channel's descriptor and its compiled schema.
#[derive(Debug)]
pub(super) struct DescribedChannel {
    pub(super) descriptor: ChannelDescriptor,
    pub(super) config: Schema,
}

pub(super) fn check(
    manifest: &Manifest,
    plugin: &Plugin,
    said: wit::Descriptor,
) -> Result<DescribedCheck, GateError> {
    let Kind::Check(check_type) = &manifest.kind else {
        return wrong("kind", "must be a check, as plugin.toml says");
    };
    same(manifest, &said.id, &said.version)?;
    let config = schema("config-schema", &said.config_schema)?;
    let result = schema("result-schema", &said.result_schema)?;
    let events = events(said.events, check_type.as_str(), manifest)?;
    at_most("summary-fields", said.summary_fields.len(), FIELDS)?;
    let fields = said.summary_fields.into_iter();
    let summary_fields = fields.map(|field| text("summary-fields", field, KEY));
    let descriptor = CheckDescriptor {
        check_type: check_type.clone(),
        id: said.id,
        version: said.version,
        title: text("title", said.title, TITLE)?,
        description: text("description", said.description, SUGGESTION)?,
        config_schema: config.value.clone(),
        result_schema: result.value.clone(),
        summary_fields: summary_fields.collect::<Result<_, _>>()?,
        reaches_target: plugin.grants.reaches_target(),
        events,
        metrics: metrics(said.metrics)?,
        interval: manifest.interval,
        min_interval: manifest.min_interval,
    };
    Ok(DescribedCheck { descriptor, config, result })
}

pub(super) fn channel(
    manifest: &Manifest,
    said: wit_notifier::ChannelDescriptor,
) -> Result<DescribedChannel, GateError> {
    let Kind::Notifier(channel) = &manifest.kind else {
        return wrong("kind", "must be a notifier, as plugin.toml says");
    };
    same(manifest, &said.id, &said.version)?;
    let config = schema("config-schema", &said.config_schema)?;
    at_most("secret-fields", said.secret_fields.len(), FIELDS)?;
    // What `ref:` could not name would be set and never sent to.
    if let Some(field) = said.secret_fields.iter().find(|field| !is_word(field)) {
        return wrong("secret-fields", &format!("must match [a-z][a-z0-9_]*, not {field:?}"));
    }
    if let Some(field) = &manifest.url_field
        && !said.secret_fields.contains(field)
    {
        return wrong("secret-fields", &format!("must name {field}, the url-field of plugin.toml"));
    }
    if said.batch_max == 0 {
        return wrong("batch-max", "must be at least 1");
    }
    let descriptor = ChannelDescriptor {
        channel: channel.clone(),
        id: said.id,
        version: said.version,
        title: text("title", said.title, TITLE)?,
        description: text("description", said.description, SUGGESTION)?,
        config_schema: config.value.clone(),
        secret_fields: said.secret_fields,
        batch_max: said.batch_max,
        url_field: manifest.url_field.clone(),
        vendor: manifest.vendor.clone(),
    };
    Ok(DescribedChannel { descriptor, config })
}

fn same(manifest: &Manifest, id: &str, version: &str) -> Result<(), GateError> {
    if id != manifest.id {
        return wrong("id", &format!("must be {}, as in plugin.toml", manifest.id));
    }
    if version != manifest.version {
        return wrong("version", &format!("must be {}, as in plugin.toml", manifest.version));
    }
    Ok(())
}

/// Events belong to their check: `smtp_banner.open` to `smtp_banner`. The built-in checks share
/// the documented events (`certificate.changed` is raised by two of them).
fn events(
    said: Vec<wit::EventType>,
    check_type: &str,
    manifest: &Manifest,
) -> Result<Vec<EventType>, GateError> {
    at_most("events", said.len(), EVENTS)?;
    let built_in = manifest.id.starts_with(BUILT_IN);
    let mut events: Vec<EventType> = Vec::with_capacity(said.len());
    for event in said {
        usable(&event, check_type, built_in)?;
        if events.iter().any(|known| known.name == event.name) {
            return wrong("events", &format!("name {} twice", event.name));
        }
        let title = text("events", event.title.clone(), TITLE)?;
        events.push(EventType { title, ..event.into() });
    }
    Ok(events)
}

/// Whether the service can raise it, and may for this plugin.
fn usable(event: &wit::EventType, check_type: &str, built_in: bool) -> Result<(), GateError> {
    let parts = event.name.split_once('.');
    let formed = parts.is_some_and(|(kind, what)| is_word(kind) && is_word(what));
    let own = built_in || parts.is_some_and(|(kind, _)| kind == check_type);
    if !formed || !own {
        return wrong(
            "events",
            &format!("must be named {check_type}.<what>, not {:?}", event.name),
        );
    }
    if !is_word(&event.alert_type) || event.confirmations == 0 {
        let reason = format!("need an alert-type, and 1 or more confirmations: {}", event.name);
        return wrong("events", &reason);
    }
    if event.alert_type == CERT_CHANGE && !built_in {
        let reason = format!(
            "need an alert-type of their own, not {CERT_CHANGE}, which writes the history of \
             certificates: {}",
            event.name
        );
        return wrong("events", &reason);
    }
    if event.clears == 0 && !event.self_resolving {
        let reason =
            format!("resolve themselves or need 1 or more clears, not neither: {}", event.name);
        return wrong("events", &reason);
    }
    Ok(())
}

fn metrics(said: Vec<wit::MetricDef>) -> Result<Vec<MetricDef>, GateError> {
    at_most("metrics", said.len(), METRICS)?;
    let metrics = said.into_iter().map(|metric| {
        if !is_word(&metric.name) || metric.name.len() > 63 {
            return wrong(
                "metrics",
                &format!("must match [a-z][a-z0-9_]{{0,62}}: {:?}", metric.name),
            );
        }
        let unit = text("metrics", metric.unit, TITLE)?;
        let help = text("metrics", metric.help, TITLE)?;
        Ok(MetricDef { name: metric.name, unit, help })
    });
    metrics.collect()
}

fn schema(field: &'static str, said: &str) -> Result<Schema, GateError> {
    Schema::new(said)
        .map_err(|reason| GateError::Descriptor { field, reason: format!("is refused: {reason}") })
}

fn text(field: &'static str, said: String, limit: usize) -> Result<String, GateError> {
    output::text("it", said, limit).map_err(|Forbidden(reason)| GateError::Descriptor {
        field,
        reason: format!("is refused: {reason}"),
    })
}

fn at_most(field: &'static str, length: usize, limit: usize) -> Result<(), GateError> {
    output::at_most("it", length, limit).map_err(|Forbidden(reason)| GateError::Descriptor {
        field,
        reason: format!("is refused: {reason}"),
    })
}

fn wrong<T>(field: &'static str, reason: &str) -> Result<T, GateError> {
    Err(GateError::Descriptor { field, reason: reason.to_owned() })
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The publisher whose plugins the binary carries.
const BUILT_IN: &str = "vedette.";
