//! MessagePack, as much of it as vodozemac's objects need: no floats, no negative numbers, no extensions. Written here
//! because the code that `rmp-serde` and its error texts instantiate for each type is a quarter of the whole binary.
//! Structs are maps with named fields; a sequence of bytes is written as a binary string.

mod deserializer;
mod serializer;

use std::fmt;

pub use deserializer::from_slice;
pub use serializer::to_vec;

/// Something is wrong with the bytes. What exactly is nobody's business: they are secret.
#[derive(Debug)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("malformed")
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
    // The defaults would format what they found, and so keep the code that can.
    fn invalid_type(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn invalid_value(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn invalid_length(_: usize, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn missing_field(_: &'static str) -> Self {
        Self
    }
    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}
