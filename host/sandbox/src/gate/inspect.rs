//! What can be found out about a component without running it.

use std::collections::BTreeSet;

use wasmparser::{CanonicalFunction, CanonicalOption, Encoding, Parser, Payload};
use wasmtime::{
    Engine,
    component::{Component, types::ComponentItem},
};

use super::GateError;
use crate::{
    engine::Class,
    grants::Capabilities,
    manifest::{Kind, ManifestError, SECTION},
};

/// Size, kind of file, and the manifest as it is written.
pub(super) fn manifest_text(bytes: &[u8]) -> Result<&str, GateError> {
    let limit = Class::Heavy.room().file;
    if bytes.len() > limit {
        return Err(GateError::Size { size: bytes.len(), limit });
    }
    if Engine::detect_precompiled(bytes).is_some() {
        return Err(GateError::Precompiled);
    }
    let manifest = find_manifest(bytes)?.ok_or(ManifestError::Missing)?;
    let text = std::str::from_utf8(manifest)
        .map_err(|_| ManifestError::Syntax("it is not UTF-8".to_owned()))?;
    Ok(text)
}

/// The manifest's section of the outermost component; what lies inside nested ones is not its own.
fn find_manifest(bytes: &[u8]) -> Result<Option<&[u8]>, GateError> {
    if !bytes.starts_with(MAGIC) {
        let message = "it does not begin as WebAssembly does";
        return Err(GateError::NotAComponent(message.to_owned()));
    }
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(|error| GateError::NotAComponent(error.to_string()))? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                let message = "it is a core module; encode it as a component first";
                return Err(GateError::NotAComponent(message.to_owned()));
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if depth == 0 && section.name() == SECTION => {
                return Ok(Some(section.data()));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// UTF-8 only: transcoding other encodings is where hosts were broken (RUSTSEC-2026-0091 ff.).
pub(super) fn encodings(bytes: &[u8]) -> Result<(), GateError> {
    let broken = |error: wasmparser::BinaryReaderError| GateError::NotAComponent(error.to_string());
    for payload in Parser::new(0).parse_all(bytes) {
        let Payload::ComponentCanonicalSection(section) = payload.map_err(broken)? else {
            continue;
        };
        for function in section {
            let options = match function.map_err(broken)? {
                CanonicalFunction::Lift { options, .. }
                | CanonicalFunction::Lower { options, .. } => options,
                _ => continue,
            };
            for option in &options {
                match option {
                    CanonicalOption::UTF16 => return Err(GateError::Encoding("UTF-16")),
                    CanonicalOption::CompactUTF16 => return Err(GateError::Encoding("Latin-1")),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Imports that carry functions must equal the granted interfaces; log and clock always are, and
/// `x509` may come with `tls`. Instances of types alone reach nothing.
pub(super) fn imports(
    component: &Component,
    asked: &Capabilities,
    granted: &Capabilities,
) -> Result<(), GateError> {
    let engine = component.engine();
    let mut imported = BTreeSet::new();
    for (import, item) in component.component_type().imports(engine) {
        let carries_functions = match &item.ty {
            ComponentItem::ComponentInstance(instance) => {
                instance.exports(engine).any(|(_, item)| {
                    !matches!(item.ty, ComponentItem::Type(_) | ComponentItem::Resource(_))
                })
            }
            ComponentItem::Type(_) => false,
            _ => true,
        };
        if !carries_functions {
            continue;
        }
        let (interface, version) = import.split_once('@').unwrap_or((import, ""));
        let Some(known) = KNOWN.iter().find(|known| known.interface == interface) else {
            return Err(GateError::ForeignImport(import.to_owned()));
        };
        if !version.starts_with("1.") {
            return Err(GateError::ImportVersion(import.to_owned()));
        }
        let always = known.capability.is_empty();
        let comes_along = interface == X509 && granted.examines();
        if !always && !comes_along && !granted.interfaces().contains(interface) {
            return Err(not_granted(import.to_owned(), known, asked));
        }
        imported.insert(known.interface);
    }
    // Held against what was asked: what the operator took away is no fault of the component's.
    match asked.interfaces().difference(&imported).next() {
        None => Ok(()),
        Some(interface) => {
            let known = KNOWN.iter().find(|known| known.interface == *interface);
            let capability = known.map_or("it", |known| known.capability);
            Err(GateError::NotImported { interface, capability })
        }
    }
}

/// Who can fix it: the author, who did not ask, or the operator, who does not grant.
fn not_granted(import: String, known: &Known, asked: &Capabilities) -> GateError {
    let capability = known.capability;
    if asked.interfaces().contains(known.interface) {
        return GateError::Withheld { import, capability };
    }
    if known.interface == X509 && asked.examines() {
        return GateError::Withheld { import, capability: "tls" };
    }
    GateError::NotGranted { import, capability }
}

/// Exactly the export of its kind.
pub(super) fn exports(component: &Component, kind: &Kind) -> Result<(), GateError> {
    let (kind, wanted) = match kind {
        Kind::Check(_) => ("check", "vedette:plugin/checker"),
        Kind::Notifier(_) => ("notifier", "vedette:plugin/notifier"),
    };
    let ty = component.component_type();
    let found: Vec<&str> = ty.exports(component.engine()).map(|(name, _)| name).collect();
    match found.as_slice() {
        [export] if export.strip_prefix(wanted).is_some_and(|rest| rest.starts_with("@1.")) => {
            Ok(())
        }
        [] => Err(GateError::Exports { kind, wanted, found: "nothing".to_owned() }),
        found => Err(GateError::Exports { kind, wanted, found: found.join(", ") }),
    }
}

/// What it needs to start must fit into a slot of the pool.
pub(super) fn resources(component: &Component, class: Class) -> Result<(), GateError> {
    let room = class.room();
    let exceeds = |needs: String, limit: String| Err(GateError::Resources { needs, limit });
    let Some(needed) = component.resources_required() else {
        return exceeds("modules that come from outside".to_owned(), "none".to_owned());
    };
    if needed.num_memories > room.memories {
        return exceeds(format!("{} memories", needed.num_memories), room.memories.to_string());
    }
    if needed.num_tables > room.tables {
        return exceeds(format!("{} tables", needed.num_tables), room.tables.to_string());
    }
    let memory = needed.max_initial_memory_size.unwrap_or(0).saturating_mul(PAGE);
    if memory > room.memory as u64 {
        return exceeds(format!("{memory} bytes of memory to start"), room.memory.to_string());
    }
    let elements = needed.max_initial_table_size.unwrap_or(0);
    if elements > room.table_elements as u64 {
        return exceeds(format!("a table of {elements} entries"), room.table_elements.to_string());
    }
    Ok(())
}

/// An interface of the contract and the capability that grants it; none for those always linked.
struct Known {
    interface: &'static str,
    capability: &'static str,
}

const fn known(interface: &'static str, capability: &'static str) -> Known {
    Known { interface, capability }
}

const X509: &str = "vedette:net/x509";

const KNOWN: &[Known] = &[
    known("vedette:env/clock", ""),
    known("vedette:env/log", ""),
    known("vedette:env/random", "random"),
    known("vedette:env/secrets", "secrets"),
    known("vedette:env/state", "state"),
    known("vedette:net/dns", "dns"),
    known("vedette:net/http", "http"),
    known("vedette:net/tcp", "tcp"),
    known("vedette:net/tls", "tls"),
    known(X509, "x509"),
];

/// What every WebAssembly file begins with.
const MAGIC: &[u8] = b"\0asm";

/// Bytes of a page of linear memory.
const PAGE: u64 = 64 << 10;
