//! Olm accounts: identity keys, one-time keys, fallback keys, new sessions.

use vodozemac::{
    Curve25519PublicKey, KeyId,
    olm::{Account, AccountPickle, PreKeyMessage, SessionConfig},
};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
    state::{self, Kind},
};

/// vodozemac keeps this many one-time keys; a longer request would only throw its own first keys away.
const MAX_ONE_TIME_KEYS: u32 = 5000;

fn put_keys(keys: impl IntoIterator<Item = (KeyId, Curve25519PublicKey)>, output: &mut Output) -> Outcome {
    let mut keys: Vec<_> = keys.into_iter().collect();
    keys.sort_unstable_by_key(|(id, _)| *id);
    for (id, key) in keys {
        output.put(id.to_base64().as_bytes());
        output.put(key.as_bytes());
    }
    Ok(0)
}

fn add_account(account: Account, output: &mut Output, objects: &mut Objects) -> Outcome {
    output.put(account.ed25519_key().as_bytes());
    output.put(account.curve25519_key().as_bytes());
    objects.add(account)
}

#[unsafe(no_mangle)]
extern "C" fn account_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| add_account(Account::new(), output, objects))
}

#[unsafe(no_mangle)]
extern "C" fn account_clone(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        let copy = Account::from_pickle(objects.get::<Account>(handle)?.pickle());
        add_account(copy, output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn account_state(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| state::write(Kind::Account, &objects.get::<Account>(handle)?.pickle(), output))
}

#[unsafe(no_mangle)]
extern "C" fn account_from_state(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle: AccountPickle = state::read(Kind::Account, input.rest())?;
        add_account(Account::from_pickle(pickle), output, objects)
    })
}

/// Input: prefixed pickle in Base64, pickle key.
#[unsafe(no_mangle)]
extern "C" fn account_from_libolm(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle = std::str::from_utf8(input.prefixed()?).map_err(|_| Code::BadPickle)?;
        add_account(Account::from_libolm_pickle(pickle, input.rest())?, output, objects)
    })
}

/// Input: key. Output: prefixed ciphertext and nonce, both Base64.
#[unsafe(no_mangle)]
extern "C" fn account_dehydrate(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let device = objects.get::<Account>(handle)?.to_dehydrated_device(input.array()?)?;
        output.put_prefixed(device.ciphertext.as_bytes());
        output.put_prefixed(device.nonce.as_bytes());
        Ok(0)
    })
}

/// Input: key, prefixed ciphertext, nonce, both Base64.
#[unsafe(no_mangle)]
extern "C" fn account_rehydrate(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let key = input.array()?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| Code::BadPickle);
        let ciphertext = text(input.prefixed()?)?;
        let account = Account::from_dehydrated_device(ciphertext, text(input.rest())?, key)?;
        add_account(account, output, objects)
    })
}

/// Input: the message. Output: the signature.
#[unsafe(no_mangle)]
extern "C" fn account_sign(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        output.put(&objects.get::<Account>(handle)?.sign(input.rest()).to_bytes());
        Ok(0)
    })
}

/// Output: prefixed created keys, then the removed ones.
#[unsafe(no_mangle)]
extern "C" fn account_generate_one_time_keys(handle: u32, length: u32, count: u32) -> i32 {
    run(length, |_, output, objects| {
        let account = objects.get::<Account>(handle)?;
        if count > MAX_ONE_TIME_KEYS {
            return Err(Code::OutOfRange);
        }
        let result = account.generate_one_time_keys(count as usize);
        output.put_number(result.created.len() as u32);
        for key in result.created.iter().chain(&result.removed) {
            output.put(key.as_bytes());
        }
        Ok(0)
    })
}

/// Output: for each key that is not published its ID (11 characters) and itself.
#[unsafe(no_mangle)]
extern "C" fn account_one_time_keys(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| put_keys(objects.get::<Account>(handle)?.one_time_keys(), output))
}

#[unsafe(no_mangle)]
extern "C" fn account_stored_one_time_key_count(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, _, objects| Ok(objects.get::<Account>(handle)?.stored_one_time_key_count() as i32))
}

/// Input: the public key. Answers whether its private half was here.
#[unsafe(no_mangle)]
extern "C" fn account_remove_one_time_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, _, objects| {
        let removed = objects.get::<Account>(handle)?.remove_one_time_key(input.curve25519()?);
        Ok(removed.is_some().into())
    })
}

/// Output: the public key of the fallback key that was dropped, if one was.
#[unsafe(no_mangle)]
extern "C" fn account_generate_fallback_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        if let Some(removed) = objects.get::<Account>(handle)?.generate_fallback_key() {
            output.put(removed.as_bytes());
        }
        Ok(0)
    })
}

/// Output: ID and key, if one is not published.
#[unsafe(no_mangle)]
extern "C" fn account_fallback_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| put_keys(objects.get::<Account>(handle)?.fallback_key(), output))
}

#[unsafe(no_mangle)]
extern "C" fn account_forget_fallback_key(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, _, objects| Ok(objects.get::<Account>(handle)?.forget_fallback_key().into()))
}

#[unsafe(no_mangle)]
extern "C" fn account_mark_keys_as_published(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, _, objects| {
        objects.get::<Account>(handle)?.mark_keys_as_published();
        Ok(0)
    })
}

/// Input: identity key, one-time key. Answers the handle of the session, and outputs its ID.
#[unsafe(no_mangle)]
extern "C" fn account_create_outbound_session(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let (identity_key, one_time_key) = (input.curve25519()?, input.curve25519()?);
        let session = objects.get::<Account>(handle)?.create_outbound_session(
            SessionConfig::version_1(),
            identity_key,
            one_time_key,
        )?;
        output.put(session.session_id().as_bytes());
        objects.add(session)
    })
}

/// Input: identity key, pre-key message. Answers the handle of the session, and outputs its ID and the plaintext.
#[unsafe(no_mangle)]
extern "C" fn account_create_inbound_session(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let identity_key = input.curve25519()?;
        let message = PreKeyMessage::from_bytes(input.rest())?;
        let account = objects.get::<Account>(handle)?;
        let created = account.create_inbound_session(SessionConfig::version_1(), identity_key, &message)?;
        output.put(created.session.session_id().as_bytes());
        output.put(&created.plaintext);
        objects.add(created.session)
    })
}
