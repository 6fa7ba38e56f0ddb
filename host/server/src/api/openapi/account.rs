use serde_json::Value;

use super::{Subject, operation::Operation};

pub(super) const TAG: &str = "Account";

pub(super) fn operations(_subject: &Subject<'_>) -> Vec<Operation> {
    Vec::new()
}

pub(super) fn schemas(_subject: &Subject<'_>) -> Vec<(String, Value)> {
    Vec::new()
}
