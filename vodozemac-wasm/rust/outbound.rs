//! Megolm sessions that send.

use serde::Deserialize;
use vodozemac::{
    Ed25519Keypair,
    megolm::{ExportedSessionKey, GroupSession, GroupSessionPickle, SessionConfig},
};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
    pack,
    state::{self, Kind},
};

const SESSION_KEY_VERSION: u8 = 2;
/// About as long as a state gets.
const STATE_LENGTH: usize = 256;

fn add_session(session: GroupSession, output: &mut Output, objects: &mut Objects) -> Outcome {
    output.put(session.session_id().as_bytes());
    objects.add(session)
}

#[unsafe(no_mangle)]
extern "C" fn outbound_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| add_session(GroupSession::new(SessionConfig::version_1()), output, objects))
}

#[unsafe(no_mangle)]
extern "C" fn outbound_clone(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        let copy = GroupSession::from_pickle(objects.get::<GroupSession>(handle)?.pickle());
        add_session(copy, output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn outbound_state(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        state::write(Kind::Outbound, &objects.get::<GroupSession>(handle)?.pickle(), output)
    })
}

#[unsafe(no_mangle)]
extern "C" fn outbound_from_state(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle: GroupSessionPickle = state::read(Kind::Outbound, input.rest())?;
        add_session(GroupSession::from_pickle(pickle), output, objects)
    })
}

/// Input: prefixed pickle in Base64, pickle key.
#[unsafe(no_mangle)]
extern "C" fn outbound_from_libolm(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle = std::str::from_utf8(input.prefixed()?).map_err(|_| Code::BadPickle)?;
        add_session(GroupSession::from_libolm_pickle(pickle, input.rest())?, output, objects)
    })
}

/// Output: the index of the next message.
#[unsafe(no_mangle)]
extern "C" fn outbound_message_index(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.put_number(objects.get::<GroupSession>(handle)?.message_index());
        Ok(0)
    })
}

/// Output: the signed session key at the next index.
#[unsafe(no_mangle)]
extern "C" fn outbound_session_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.replace(objects.get::<GroupSession>(handle)?.session_key().to_bytes());
        Ok(0)
    })
}

/// What signs, of all that vodozemac keeps of a session, in its own names.
#[derive(Deserialize)]
struct Signer {
    signing_key: Ed25519Keypair,
}

/// Input: an exported key (165 bytes) of the same session. Output: the session key at its index, signed.
#[unsafe(no_mangle)]
extern "C" fn outbound_sign_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let session = objects.get::<GroupSession>(handle)?;
        let mut key = ExportedSessionKey::from_bytes(input.rest())?.to_bytes();
        key[0] = SESSION_KEY_VERSION;
        let state = pack::to_vec(&session.pickle(), Vec::with_capacity(STATE_LENGTH)).map_err(|_| Code::BadState)?;
        let Signer { signing_key } = pack::from_slice(&state).map_err(|_| Code::BadState)?;
        if !key.ends_with(signing_key.public_key().as_bytes()) {
            return Err(Code::BadKey);
        }
        let signature = signing_key.sign(&key);
        key.extend_from_slice(&signature.to_bytes());
        output.replace(key);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn outbound_encrypt(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let session = objects.get::<GroupSession>(handle)?;
        // The index after the last one would be 0 again.
        if session.message_index() == u32::MAX {
            return Err(Code::Exhausted);
        }
        output.replace(session.encrypt(input.rest()).to_bytes());
        Ok(0)
    })
}
