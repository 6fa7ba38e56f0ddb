//! From a plugin's sources to the one file that is installed: a component with its manifest inside.
//! The built-in plugins and all others are made here in the same way.
//!
//! [`Toolchain`] → cargo for [`TARGET`] → a core module → [`encode`].
//!
//! *Invariant:* the same module and manifest give the same bytes.

mod toolchain;

use anyhow::Result;
use wasm_encoder::{ComponentSection, CustomSection};
use wit_component::ComponentEncoder;

pub use toolchain::{TARGET, Toolchain};

/// The section in which a component carries its `plugin.toml`.
const MANIFEST: &str = "vedette:manifest";

/// A core module and its manifest as one component.
///
/// The component imports only the interfaces that the module's code reaches: the encoder drops
/// those of the world that the linker left without a use.
pub fn encode(module: &[u8], manifest: &str) -> Result<Vec<u8>> {
    let mut component = ComponentEncoder::default().validate(true).module(module)?.encode()?;
    let section = CustomSection { name: MANIFEST.into(), data: manifest.as_bytes().into() };
    section.append_to_component(&mut component);
    Ok(component)
}
