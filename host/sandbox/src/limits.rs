//! What a guest may use up: the numbers, and the meters that count them during one call.
//!
//! *Invariant:* every resource that a guest can spend has a meter here or in the engine's pool;
//! splitting work over calls does not enlarge any of them.

mod meter;

use std::time::Duration;

use crate::engine::Class;

pub(crate) use meter::{Budget, Cpu, Meter};

/// The limits of one plugin, as asked by its manifest and bounded by its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory.
    pub memory: usize,
    /// CPU time of one `run`.
    pub cpu: Duration,
    /// CPU time of one pure call (`validate`, `assess`, `render`, `interpret`, `describe`).
    pub pure_cpu: Duration,
    /// Wall clock of one `run`, probes included.
    pub wall: Duration,
    /// Host calls that probe or touch state, per run.
    pub calls: u32,
    /// Bytes that probes of one run receive.
    pub bytes: u64,
}

/// What a manifest may ask for at most, per class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    pub(crate) memory: usize,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) calls: u32,
    pub(crate) bytes: u64,
}

/// Planned runs of one plugin at a time, by class, and as many that somebody asked for.
pub(crate) const PLUGIN_RUNS: [u32; 2] = [48, 8];
/// Runs against one target host at a time, so that probes never look like an attack: as many
/// planned ones, as many that accounts ask for, and as many for strangers. A caller that plans its
/// runs by it has none of them wait in here.
pub const TARGET_RUNS: u32 = 2;
/// Items of one `-many` call; the probes keep four of them in flight, DNS questions all.
pub(crate) const MANY: usize = 16;
/// Dialogues that one run may have open.
pub(crate) const SOCKETS: u32 = 4;
/// Log lines of one call and bytes of each.
pub(crate) const LOG_LINES: u32 = 32;
pub(crate) const LOG_LINE: usize = 1 << 10;
/// Bytes that a guest may pass to the host in one call.
pub(crate) const HOST_CALL_BYTES: usize = 2 << 20;
/// Host resources that a guest may hold.
pub(crate) const RESOURCES: usize = 64;
/// Wall clock of a pure call: its CPU time, plus waiting for its turn on a busy machine.
pub(crate) const PURE_WALL: Duration = Duration::from_secs(5);

impl Limits {
    pub(crate) fn of(class: Class) -> Self {
        let room = class.room();
        let (cpu, pure_cpu) = match class {
            // A result of 256 KiB is read twice to be compared, on a machine that is busy.
            Class::Light => (Duration::from_millis(50), Duration::from_millis(100)),
            Class::Heavy => (Duration::from_millis(500), Duration::from_millis(200)),
        };
        let wall = Duration::from_secs(10);
        Self { memory: room.memory, cpu, pure_cpu, wall, calls: 64, bytes: 4 << 20 }
    }
}

impl Ceiling {
    pub(crate) fn of(class: Class) -> Self {
        let cpu = match class {
            Class::Light => Duration::from_millis(200),
            Class::Heavy => Duration::from_secs(2),
        };
        let wall = Duration::from_secs(30);
        Self { memory: class.room().memory, cpu, wall, calls: 256, bytes: 16 << 20 }
    }
}
