//! Ed25519 and Curve25519 keys.

use vodozemac::{Curve25519PublicKey, Curve25519SecretKey, Ed25519SecretKey};

use crate::abi::run;

/// Input: public key, signature, message.
#[unsafe(no_mangle)]
extern "C" fn ed25519_verify(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, _, _| {
        let (key, signature) = (input.ed25519()?, input.signature()?);
        key.verify(input.rest(), &signature)?;
        Ok(0)
    })
}

/// Input: public key. Succeeds if it is a point of the curve.
#[unsafe(no_mangle)]
extern "C" fn ed25519_check(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, _, _| input.ed25519().map(|_| 0))
}

/// Input: nothing, or the seed. Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn signing_key_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let key = if input.is_empty() { Ed25519SecretKey::new() } else { Ed25519SecretKey::from_slice(input.array()?) };
        output.put(key.public_key().as_bytes());
        objects.add(key)
    })
}

#[unsafe(no_mangle)]
extern "C" fn signing_key_bytes(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.put(objects.get::<Ed25519SecretKey>(handle)?.to_bytes().as_slice());
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn signing_key_sign(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        output.put(&objects.get::<Ed25519SecretKey>(handle)?.sign(input.rest()).to_bytes());
        Ok(0)
    })
}

/// Input: nothing, or the secret. Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn agreement_key_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let key =
            if input.is_empty() { Curve25519SecretKey::new() } else { Curve25519SecretKey::from_slice(input.array()?) };
        output.put(Curve25519PublicKey::from(&key).as_bytes());
        objects.add(key)
    })
}

#[unsafe(no_mangle)]
extern "C" fn agreement_key_bytes(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.put(objects.get::<Curve25519SecretKey>(handle)?.to_bytes().as_slice());
        Ok(0)
    })
}

/// Input: their public key. Output: the shared secret.
#[unsafe(no_mangle)]
extern "C" fn agreement_key_agree(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let theirs = input.curve25519()?;
        let shared = objects.get::<Curve25519SecretKey>(handle)?.diffie_hellman(&theirs);
        output.put(shared.ok_or(crate::error::Code::NonContributoryKey)?.as_bytes());
        Ok(0)
    })
}
