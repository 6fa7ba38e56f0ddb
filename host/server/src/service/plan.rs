//! The plan and the edition that limit an account, and what callers are told who ask for more than
//! they have.

use anyhow::Context;
use vedette_model::{Account, Edition, Feature, Plan};

use crate::{Error, Result};

/// The plan that bounds an account.
pub(crate) fn of(account: &Account) -> Result<&'static Plan> {
    Ok(edition_of(account)?.plan(&account.plan).with_context(|| {
        let Account { id, plan, edition, .. } = account;
        format!("account {id} is on the plan {plan} of the edition {edition}: no such plan")
    })?)
}

/// The plan of an account, where it includes a feature.
///
/// # Errors
/// `Forbidden`; names the plan that has it.
pub(crate) fn included(
    account: &Account,
    edition: &Edition,
    feature: Feature,
) -> Result<&'static Plan> {
    let plan = of(account)?;
    if plan.includes(feature) { Ok(plan) } else { Err(lacking(edition, plan, feature)) }
}

/// The answer to a caller who asks for a feature that the plan lacks.
pub(super) fn lacking(edition: &Edition, plan: &Plan, feature: Feature) -> Error {
    let lacks = format!("the {} plan does not include {}", plan.id, feature.noun());
    Error::forbidden(match edition.lowest_plan_with(feature) {
        Some(other) => format!("{lacks}; the {} plan does", other.id),
        None => lacks,
    })
}

/// The answer to a caller who has as many of a thing as the plan allows; names a plan with more.
pub(super) fn used_up(
    edition: &Edition,
    plan: &Plan,
    thing: &str,
    count: fn(&Plan) -> u32,
) -> Error {
    let have = match count(plan) {
        1 => format!("the {} plan has 1 {thing}, and it is in use", plan.id),
        many => format!("the {} plan has {many} {thing}s, and all are in use", plan.id),
    };
    Error::forbidden(match edition.lowest_plan_above(plan, count) {
        Some(more) => format!("{have}; the {} plan has {}", more.id, count(more)),
        None => format!("{have}; delete one first"),
    })
}

/// The edition whose tables apply to an account.
pub(crate) fn edition_of(account: &Account) -> Result<&'static Edition> {
    let Account { id, edition, .. } = account;
    let known = Edition::by_id(edition);
    Ok(known
        .with_context(|| format!("account {id} is of the edition {edition}: no such edition"))?)
}
