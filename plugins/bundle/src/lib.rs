//! The built-in plugins as component bytes. They come through the same door as an operator's:
//! each carries its manifest, and the sandbox's gate looks at each before it is loaded.
//!
//! The build script finds them by their folders: a new plugin is a new folder, and no line here.

/// A plugin that the binary carries.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    /// The manifest's `plugin.id`, e.g. `vedette.check-ssl`.
    pub id: &'static str,
    /// A component with its `plugin.toml` in the custom section `vedette:manifest`.
    pub component: &'static [u8],
}

impl std::fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BuiltIn({}, {} bytes)", self.id, self.component.len())
    }
}

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

#[cfg(test)]
mod tests;
