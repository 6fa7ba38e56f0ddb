use std::collections::BTreeSet;

use toml::{Table, Value};
use wasmparser::{Parser, Payload};
use wit_component::DecodedWasm;
use wit_parser::{InterfaceId, Resolve, WorldItem, WorldKey};

use crate::{BUILT_IN, BuiltIn};

#[test]
fn every_plugin_carries_the_manifest_that_names_it() {
    assert!(!BUILT_IN.is_empty());
    for plugin in BUILT_IN {
        let manifest = manifest(plugin);
        assert_eq!(manifest["plugin"]["id"].as_str(), Some(plugin.id));
    }
}

#[test]
fn ids_are_unique() {
    let ids: BTreeSet<&str> = BUILT_IN.iter().map(|plugin| plugin.id).collect();
    assert_eq!(ids.len(), BUILT_IN.len());
}

/// Nothing of WASI, nothing of a browser, and no interface of the world that is not used.
#[test]
fn imports_are_what_the_manifest_asks_for() {
    for plugin in BUILT_IN {
        let manifest = manifest(plugin);
        let capabilities = manifest.get("capabilities").and_then(Value::as_table);
        let asked: BTreeSet<String> = capabilities
            .into_iter()
            .flat_map(Table::keys)
            .map(|name| format!("{}/{name}@1.0.0", package(name)))
            .collect();
        let mut always = vec!["vedette:env/log@1.0.0", "vedette:env/clock@1.0.0"];
        // Who may shake hands may have chains examined.
        if asked.contains("vedette:net/tls@1.0.0") {
            always.push("vedette:net/x509@1.0.0");
        }
        let imported: BTreeSet<String> = World::of(plugin)
            .imports()
            .into_iter()
            .filter(|name| !always.contains(&name.as_str()))
            .collect();
        assert_eq!(imported, asked, "{plugin:?}");
    }
}

/// Its only way to say where it panicked.
#[test]
fn every_plugin_has_the_log() {
    for plugin in BUILT_IN {
        let imports = World::of(plugin).imports();
        assert!(imports.iter().any(|name| name == "vedette:env/log@1.0.0"), "{plugin:?}");
    }
}

#[test]
fn the_one_export_is_that_of_its_kind() {
    for plugin in BUILT_IN {
        let manifest = manifest(plugin);
        let expected = match manifest["plugin"]["kind"].as_str() {
            Some("check") => "vedette:plugin/checker@1.0.0",
            Some("notifier") => "vedette:plugin/notifier@1.0.0",
            other => panic!("{other:?} is no kind of plugin"),
        };
        assert_eq!(World::of(plugin).exports(), [expected], "{plugin:?}");
    }
}

#[test]
fn plugins_are_small_enough_for_the_light_engine() {
    for plugin in BUILT_IN {
        assert!(plugin.component.len() < 4 << 20, "{plugin:?}");
    }
}

#[test]
fn paths_of_the_build_machine_stay_out() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    for plugin in BUILT_IN {
        for path in [root, "/registry/src/"] {
            let found = plugin.component.windows(path.len()).position(|w| w == path.as_bytes());
            let allowed = found.is_none_or(|at| plugin.component[..at].ends_with(b"/cargo"));
            assert!(allowed, "{plugin:?} names {path}");
        }
    }
}

/// The world of a component, read back from its bytes.
struct World {
    resolve: Resolve,
    id: wit_parser::WorldId,
}

impl World {
    fn of(plugin: &BuiltIn) -> Self {
        match wit_component::decode(plugin.component).expect("a component") {
            DecodedWasm::Component(resolve, id) => Self { resolve, id },
            DecodedWasm::WitPackage(..) => panic!("{plugin:?} is only types"),
        }
    }

    /// Interfaces with functions; those that only lend their types grant nothing.
    fn imports(&self) -> Vec<String> {
        let used = |id: InterfaceId| !self.resolve.interfaces[id].functions.is_empty();
        self.names(self.resolve.worlds[self.id].imports.iter(), used)
    }

    fn exports(&self) -> Vec<String> {
        self.names(self.resolve.worlds[self.id].exports.iter(), |_| true)
    }

    fn names<'a>(
        &self,
        items: impl Iterator<Item = (&'a WorldKey, &'a WorldItem)>,
        counts: impl Fn(InterfaceId) -> bool,
    ) -> Vec<String> {
        items
            .filter(|(_, item)| match item {
                WorldItem::Interface { id, .. } => counts(*id),
                WorldItem::Function(_) | WorldItem::Type { .. } => true,
            })
            .map(|(key, _)| self.resolve.name_world_key(key))
            .collect()
    }
}

fn manifest(plugin: &BuiltIn) -> Table {
    let sections = Parser::new(0).parse_all(plugin.component).filter_map(|payload| {
        match payload.expect("a well-formed component") {
            Payload::CustomSection(section) if section.name() == "vedette:manifest" => {
                Some(section.data())
            }
            _ => None,
        }
    });
    let [data] = sections.collect::<Vec<_>>()[..] else { panic!("{plugin:?}: not one manifest") };
    let text = std::str::from_utf8(data).expect("text");
    text.parse().expect("a manifest of toml")
}

fn package(capability: &str) -> &'static str {
    match capability {
        "dns" | "x509" | "tls" | "http" | "tcp" => "vedette:net",
        _ => "vedette:env",
    }
}
