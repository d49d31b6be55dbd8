//! Channels between two devices that scan each other's QR code: ECIES (MSC4108 of 2024) and HPKE (MSC4388).

use vodozemac::{
    ecies::{self, Ecies, EstablishedEcies},
    hpke::{
        self, CheckCode, DigitMode, EstablishedHpkeChannel, HpkeRecipientChannel, HpkeSenderChannel,
        UnidirectionalRecipientChannel, UnidirectionalSenderChannel,
    },
};

use crate::{
    abi::{Output, run},
    error::Code,
};

fn text(bytes: &[u8]) -> Result<&str, Code> {
    std::str::from_utf8(bytes).map_err(|_| Code::Malformed)
}

/// Two bytes, then the two digits with and without a leading zero.
fn put_check_code(code: &CheckCode, output: &mut Output) {
    output.put(code.as_bytes());
    output.put(&[code.to_digit(DigitMode::AllowLeadingZero), code.to_digit(DigitMode::NoLeadingZero)]);
}

/// Input: the application info. Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn ecies_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let ecies = Ecies::with_info(text(input.rest())?);
        output.put(ecies.public_key().as_bytes());
        objects.add(ecies)
    })
}

/// Input: their public key, plaintext. The handle is used up. Output: check code, ciphertext.
#[unsafe(no_mangle)]
extern "C" fn ecies_establish_outbound(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let theirs = input.curve25519()?;
        let created = objects.take::<Ecies>(handle)?.establish_outbound_channel(theirs, input.rest())?;
        put_check_code(created.ecies.check_code(), output);
        output.put(&created.message.ciphertext);
        objects.add(created.ecies)
    })
}

/// Input: their public key, ciphertext. The handle is used up. Output: check code, plaintext.
#[unsafe(no_mangle)]
extern "C" fn ecies_establish_inbound(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let public_key = input.curve25519()?;
        let message = ecies::InitialMessage { public_key, ciphertext: input.rest().to_vec() };
        let created = objects.take::<Ecies>(handle)?.establish_inbound_channel(&message)?;
        put_check_code(created.ecies.check_code(), output);
        output.put(&created.message);
        objects.add(created.ecies)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ecies_encrypt(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        output.replace(objects.get::<EstablishedEcies>(handle)?.encrypt(input.rest()).ciphertext);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ecies_decrypt(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let message = ecies::Message { ciphertext: input.rest().to_vec() };
        output.replace(objects.get::<EstablishedEcies>(handle)?.decrypt(&message)?);
        Ok(0)
    })
}

/// Input: the application info. Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn hpke_recipient_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let recipient = HpkeRecipientChannel::with_info(text(input.rest())?);
        output.put(recipient.public_key().as_bytes());
        objects.add(recipient)
    })
}

/// Input: their public key, prefixed application info, prefixed additional data, plaintext. Output: the message.
#[unsafe(no_mangle)]
extern "C" fn hpke_sender_establish(_: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let theirs = input.curve25519()?;
        let (info, additional_data) = (text(input.prefixed()?)?, input.prefixed()?);
        let sender = HpkeSenderChannel::with_info(info);
        let created = sender.establish_channel(theirs, input.rest(), additional_data)?;
        output.replace(created.message.to_bytes());
        objects.add(created.channel)
    })
}

/// Input: prefixed additional data, message. The handle is used up. Output: the plaintext.
#[unsafe(no_mangle)]
extern "C" fn hpke_recipient_establish(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let additional_data = input.prefixed()?;
        let message = hpke::InitialMessage::from_bytes(input.rest())?;
        let created = objects.take::<HpkeRecipientChannel>(handle)?.establish_channel(&message, additional_data)?;
        output.put(&created.message);
        objects.add(created.channel)
    })
}

/// Input: prefixed additional data, plaintext. The handle is used up. Output: check code, response.
#[unsafe(no_mangle)]
extern "C" fn hpke_recipient_respond(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let additional_data = input.prefixed()?;
        let half = objects.take::<UnidirectionalRecipientChannel>(handle)?;
        let created = half.establish_bidirectional_channel(input.rest(), additional_data);
        put_check_code(created.channel.check_code(), output);
        output.put(&created.message.to_bytes());
        objects.add(created.channel)
    })
}

/// Input: prefixed additional data, response. The handle is used up. Output: check code, plaintext.
#[unsafe(no_mangle)]
extern "C" fn hpke_sender_complete(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let additional_data = input.prefixed()?;
        let response = hpke::InitialResponse::from_bytes(input.rest())?;
        let half = objects.take::<UnidirectionalSenderChannel>(handle)?;
        let created = half.establish_bidirectional_channel(&response, additional_data)?;
        put_check_code(created.channel.check_code(), output);
        output.put(&created.message);
        objects.add(created.channel)
    })
}

/// Input: prefixed additional data, plaintext. Output: the ciphertext.
#[unsafe(no_mangle)]
extern "C" fn hpke_seal(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let additional_data = input.prefixed()?;
        output.replace(objects.get::<EstablishedHpkeChannel>(handle)?.seal(input.rest(), additional_data).ciphertext);
        Ok(0)
    })
}

/// Input: prefixed additional data, ciphertext. Output: the plaintext.
#[unsafe(no_mangle)]
extern "C" fn hpke_open(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let additional_data = input.prefixed()?;
        let message = hpke::Message { ciphertext: input.rest().to_vec() };
        output.replace(objects.get::<EstablishedHpkeChannel>(handle)?.open(&message, additional_data)?);
        Ok(0)
    })
}
