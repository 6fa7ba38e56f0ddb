//! The plugin contract as Rust: generated from `wit/`, never written by hand. The rest of the
//! crate re-exports what authors need, item by item, so that a better type can take an item's
//! place without a change to the contract.

/// World of every check. It names all imports a check may ask for; the component keeps only
/// those that the plugin's code reaches, so a plugin never carries a capability it does not use.
pub mod check {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "check-plugin",
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_checker",
    });
}

/// World of every notifier: nothing but the log and the clock.
pub mod notifier {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "notifier-plugin",
        with: {
            "vedette:env/clock@1.0.0": crate::bindings::check::vedette::env::clock,
            "vedette:env/log@1.0.0": crate::bindings::check::vedette::env::log,
            "vedette:plugin/types@1.0.0": crate::bindings::check::vedette::plugin::types,
        },
        generate_unused_types: true,
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_notifier",
    });
}
