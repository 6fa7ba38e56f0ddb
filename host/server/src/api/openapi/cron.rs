use super::operation::Operation;

pub(super) const TAG: &str = "Scheduler";

pub(super) fn operations() -> Vec<Operation> {
    Vec::new()
}
