//! The two wasmtime engines, one for small plugins and one for large (JavaScript, Python), as
//! bulkheads, and the thread that ticks them.
//!
//! *Invariant:* nothing of one engine ever meets the other.
//! *Invariant:* every WebAssembly proposal that this build cannot run is off. Cargo features
//! decide what runs, and `Config` what is accepted; where the two differ a module of ten lines
//! aborts the process (GHSA-rc4p-x33f-vpr2).

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use wasmtime::{
    Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig,
    Strategy, WasmFeatures,
};

use crate::standstill::Standstill;

/// Which engine a plugin runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Rust and the like: up to 16 MiB of memory.
    Light,
    /// Interpreters inside: up to 128 MiB.
    Heavy,
}

/// What an engine has room for. The pool's `total_*` numbers scale together, or instances of one
/// kind run out before the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Calls at a time.
    pub(crate) slots: u32,
    /// Of them for `validate`, `assess`, `render` and `interpret`, so that parked runs never keep
    /// a verdict waiting.
    pub(crate) pure_slots: u32,
    /// Of one component, and on average of all that run.
    pub(crate) core_instances: u32,
    usual_core_instances: u32,
    pub(crate) memories: u32,
    pub(crate) tables: u32,
    usual_tables: u32,
    pub(crate) table_elements: usize,
    pub(crate) memory: usize,
    pub(crate) handles: usize,
    pub(crate) file: usize,
    /// Of what a call has written, so much is cleaned in place; the rest is given back, and each page
    /// of it fetched again, which stops all processors.
    keep_resident: usize,
}

/// Both engines; the heavy one is built when the first heavy plugin arrives.
pub(crate) struct Engines {
    light: Engine,
    heavy: OnceLock<Engine>,
    /// The heavy engine as the ticking thread sees it.
    ticked: Arc<OnceLock<EngineWeak>>,
    standstill: Standstill,
}

/// Epochs a second: a spinning guest yields this often.
pub(crate) const TICK: Duration = Duration::from_millis(5);

impl Engines {
    pub(crate) fn new() -> wasmtime::Result<Self> {
        let light = start(Class::Light)?;
        let ticked = Arc::new(OnceLock::new());
        let standstill = Standstill::new(Instant::now());
        tick(light.weak(), Arc::clone(&ticked), standstill.clone());
        Ok(Self { light, heavy: OnceLock::new(), ticked, standstill })
    }

    /// What the ticking thread sees of our own standstills.
    pub(crate) fn standstill(&self) -> &Standstill {
        &self.standstill
    }

    pub(crate) fn get(&self, class: Class) -> wasmtime::Result<&Engine> {
        if class == Class::Light {
            return Ok(&self.light);
        }
        if let Some(engine) = self.heavy.get() {
            return Ok(engine);
        }
        let engine = start(Class::Heavy)?;
        let engine = self.heavy.get_or_init(|| engine);
        self.ticked.get_or_init(|| engine.weak());
        Ok(engine)
    }
}

impl Class {
    pub(crate) const fn room(self) -> Room {
        match self {
            Self::Light => Room {
                slots: 512,
                pure_slots: 64,
                core_instances: 8,
                usual_core_instances: 4,
                memories: 1,
                tables: 4,
                usual_tables: 2,
                table_elements: 10_000,
                memory: 16 << 20,
                handles: 64,
                file: 4 << 20,
                keep_resident: 256 << 10,
            },
            Self::Heavy => Room {
                slots: 32,
                pure_slots: 8,
                core_instances: 64,
                usual_core_instances: 64,
                memories: 4,
                tables: 8,
                usual_tables: 8,
                table_elements: 20_000,
                memory: 128 << 20,
                handles: 4_096,
                file: 32 << 20,
                keep_resident: 1 << 20,
            },
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// Builds an engine, pooled where the address space allows it.
fn start(class: Class) -> wasmtime::Result<Engine> {
    Engine::new(&config(pooled(class.room()))).or_else(|error| {
        // Each slot reserves 4 GiB of address space; containers and small kernels may refuse.
        tracing::warn!(
            engine = class.name(),
            "no pool of instances, each call maps its own memory: {error:#}"
        );
        Engine::new(&config(InstanceAllocationStrategy::OnDemand))
    })
}

/// One thread for both engines; it ends with the light one. Not a task: a runtime full of
/// spinning guests would not get round to it, and epochs are what stops them.
fn tick(light: EngineWeak, heavy: Arc<OnceLock<EngineWeak>>, standstill: Standstill) {
    let ticker = move || {
        while let Some(engine) = light.upgrade() {
            standstill.tick(Instant::now());
            engine.increment_epoch();
            if let Some(engine) = heavy.get().and_then(EngineWeak::upgrade) {
                engine.increment_epoch();
            }
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new()
        .name("sandbox-epoch".into())
        .spawn(ticker)
        .expect("a process that cannot start one thread cannot serve");
}

fn config(allocation: impl Into<InstanceAllocationStrategy>) -> Config {
    let mut config = Config::new();
    config
        .allocation_strategy(allocation)
        .strategy(Strategy::Cranelift)
        .memory_init_cow(true)
        .epoch_interruption(true)
        // The gap is the host's: host functions run on the rest of the fiber's stack.
        .max_wasm_stack(512 << 10)
        .async_stack_size(2 << 20)
        .concurrency_support(false)
        .wasm_backtrace_max_frames(NonZeroUsize::new(20));
    for feature in OFF {
        config.wasm_features(*feature, false);
    }
    config
}

fn pooled(room: Room) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(room.slots)
        .total_core_instances(room.usual_core_instances * room.slots)
        .total_memories(room.memories * room.slots)
        .total_tables(room.usual_tables * room.slots)
        .total_stacks(room.slots)
        .max_core_instances_per_component(room.core_instances)
        .max_memories_per_component(room.memories)
        .max_tables_per_component(room.tables)
        .max_memory_size(room.memory)
        .table_elements(room.table_elements)
        .max_unused_warm_slots(64)
        .linear_memory_keep_resident(room.keep_resident)
        .table_keep_resident(room.keep_resident)
        .pagemap_scan(Enabled::Auto)
        .decommit_batch_size(8);
    pool
}

/// By flag: the setters for GC and threads do not exist in this build, yet GC is on by default.
const OFF: &[WasmFeatures] = &[
    WasmFeatures::MEMORY64,
    WasmFeatures::MULTI_MEMORY,
    WasmFeatures::TAIL_CALL,
    WasmFeatures::RELAXED_SIMD,
    WasmFeatures::CUSTOM_PAGE_SIZES,
    WasmFeatures::GC,
    WasmFeatures::GC_TYPES,
    WasmFeatures::FUNCTION_REFERENCES,
    WasmFeatures::EXCEPTIONS,
    WasmFeatures::THREADS,
];

#[cfg(test)]
mod tests;
