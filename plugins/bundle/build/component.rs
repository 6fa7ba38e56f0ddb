//! A core module and its manifest as one component.

use anyhow::Result;
use wasm_encoder::{ComponentSection, CustomSection};
use wit_component::ComponentEncoder;

/// The section in which a component carries its `plugin.toml`.
const MANIFEST: &str = "vedette:manifest";

/// The component imports only the interfaces that the module's code reaches: the encoder drops
/// those of the world that the linker left without a use.
pub(crate) fn encode(module: &[u8], manifest: &str) -> Result<Vec<u8>> {
    let mut component = ComponentEncoder::default().validate(true).module(module)?.encode()?;
    let section = CustomSection { name: MANIFEST.into(), data: manifest.as_bytes().into() };
    section.append_to_component(&mut component);
    Ok(component)
}
