//! Plugins at the gate and in the sandbox: honest ones, broken ones, hostile ones.

mod gate;
mod guest;
mod hostile;
mod install;
mod lab;
mod net;
