//! Where a component's memory comes from: a first piece that it begins with, and more of it from
//! the host once that is used up.
//!
//! Pages that a host was asked for are opened, and closed again behind the instance, on all of its
//! processors: together that takes longer than many a run. The first piece is there from the start,
//! and enough for most.

use core::{alloc::Layout, arch::wasm32, mem::MaybeUninit};

use talc::{
    base::{Talc, binning::Binning},
    cell::TalcSyncCell,
    source::Source,
    wasm::WasmBinning,
};

#[global_allocator]
static ALLOCATOR: TalcSyncCell<Pieces, WasmBinning> =
    TalcSyncCell::new_wasm(Pieces { has_first: false });

/// The pieces of memory that are handed to the allocator, one when the one before is used up.
#[derive(Debug)]
struct Pieces {
    has_first: bool,
}

static mut FIRST: [MaybeUninit<u8>; FIRST_BYTES] = [MaybeUninit::uninit(); FIRST_BYTES];

// SAFETY: nothing here allocates.
unsafe impl Source for Pieces {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let (base, bytes) = if talc.source.has_first {
            let pages = (layout.size() + layout.align()).div_ceil(PAGE) + MORE_PAGES;
            match wasm32::memory_grow::<0>(pages) {
                usize::MAX => return Err(()),
                before => ((before * PAGE) as *mut u8, pages * PAGE),
            }
        } else {
            talc.source.has_first = true;
            ((&raw mut FIRST).cast(), FIRST_BYTES)
        };
        // SAFETY: the host has given these pages to nobody else, and nothing but this names FIRST.
        unsafe { talc.claim(base, bytes) }.map(drop).ok_or(())
    }
}

/// 256 KiB: a page of the web, the answers about it and what becomes of them.
const FIRST_BYTES: usize = 4 * PAGE;
/// Beyond what is needed at once.
const MORE_PAGES: usize = 4;
/// Of WebAssembly.
const PAGE: usize = 64 << 10;
