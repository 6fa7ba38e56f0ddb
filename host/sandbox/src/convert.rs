//! Between the contract's generated types, the model's and the probes': what one is as another,
//! and no rule.

mod answer;
mod plugin;
mod question;
