//! Objects as bytes: a kind, a format version, then MessagePack with named fields, which a later vodozemac can read
//! even when it has added some. Not encrypted: that is the caller's, who knows the key and the storage.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    abi::Output,
    error::{Code, Outcome},
    pack,
};

/// What a state describes; its first byte.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Kind {
    Account = 1,
    Session = 2,
    Outbound = 3,
    Inbound = 4,
}

const VERSION: u8 = 1;

/// Writes the state of an object.
pub fn write(kind: Kind, value: &impl Serialize, output: &mut Output) -> Outcome {
    let header = vec![kind as u8, VERSION];
    output.replace(pack::to_vec(value, header).map_err(|_| Code::BadState)?);
    Ok(0)
}

/// Reads the state of an object.
pub fn read<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T, Code> {
    let [found, version, body @ ..] = bytes else {
        return Err(Code::BadState);
    };
    if *found != kind as u8 {
        return Err(Code::BadState);
    }
    if *version != VERSION {
        return Err(Code::UnsupportedVersion);
    }
    pack::from_slice(body).map_err(|_| Code::BadState)
}
