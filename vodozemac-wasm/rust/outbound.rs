//! Megolm sessions that send.

use vodozemac::megolm::{GroupSession, GroupSessionPickle, SessionConfig};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
    state::{self, Kind},
};

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
