//! Encryption to a public key, as Matrix key backup does it.

use vodozemac::{
    Curve25519SecretKey,
    pk_encryption::{Message, PkDecryption, PkEncryption},
};

use crate::{
    abi::{Objects, Output, run},
    error::{Code, Outcome},
};

/// vodozemac would take any prefix of the MAC, even one byte.
const MAC_LENGTH: usize = 8;

fn add_key(key: PkDecryption, output: &mut Output, objects: &mut Objects) -> Outcome {
    output.put(key.public_key().as_bytes());
    objects.add(key)
}

/// Input: nothing, or the secret key. Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn pk_decryption_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let key = if input.is_empty() {
            PkDecryption::new()
        } else {
            PkDecryption::from_key(Curve25519SecretKey::from_slice(input.array()?))
        };
        add_key(key, output, objects)
    })
}

/// Input: prefixed pickle in Base64, pickle key.
#[unsafe(no_mangle)]
extern "C" fn pk_decryption_from_libolm(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let pickle = std::str::from_utf8(input.prefixed()?).map_err(|_| Code::BadPickle)?;
        add_key(PkDecryption::from_libolm_pickle(pickle, input.rest())?, output, objects)
    })
}

#[unsafe(no_mangle)]
extern "C" fn pk_decryption_bytes(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        output.put(objects.get::<PkDecryption>(handle)?.secret_key().to_bytes().as_slice());
        Ok(0)
    })
}

/// Input: ephemeral key, MAC (8 bytes), ciphertext. Output: the plaintext.
#[unsafe(no_mangle)]
extern "C" fn pk_decrypt(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let ephemeral_key = input.curve25519()?;
        let mac = input.array::<MAC_LENGTH>()?.to_vec();
        let message = Message { ciphertext: input.rest().to_vec(), mac, ephemeral_key };
        output.replace(objects.get::<PkDecryption>(handle)?.decrypt(&message)?);
        Ok(0)
    })
}

/// Input: public key, plaintext. Output: ephemeral key, MAC (8 bytes), ciphertext.
#[unsafe(no_mangle)]
extern "C" fn pk_encrypt(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, _| {
        let message = PkEncryption::from_key(input.curve25519()?).encrypt(input.rest())?;
        output.put(message.ephemeral_key.as_bytes());
        output.put(&message.mac);
        output.put(&message.ciphertext);
        Ok(0)
    })
}
