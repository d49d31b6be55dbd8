//! Randomness: the one function that is imported from the host.

use getrandom::Error;

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
