//! Randomness: the one function that is imported from the host.

use std::hint::black_box;

use getrandom::Error;
use rand::Rng;

/// More than the generator makes at once.
const BLOCK_LENGTH: usize = 512;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Fills `length` bytes at `pointer` from `crypto.getRandomValues`; it throws rather than fill in part.
    fn random(pointer: *mut u8, length: usize);
}

/// The backend that `--cfg getrandom_backend="custom"` asks for.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(destination: *mut u8, length: usize) -> Result<(), Error> {
    // SAFETY: getrandom hands over a writable region of this length.
    unsafe { random(destination, length) };
    Ok(())
}

/// Makes the generator overwrite the block from which the last secrets were drawn.
pub fn forget() {
    let mut block = [0; BLOCK_LENGTH];
    rand::rng().fill_bytes(&mut block);
    black_box(&mut block);
}
