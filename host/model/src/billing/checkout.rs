//! What a customer asks for at `POST /checkout`.

use serde_json::Value;

use super::{paid_plans, plan_names};
use crate::parse::{self, Body};
use crate::{Edition, Invalid, Plan, email};

/// How often the plan is paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycle {
    #[default]
    Monthly,
    Yearly,
}

/// The body of `POST /checkout`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckout {
    pub plan: &'static Plan,
    pub cycle: Cycle,
    /// None = the account's own.
    pub email: Option<String>,
}

impl Cycle {
    const ALL: [Self; 2] = [Self::Monthly, Self::Yearly];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
        }
    }

    /// Products say it in their names, as in `prod_pro_yearly` and `team-annual`.
    pub(super) fn of_product(id: &str) -> Self {
        let name = id.to_ascii_lowercase();
        if name.contains("year") || name.contains("annual") { Self::Yearly } else { Self::Monthly }
    }

    fn parse(field: &'static str, value: &Value) -> Result<Self, Invalid> {
        let name = parse::text(field, value)?;
        let found = Self::ALL.into_iter().find(|cycle| cycle.as_str() == name);
        found.ok_or_else(|| Invalid::new(field, "must be monthly or yearly"))
    }
}

impl NewCheckout {
    pub fn parse(body: &Value, edition: &Edition) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let plan = body.required("planId", |field, value| {
            let id = parse::text(field, value)?;
            let found = paid_plans(edition).iter().find(|plan| plan.id == id);
            found.ok_or_else(|| {
                Invalid::new(field, format!("must be one of {}", plan_names(edition)))
            })
        })?;
        let cycle = body.optional("billing", Cycle::parse)?.unwrap_or_default();
        let email =
            body.optional("email", |field, value| email::parse(field, parse::text(field, value)?))?;
        Ok(Self { plan, cycle, email })
    }

    /// Only what is more than the account has is sold; `current` is the plan that it is on. An
    /// edition lists its plans from the least to the most.
    pub fn upgrades(&self, edition: &Edition, current: &str) -> Result<(), Invalid> {
        let place = |id: &str| edition.plans.iter().position(|plan| plan.id == id);
        if place(self.plan.id) > place(current) {
            return Ok(());
        }
        let reason = format!("must be a higher plan than {current}, which the account already has");
        Err(Invalid::new("planId", reason))
    }
}
