//! An allocator that wipes what is given back, so that no copy of a secret outlives its owner on the heap:
//! neither ours nor one that a library forgot in a buffer it dropped.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    hint::black_box,
};

struct Wiping;

#[global_allocator]
static ALLOCATOR: Wiping = Wiping;

// SAFETY: memory comes from and goes back to `System` unchanged in pointer and layout. `realloc` is the default one,
// which allocates, copies and calls `dealloc`: it never leaves an old block unwiped.
unsafe impl GlobalAlloc for Wiping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the block is `layout.size()` bytes long and still ours until `System` has it back. `black_box`
        // keeps the compiler from dropping writes that nobody reads.
        unsafe {
            black_box(pointer).write_bytes(0, layout.size());
            System.dealloc(black_box(pointer), layout);
        }
    }
}
