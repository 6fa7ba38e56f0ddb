//! The text of a unit of work that says only what is needed, with its parameters.

use surrealdb::types::Value;

use crate::tx::Binds;

/// Grows by groups of statements; each has its own parameters.
#[derive(Default)]
pub(crate) struct Unit {
    pub(crate) text: String,
    pub(crate) binds: Binds,
    /// How many groups there are; makes their parameters' names.
    pub(crate) groups: usize,
}

impl Unit {
    /// Adds statements; `#` after a parameter's name becomes the number that makes it this
    /// group's.
    pub(crate) fn say<const N: usize>(&mut self, statements: &str, binds: [(&str, Value); N]) {
        self.groups += 1;
        let number = self.groups.to_string();
        self.text.push('\n');
        self.text.push_str(&statements.replace('#', &number));
        for (name, value) in binds {
            self.binds.bind(format!("{name}{number}"), value);
        }
    }
}
