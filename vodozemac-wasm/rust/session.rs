//! Olm sessions.

use vodozemac::olm::{OlmMessage, PreKeyMessage, Session, SessionKeys, SessionPickle};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
    state::{self, Kind},
};

fn add_session(session: Session, output: &mut Output, objects: &mut Objects) -> Outcome {
    output.put(session.session_id().as_bytes());
    objects.add(session)
}

fn put_session_keys(keys: SessionKeys, output: &mut Output) {
    output.put(keys.session_id().as_bytes());
    for key in [keys.identity_key, keys.base_key, keys.one_time_key] {
        output.put(key.as_bytes());
    }
}

fn decrypt(session: &mut Session, kind: u32, body: &[u8]) -> Result<Vec<u8>, Code> {
    Ok(session.decrypt(&OlmMessage::from_parts(kind as usize, body)?)?)
}

/// Input: the body of a pre-key message. Output: session ID, identity key, base key, one-time key.
#[unsafe(no_mangle)]
extern "C" fn pre_key_message_keys(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, _| {
        put_session_keys(PreKeyMessage::from_bytes(input.rest())?.session_keys(), output);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn session_clone(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        let copy = Session::from_pickle(objects.get::<Session>(handle)?.pickle());
        add_session(copy, output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn session_state(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| state::write(Kind::Session, &objects.get::<Session>(handle)?.pickle(), output))
}

#[unsafe(no_mangle)]
extern "C" fn session_from_state(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle: SessionPickle = state::read(Kind::Session, input.rest())?;
        add_session(Session::from_pickle(pickle), output, objects)
    })
}

/// Input: prefixed pickle in Base64, pickle key.
#[unsafe(no_mangle)]
extern "C" fn session_from_libolm(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle = std::str::from_utf8(input.prefixed()?).map_err(|_| Code::BadPickle)?;
        add_session(Session::from_libolm_pickle(pickle, input.rest())?, output, objects)
    })
}

/// Output: session ID, identity key, base key, one-time key.
#[unsafe(no_mangle)]
extern "C" fn session_keys(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        put_session_keys(objects.get::<Session>(handle)?.session_keys(), output);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn session_has_received_message(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, _, objects| Ok(objects.get::<Session>(handle)?.has_received_message().into()))
}

/// Answers the message type, and outputs the body.
#[unsafe(no_mangle)]
extern "C" fn session_encrypt(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let (kind, body) = objects.get::<Session>(handle)?.encrypt(input.rest())?.to_parts();
        output.replace(body);
        Ok(kind as i32)
    })
}

#[unsafe(no_mangle)]
extern "C" fn session_decrypt(handle: u32, length: u32, kind: u32) -> i32 {
    run(length, |mut input, output, objects| {
        output.replace(decrypt(objects.get(handle)?, kind, input.rest())?);
        Ok(0)
    })
}

/// Input: for each message its type and its prefixed body. Output: for each its status and its prefixed plaintext.
#[unsafe(no_mangle)]
extern "C" fn session_decrypt_all(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let session = objects.get::<Session>(handle)?;
        while !input.is_empty() {
            let (kind, body) = (input.number()?, input.prefixed()?);
            match decrypt(session, kind, body) {
                Ok(plaintext) => {
                    output.put_number(0);
                    output.put_prefixed(&plaintext);
                }
                Err(code) => {
                    output.put_number(code as u32);
                    output.put_prefixed(&[]);
                }
            }
        }
        Ok(0)
    })
}
