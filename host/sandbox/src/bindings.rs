//! The plugin contract as Rust, generated from `wit/`. Generated types stay inside this crate:
//! `convert` turns them into the model's and the probes' own.

/// World of every check, with all imports that one may ask for.
pub(crate) mod check {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "vedette:plugin/check-plugin@1.0.0",
        imports: { default: async | trappable },
        exports: { default: async },
        with: {
            "vedette:net/tcp.connection": crate::host::tcp::Dialogue,
        },
        // Recordings are written in the shape of the contract.
        additional_derives: [serde::Serialize, serde::Deserialize],
    });
}

/// World of every channel: nothing but the log and the clock.
pub(crate) mod notifier {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "vedette:plugin/notifier-plugin@1.0.0",
        imports: { default: async | trappable },
        exports: { default: async },
        with: {
            "vedette:env/clock": crate::bindings::check::vedette::env::clock,
            "vedette:env/log": crate::bindings::check::vedette::env::log,
            "vedette:plugin/types": crate::bindings::check::vedette::plugin::types,
        },
    });
}
