//! The meters that count during one call what a guest uses up.

use std::time::{Duration, Instant};

use wasmtime::ResourceLimiter;

use super::{Limits, SOCKETS};
use crate::{
    engine::{Class, TICK},
    error::Stop,
};

/// CPU time of one call, measured between host calls and at every epoch.
pub(crate) struct Cpu {
    budget: Duration,
    spent: Duration,
    /// When the guest last went on; none inside a host call.
    since: Option<Instant>,
}

/// Memory and tables of one call, and whether it was ever refused any: a guest that cannot grow
/// usually traps next, and the operator should read why.
pub(crate) struct Meter {
    memory: usize,
    table_elements: usize,
    instances: usize,
    memories: usize,
    tables: usize,
    pub(crate) refused: bool,
    /// Bytes of the largest memory so far.
    pub(crate) peak: usize,
}

/// What is left of a run's calls, bytes and sockets.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    calls: u32,
    bytes: u64,
    sockets: u32,
}

impl Cpu {
    pub(crate) fn new(budget: Duration, now: Instant) -> Self {
        Self { budget, spent: Duration::ZERO, since: Some(now) }
    }

    /// At an epoch: charges what passed, at most one tick, since the guest may have waited for
    /// its turn in between. The first epoch after a host call finds `since` just set, so waiting
    /// for an answer costs nothing.
    pub(crate) fn tick(&mut self, now: Instant) -> Result<(), Stop> {
        self.charge(now);
        self.since = Some(now);
        self.check()
    }

    /// Entering a host call.
    pub(crate) fn pause(&mut self, now: Instant) -> Result<(), Stop> {
        self.charge(now);
        self.since = None;
        self.check()
    }

    /// Leaving a host call.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// All that was used up, once the guest has ended.
    pub(crate) fn end(&mut self, now: Instant) -> Duration {
        self.charge(now);
        self.since = None;
        self.spent
    }

    fn charge(&mut self, now: Instant) {
        if let Some(since) = self.since {
            self.spent += now.saturating_duration_since(since).min(TICK);
        }
    }

    fn check(&self) -> Result<(), Stop> {
        if self.spent >= self.budget { Err(Stop::Cpu) } else { Ok(()) }
    }
}

impl Meter {
    pub(crate) fn new(class: Class, memory: usize) -> Self {
        let room = class.room();
        Self {
            memory,
            table_elements: room.table_elements,
            instances: room.core_instances as usize,
            memories: room.memories as usize,
            tables: room.tables as usize,
            refused: false,
            peak: 0,
        }
    }

    fn allow(&mut self, desired: usize, limit: usize, maximum: Option<usize>) -> bool {
        let allowed = desired <= limit && maximum.is_none_or(|maximum| desired <= maximum);
        self.refused |= !allowed;
        allowed
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let allowed = self.allow(desired, self.memory, maximum);
        if allowed {
            self.peak = self.peak.max(desired);
        }
        Ok(allowed)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.allow(desired, self.table_elements, maximum))
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn memories(&self) -> usize {
        self.memories
    }

    fn tables(&self) -> usize {
        self.tables
    }
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { calls: limits.calls, bytes: limits.bytes, sockets: SOCKETS }
    }

    /// Calls and bytes that were taken of what `limits` gave.
    pub(crate) fn taken(&self, limits: &Limits) -> (u32, u64) {
        (limits.calls.saturating_sub(self.calls), limits.bytes.saturating_sub(self.bytes))
    }

    /// Takes `calls` calls, all or none; false = the budget is spent.
    #[must_use]
    pub(crate) fn take_calls(&mut self, calls: usize) -> bool {
        let left = u32::try_from(calls).ok().and_then(|calls| self.calls.checked_sub(calls));
        match left {
            Some(left) if self.bytes > 0 => {
                self.calls = left;
                true
            }
            _ => false,
        }
    }

    /// The most that each of `calls` concurrent calls may receive.
    pub(crate) fn share(&self, calls: usize) -> u64 {
        self.bytes / calls.max(1) as u64
    }

    pub(crate) fn spend_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }

    /// Takes one socket for a dialogue; false = too many are open.
    #[must_use]
    pub(crate) fn open_socket(&mut self) -> bool {
        match self.sockets.checked_sub(1) {
            Some(left) => {
                self.sockets = left;
                true
            }
            None => false,
        }
    }

    pub(crate) fn close_socket(&mut self) {
        self.sockets = (self.sockets + 1).min(SOCKETS);
    }

    /// Whether a call may open a socket now; a dialogue holds its own until it is dropped.
    pub(crate) fn has_socket(&self) -> bool {
        self.sockets > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn spinning_is_stopped_when_the_budget_is_spent() {
        let start = Instant::now();
        let mut cpu = Cpu::new(20 * MS, start);
        assert_eq!(cpu.tick(start + 5 * MS), Ok(()));
        assert_eq!(cpu.tick(start + 10 * MS), Ok(()));
        assert_eq!(cpu.tick(start + 15 * MS), Ok(()));
        assert_eq!(cpu.tick(start + 20 * MS), Err(Stop::Cpu));
    }

    #[test]
    fn waiting_for_a_probe_or_for_a_turn_costs_at_most_a_tick() {
        let start = Instant::now();
        let mut cpu = Cpu::new(20 * MS, start);
        for probe in 0..100_u32 {
            let at = start + probe * 1000 * MS;
            cpu.resume(at);
            assert_eq!(cpu.tick(at), Ok(()));
            assert_eq!(cpu.pause(at), Ok(()));
        }
        cpu.resume(start);
        assert_eq!(cpu.tick(start + 900 * MS), Ok(()));
        assert_eq!(cpu.spent, TICK);
    }

    #[test]
    fn cheap_host_calls_do_not_hide_cpu_time() {
        let start = Instant::now();
        let mut cpu = Cpu::new(20 * MS, start);
        let stopped = (0..10_u32).find(|turn| {
            let at = start + *turn * 4 * MS;
            cpu.resume(at);
            cpu.pause(at + 4 * MS).is_err()
        });
        assert_eq!(stopped, Some(4));
    }

    #[test]
    fn budget_is_one_for_all_interfaces() {
        let mut budget = Budget::new(&Limits::of(Class::Light));
        assert!(budget.take_calls(16));
        assert!(!budget.take_calls(49));
        assert!(budget.take_calls(48));
        assert!(!budget.take_calls(1));
        let mut budget = Budget::new(&Limits::of(Class::Light));
        assert_eq!(budget.share(4), 1 << 20);
        budget.spend_bytes(5 << 20);
        assert!(!budget.take_calls(1));
    }

    #[test]
    fn dialogues_hold_their_sockets_until_closed() {
        let mut budget = Budget::new(&Limits::of(Class::Light));
        assert!((0..SOCKETS).all(|_| budget.open_socket()));
        assert!(!budget.open_socket());
        assert!(!budget.has_socket());
        budget.close_socket();
        assert!(budget.has_socket());
    }

    #[test]
    fn meter_remembers_that_it_refused() {
        let mut meter = Meter::new(Class::Light, 1 << 20);
        assert!(meter.memory_growing(0, 1 << 20, None).expect("counts"));
        assert!(!meter.refused);
        assert!(!meter.memory_growing(0, (1 << 20) + 1, None).expect("counts"));
        assert!(meter.refused);
    }
}
