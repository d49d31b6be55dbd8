//! vodozemac for WebAssembly, behind a C ABI without generated glue.
//!
//! Every operation has the one shape `fn(handle, input length, number) -> status`. Its bytes lie in one input
//! buffer, its answer in one output buffer; objects stay here and are named by handles. A status below zero is an
//! [`error::Code`]. `src/engine.ts` is the only caller.

mod abi;
mod account;
mod allocator;
mod channels;
mod error;
mod inbound;
mod keys;
mod outbound;
mod pack;
mod pk;
mod random;
mod sas;
mod session;
mod state;
