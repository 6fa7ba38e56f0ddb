//! Between the contract's generated types, the model's and the probes': `From` impls and nothing
//! else.

mod answer;
mod plugin;
mod question;
