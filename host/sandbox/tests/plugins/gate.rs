//! Each rule of the gate refuses with one sentence that says what to do.

use serde_json::json;
use vedette_sandbox::{Capabilities, Grant, PluginError, Stop, ValidateError};
use wit_component::StringEncoding;

use crate::{
    guest::{Guest, I32, I64, Says},
    lab::{holding, refusal, sandbox, test},
};

const TCP: &str = "tcp = { to = [\"target:25\"] }";
const TCP_IMPORT: &str = "vedette:net/tcp@1.0.0";

/// A check that imports and names `tcp.exchange`.
fn dialling(capabilities: &str) -> Guest {
    let mut guest = Guest::check(capabilities, &[TCP_IMPORT]);
    guest.import(TCP_IMPORT, "exchange", &[I32; 11], &[]);
    guest
}

#[test]
fn an_honest_check_is_installed_and_described() {
    let sandbox = holding(&dialling(TCP));
    assert_eq!(sandbox.check_types(), [test()]);
    let descriptor = sandbox.check(&test()).expect("installed");
    assert_eq!((descriptor.id.as_str(), descriptor.version.as_str()), ("acme.test", "1.0.0"));
    assert_eq!(descriptor.events[0].name, "test.bad");
    assert!(descriptor.events[0].self_resolving);
    assert_eq!(descriptor.events[0].confirmations, 1);
    assert_eq!(descriptor.metrics[0].name, "n");
}

#[test]
fn an_honest_channel_is_installed_and_described() {
    let sandbox = holding(&Guest::channel("ref:pager_url"));
    assert_eq!(sandbox.channels(), ["pager"]);
    let descriptor = sandbox.channel("pager").expect("installed");
    assert_eq!(descriptor.url_field.as_deref(), Some("pager_url"));
    assert!(sandbox.check_types().is_empty());
}

#[test]
fn files_that_are_no_component_are_refused() {
    assert_eq!(
        refusal(b"not wasm"),
        "this is not a WebAssembly component: it does not begin as WebAssembly does"
    );
    assert!(
        refusal(b"\0asm\x01\0\0\0")
            .ends_with("it is a core module; encode it as a component first")
    );
    assert_eq!(
        refusal(&vec![0; (32 << 20) + 1]),
        "the component has 33554433 bytes; at most 33554432 are accepted"
    );
    let engine = wasmtime::Engine::default();
    let native = engine.precompile_component(&Guest::check("", &[]).build()).expect("compiles");
    assert_eq!(
        refusal(&native),
        "this is native code; give the component that it was compiled from"
    );
    assert!(
        refusal(&Guest::check("", &[]).without_manifest())
            .contains("no custom section vedette:manifest")
    );
}

#[test]
fn a_manifest_of_an_inner_component_is_not_the_plugins_own() {
    let inner = Guest::check("", &[]).build();
    let mut outer = b"\0asm\x0d\0\x01\0".to_vec();
    outer.push(4); // a nested component
    let mut length = inner.len();
    while length >= 0x80 {
        outer.push(length as u8 | 0x80);
        length >>= 7;
    }
    outer.push(length as u8);
    outer.extend(inner);
    assert!(refusal(&outer).contains("no custom section vedette:manifest"));
}

/// What the compiler panics at is refused like the rest, and the service goes on.
#[test]
fn a_component_composed_of_several_is_refused() {
    let component = hex::decode(COMPOSED).expect("hexadecimal");
    let refused = refusal(&Guest::check("", &[]).with_manifest(component));
    assert!(refused.starts_with("the component does not compile: "), "{refused}");
    assert!(refused.ends_with("build it as one component, not composed of several"), "{refused}");
}

/// One component calls a function of another with a text, from its own memory into the other's:
///
/// ```text
/// (component
///   (component
///     (core module (memory (export "m") 1) (func (export "f") (param i32 i32))
///       (func (export "r") (param i32 i32 i32 i32) (result i32) i32.const 0))
///     (core instance (instantiate 0))
///     (func (export "f") (param "s" string)
///       (canon lift (core func 0 "f") (memory (core memory 0 "m")) (realloc (core func 0 "r")))))
///   (component
///     (import "f" (func (param "s" string)))
///     (core module (memory (export "m") 1))
///     (core instance (instantiate 0))
///     (core func (canon lower (func 0) (memory (core memory 0 "m"))))
///     (core module (import "" "f" (func (param i32 i32))))
///     (core instance (export "f" (func 0)))
///     (core instance (instantiate 1 (with "" (instance 1)))))
///   (instance (instantiate 0))
///   (alias export 0 "f" (func))
///   (instance (instantiate 1 (with "f" (func 0)))))
/// ```
const COMPOSED: &str = "\
     0061736d0d0001000480010061736d0d000100013c0061736d01000000010e0260027f7f0060047f7f7f7f017f\
     03030200010503010001070d03016d020001660000017200010a090202000b040041000b020401000000070801\
     4001017373010006130300000100016600020100016d000001000172080a010000000203000401000b07010001\
     6601000004710061736d0d000100070801400101737301000a0601000166010001140061736d01000000050301\
     0001070501016d020002040100000006070100020100016d08070101000001030001180061736d010000000106\
     0160027f7f000206010001660000020d0201010166000000010100120105040100000006060101000001660508\
     0100010101660100";

#[test]
fn imports_must_equal_the_grants() {
    assert_eq!(
        refusal(&dialling("").build()),
        "the component imports vedette:net/tcp@1.0.0, which is not granted; ask for tcp in \
         [capabilities] of plugin.toml and approve it, or remove the import"
    );
    assert_eq!(
        refusal(&Guest::check(TCP, &[]).build()),
        "plugin.toml asks for tcp, but the component does not import vedette:net/tcp; remove it \
         from [capabilities]"
    );
}

#[test]
fn what_the_operator_took_away_does_not_load() {
    let grant = Grant::Only(Box::<Capabilities>::default());
    let refused = sandbox().install(&dialling(TCP).build(), grant).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "the component imports vedette:net/tcp@1.0.0, which is not granted; add granted.tcp to its \
         entry in plugins.lock, or disable it"
    );
}

#[test]
fn imports_of_other_worlds_are_refused() {
    let mut guest = Guest::check("", &["wasi:clocks/wall@0.2.0"]);
    guest.packages.push("package wasi:clocks@0.2.0; interface wall { now: func() -> u64; }".into());
    guest.import("wasi:clocks/wall@0.2.0", "now", &[], &[I64]);
    assert_eq!(
        refusal(&guest.build()),
        "the component imports wasi:clocks/wall@0.2.0, which no plugin can have; build it without"
    );
}

#[test]
fn a_newer_contract_is_refused_by_what_is_missing() {
    let newer = "package vedette:net@1.9.0; interface tcp { newest: func(); }";
    let mut guest = Guest::check(TCP, &["vedette:net/tcp@1.9.0"]);
    guest.packages.push(newer.into());
    guest.import("vedette:net/tcp@1.9.0", "newest", &[], &[]);
    let said = refusal(&guest.build());
    assert!(said.starts_with("the component does not fit this host's contract"), "{said}");
    assert!(said.contains("newest"), "{said}");

    let breaking = "package vedette:net@2.0.0; interface tcp { newest: func(); }";
    let mut guest = Guest::check(TCP, &["vedette:net/tcp@2.0.0"]);
    guest.packages.push(breaking.into());
    guest.import("vedette:net/tcp@2.0.0", "newest", &[], &[]);
    assert_eq!(
        refusal(&guest.build()),
        "the component imports vedette:net/tcp@2.0.0; this host speaks version 1 of that interface"
    );
}

#[test]
fn exports_must_be_those_of_its_kind() {
    let mut guest = Guest::check("", &[]);
    guest.manifest = Guest::channel("ref:pager_url").manifest;
    assert_eq!(
        refusal(&guest.build()),
        "the component exports vedette:plugin/checker@1.0.0; a notifier exports \
         vedette:plugin/notifier and nothing else"
    );
}

#[test]
fn strings_must_be_utf_8() {
    let mut guest = Guest::check("", &[]);
    guest.encoding = StringEncoding::UTF16;
    assert_eq!(
        refusal(&guest.build()),
        "the component passes strings as UTF-16; build it with UTF-8 strings"
    );
}

#[test]
fn memory_must_fit_the_slot() {
    let mut guest = Guest::check("", &[]);
    guest.pages = 257;
    let said = refusal(&guest.build());
    // Whoever notices first, the compiler's tunables or the gate, it is refused by size.
    assert!(said.contains("memory"), "{said}");
    guest.pages = 256;
    sandbox().install(&guest.build(), Grant::AsAsked).expect("16 MiB fit");
}

#[test]
fn the_descriptor_must_agree_with_the_manifest() {
    let said = |says: Says<'_>| refusal(&Guest::check_saying(&says, "", &[]).build());
    let table = [
        (Says { id: "acme.other", ..Says::default() }, "id must be acme.test, as in plugin.toml"),
        (Says { version: "1.0.1", ..Says::default() }, "version must be 1.0.0, as in plugin.toml"),
        (Says { event: "ssl.expired", ..Says::default() }, "events must be named test.<what>"),
        (Says { event: "test", ..Says::default() }, "events must be named test.<what>"),
        (
            Says { alert_type: "cert_change", ..Says::default() },
            "events need an alert-type of their own, not cert_change",
        ),
        (
            Says { result_schema: "{\"$ref\":\"https://x.example/s\"}", ..Says::default() },
            "result-schema is refused: its reference \"https://x.example/s\" leaves the schema",
        ),
        (
            Says { config_schema: "[", ..Says::default() },
            "config-schema is refused: it is not JSON",
        ),
    ];
    for (says, expected) in table {
        let said = said(says);
        assert!(said.starts_with(&format!("the descriptor's {expected}")), "{said}");
    }
}

#[test]
fn describe_must_not_reach_outside() {
    let mut guest = Guest::check("", &["vedette:env/clock@1.0.0"]);
    let clock = guest.import("vedette:env/clock@1.0.0", "now", &[], &[I64]);
    guest.describe(move |code| {
        code.call(clock).drop().unreachable();
    });
    let said = refusal(&guest.build());
    assert!(said.starts_with("describe failed at install"), "{said}");
    assert!(said.contains("vedette:env/clock"), "it never got to its own trap: {said}");
}

/// It answers `{}` to every configuration.
#[tokio::test]
async fn an_empty_configuration_need_not_be_given_what_the_schema_requires() {
    let says = Says { config_schema: r#"{"required":["path"]}"#, ..Says::default() };
    let sandbox = holding(&Guest::check_saying(&says, "", &[]));
    let whole = json!({ "path": "/" });
    let judged = sandbox.validate(&test(), "example.com", &whole).await;
    let Err(ValidateError::Unavailable(PluginError::Broken { why: Stop::Output, message })) =
        judged
    else {
        panic!("{judged:?}")
    };
    assert!(message.contains("does not fit its schema"), "{message}");
}

#[test]
fn an_empty_configuration_must_not_trap() {
    let mut guest = Guest::check("", &[]);
    guest.validate(|code| {
        code.unreachable();
    });
    assert_eq!(
        refusal(&guest.build()),
        "validate failed at install: it trapped (wasm trap: wasm `unreachable` instruction executed)"
    );
    let mut guest = Guest::check("", &[]);
    guest.validate(|code| {
        code.loop_(wasm_encoder::BlockType::Empty).br(0).end().unreachable();
    });
    assert_eq!(
        refusal(&guest.build()),
        "validate failed at install: it used up its CPU time (100 ms are over)"
    );
}
