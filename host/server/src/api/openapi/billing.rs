use super::{Subject, operation::Operation};

pub(super) const TAG: &str = "Billing";

pub(super) fn operations(_subject: &Subject<'_>) -> Vec<Operation> {
    Vec::new()
}
