//! Megolm sessions that receive.

use serde::Serialize;
use vodozemac::{
    hazmat::Cipher,
    megolm::{
        ExportedSessionKey, InboundGroupSession, InboundGroupSessionPickle, MegolmMessage, SessionConfig, SessionKey,
        SessionOrdering,
    },
};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
    pack,
    state::{self, Kind},
};

const MAC_LENGTH: usize = 8;
const SIGNATURE_LENGTH: usize = 64;
const MESSAGE_VERSION: u8 = 3;
const SESSION_KEY_VERSION: u8 = 2;
/// About as long as a state gets.
const STATE_LENGTH: usize = 256;

/// A session, and a copy of it that follows the messages, so that the next one costs one step of the ratchet and not
/// all of them from the first known index.
pub struct Inbound {
    session: InboundGroupSession,
    cursor: Option<InboundGroupSession>,
}

impl From<InboundGroupSession> for Inbound {
    fn from(session: InboundGroupSession) -> Self {
        Self { session, cursor: None }
    }
}

impl Inbound {
    /// Decrypts; `verified` says that the host has found the signature over `bytes` good. What the host can't vouch
    /// for, and every failure, is left to vodozemac, so the outcome is always its own.
    fn decrypt(&mut self, bytes: &[u8], verified: bool) -> Result<(Vec<u8>, u32), (Code, u32)> {
        let message = MegolmMessage::from_bytes(bytes).map_err(|error| (error.into(), 0))?;
        if verified && let Some(plaintext) = self.decrypt_verified(&message, bytes) {
            return Ok((plaintext, message.message_index()));
        }
        match self.session.decrypt(&message) {
            Ok(decrypted) => Ok((decrypted.plaintext, decrypted.message_index)),
            Err(error) => Err((error.into(), message.message_index())),
        }
    }

    fn decrypt_verified(&mut self, message: &MegolmMessage, bytes: &[u8]) -> Option<Vec<u8>> {
        // vodozemac signs and MACs the message as it would encode it. The host has verified these bytes: the two must
        // be the same, or the host's verdict is about something else.
        if bytes.first() != Some(&MESSAGE_VERSION) || message.to_bytes() != bytes {
            return None;
        }
        let cipher = self.cipher_at(message.message_index())?;
        let authenticated = bytes.len() - SIGNATURE_LENGTH - MAC_LENGTH;
        cipher.verify_truncated_mac(&bytes[..authenticated], message.mac()).ok()?;
        cipher.decrypt(message.ciphertext()).ok()
    }

    fn cipher_at(&mut self, index: u32) -> Option<Cipher> {
        if index < self.session.first_known_index() {
            return None;
        }
        let cursor = match &mut self.cursor {
            Some(cursor) if cursor.first_known_index() <= index => cursor,
            // A message from before the cursor: reach back once, and leave the cursor at the newest message.
            Some(_) => return self.session.get_cipher_at(index),
            None => self.cursor.insert(copy(&self.session)),
        };
        cursor.advance_to(index);
        cursor.get_cipher_at(index)
    }
}

fn copy(session: &InboundGroupSession) -> InboundGroupSession {
    InboundGroupSession::from_pickle(session.pickle())
}

fn add_session(session: InboundGroupSession, output: &mut Output, objects: &mut Objects) -> Outcome {
    output.put(session.session_id().as_bytes());
    objects.add(Inbound::from(session))
}

/// Input: a message. Output: its index.
#[unsafe(no_mangle)]
extern "C" fn megolm_message_index(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, _| {
        output.put_number(MegolmMessage::from_bytes(input.rest())?.message_index());
        Ok(0)
    })
}

/// What vodozemac keeps of a session, in its own names.
#[derive(Serialize)]
struct Fields<'a> {
    initial_ratchet: FieldsOfRatchet<'a>,
    signing_key: &'a [u8; 32],
    signing_key_verified: bool,
    config: SessionConfig,
}

#[derive(Serialize)]
struct FieldsOfRatchet<'a> {
    inner: &'a [u8],
    counter: u32,
}

/// The session that vodozemac would make of a session key, of which the host has found the signature good.
fn from_verified_key(key: &[u8]) -> Option<InboundGroupSession> {
    let (&[version], key) = key.split_first_chunk()?;
    let (counter, key) = key.split_first_chunk()?;
    let (ratchet, key) = key.split_first_chunk::<128>()?;
    let (signing_key, signature) = key.split_first_chunk()?;
    if version != SESSION_KEY_VERSION || signature.len() != SIGNATURE_LENGTH {
        return None;
    }
    let initial_ratchet = FieldsOfRatchet { inner: ratchet, counter: u32::from_be_bytes(*counter) };
    let config = SessionConfig::version_1();
    let fields = Fields { initial_ratchet, signing_key, signing_key_verified: true, config };
    let bytes = pack::to_vec(&fields, Vec::with_capacity(STATE_LENGTH)).ok()?;
    pack::from_slice(&bytes).ok().map(InboundGroupSession::from_pickle)
}

/// Input: a session key (229 bytes); `verified` says that the host has found its signature good.
#[unsafe(no_mangle)]
extern "C" fn inbound_new(_: u32, length: u32, verified: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let bytes = input.rest();
        let quick = if verified == 1 { from_verified_key(bytes) } else { None };
        let session = match quick {
            Some(session) => session,
            None => InboundGroupSession::new(&SessionKey::from_bytes(bytes)?, SessionConfig::version_1()),
        };
        add_session(session, output, objects)
    })
}

/// Input: an exported session key (165 bytes).
#[unsafe(no_mangle)]
extern "C" fn inbound_import(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let key = ExportedSessionKey::from_bytes(input.rest())?;
        add_session(InboundGroupSession::import(&key, SessionConfig::version_1()), output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn inbound_clone(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        let copy = copy(&objects.get::<Inbound>(handle)?.session);
        add_session(copy, output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn inbound_state(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        state::write(Kind::Inbound, &objects.get::<Inbound>(handle)?.session.pickle(), output)
    })
}

#[unsafe(no_mangle)]
extern "C" fn inbound_from_state(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle: InboundGroupSessionPickle = state::read(Kind::Inbound, input.rest())?;
        add_session(InboundGroupSession::from_pickle(pickle), output, objects)
    })
}

/// Input: prefixed pickle in Base64, pickle key.
#[unsafe(no_mangle)]
extern "C" fn inbound_from_libolm(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle = std::str::from_utf8(input.prefixed()?).map_err(|_| Code::BadPickle)?;
        add_session(InboundGroupSession::from_libolm_pickle(pickle, input.rest())?, output, objects)
    })
}

/// Output: the index.
#[unsafe(no_mangle)]
extern "C" fn inbound_first_known_index(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.put_number(objects.get::<Inbound>(handle)?.session.first_known_index());
        Ok(0)
    })
}

/// Output: the index, then the plaintext; on an unknown index the first known one, then the message's.
#[unsafe(no_mangle)]
extern "C" fn inbound_decrypt(handle: u32, length: u32, verified: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let inbound = objects.get::<Inbound>(handle)?;
        match inbound.decrypt(input.rest(), verified == 1) {
            Ok((plaintext, index)) => {
                output.put_number(index);
                output.put(&plaintext);
                Ok(0)
            }
            Err((code, index)) => {
                if let Code::UnknownIndex = code {
                    output.put_number(inbound.session.first_known_index());
                    output.put_number(index);
                }
                Err(code)
            }
        }
    })
}

/// Input: for each message whether it is verified, and itself, prefixed. Output: for each its status, its index and
/// its prefixed plaintext.
#[unsafe(no_mangle)]
extern "C" fn inbound_decrypt_all(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let inbound = objects.get::<Inbound>(handle)?;
        while !input.is_empty() {
            let (verified, message) = (input.number()?, input.prefixed()?);
            match inbound.decrypt(message, verified == 1) {
                Ok((plaintext, index)) => {
                    output.put_number(0);
                    output.put_number(index);
                    output.put_prefixed(&plaintext);
                }
                Err((code, index)) => {
                    output.put_number(code as u32);
                    output.put_number(index);
                    output.put_prefixed(&[]);
                }
            }
        }
        Ok(0)
    })
}

/// Forgets every index below `index`; answers whether that changed anything.
#[unsafe(no_mangle)]
extern "C" fn inbound_advance_to(handle: u32, length: u32, index: u32) -> i32 {
    run(length, |_, _, objects| {
        let inbound = objects.get::<Inbound>(handle)?;
        inbound.cursor = None;
        Ok(inbound.session.advance_to(index).into())
    })
}

/// Output: the exported key, or nothing if the index lies before the first known one.
#[unsafe(no_mangle)]
extern "C" fn inbound_export_at(handle: u32, length: u32, index: u32) -> i32 {
    run(length, |_, output, objects| {
        if let Some(key) = objects.get::<Inbound>(handle)?.session.export_at(index) {
            output.replace(key.to_bytes());
        }
        Ok(0)
    })
}

/// Answers how the first session stands to the second: 0 equal, 1 better, 2 worse, 3 unconnected.
#[unsafe(no_mangle)]
extern "C" fn inbound_compare(handle: u32, length: u32, other: u32) -> i32 {
    run(length, |_, _, objects| {
        if handle == other {
            objects.get::<Inbound>(handle)?;
            return Ok(0);
        }
        let (one, other) = objects.get_two::<Inbound>(handle, other)?;
        Ok(match one.session.compare(&mut other.session) {
            SessionOrdering::Equal => 0,
            SessionOrdering::Better => 1,
            SessionOrdering::Worse => 2,
            SessionOrdering::Unconnected => 3,
        })
    })
}

/// Answers the handle of a session with the better of the two ratchets, or 0 if they are not connected.
#[unsafe(no_mangle)]
extern "C" fn inbound_merge(handle: u32, length: u32, other: u32) -> i32 {
    run(length, |_, output, objects| {
        let merged = if handle == other {
            Some(copy(&objects.get::<Inbound>(handle)?.session))
        } else {
            let (one, other) = objects.get_two::<Inbound>(handle, other)?;
            one.session.merge(&mut other.session)
        };
        merged.map_or(Ok(0), |session| add_session(session, output, objects))
    })
}
