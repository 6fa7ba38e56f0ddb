use serde_json::Value;

use super::operation::Operation;

pub(super) const TAG: &str = "Agents";

pub(super) fn operations() -> Vec<Operation> {
    Vec::new()
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    Vec::new()
}
