//! Short authentication strings.

use vodozemac::sas::{EstablishedSas, Mac, Sas};

use crate::{abi::run, error::Code};

/// HKDF-SHA-256 yields no more.
const MAX_BYTES: u32 = 255 * 32;

fn text(bytes: &[u8]) -> Result<&str, Code> {
    std::str::from_utf8(bytes).map_err(|_| Code::Malformed)
}

/// Output: the public key.
#[unsafe(no_mangle)]
extern "C" fn sas_new(_: u32, length: u32, _: u32) -> i32 {
    run(length, |_, output, objects| {
        let sas = Sas::new();
        output.put(sas.public_key().as_bytes());
        objects.add(sas)
    })
}

/// Input: their public key. The handle is used up; answers that of the established SAS.
#[unsafe(no_mangle)]
extern "C" fn sas_establish(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, _, objects| {
        let theirs = input.curve25519()?;
        let established = objects.take::<Sas>(handle)?.diffie_hellman(theirs)?;
        objects.add(established)
    })
}

/// Input: the info. Output: `count` bytes.
#[unsafe(no_mangle)]
extern "C" fn sas_bytes(handle: u32, length: u32, count: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let sas = objects.get::<EstablishedSas>(handle)?;
        if count > MAX_BYTES {
            return Err(Code::OutOfRange);
        }
        output.replace(sas.bytes_raw(text(input.rest())?, count as usize).map_err(|_| Code::OutOfRange)?);
        Ok(0)
    })
}

/// Input: the info. Output: seven emoji indices, then three decimals of 16 bits.
#[unsafe(no_mangle)]
extern "C" fn sas_string(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let bytes = objects.get::<EstablishedSas>(handle)?.bytes(text(input.rest())?);
        output.put(&bytes.emoji_indices());
        let (one, two, three) = bytes.decimals();
        for decimal in [one, two, three] {
            output.put(&decimal.to_le_bytes());
        }
        Ok(0)
    })
}

/// Input: prefixed info, text. Output: the MAC.
#[unsafe(no_mangle)]
extern "C" fn sas_mac(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let info = text(input.prefixed()?)?;
        let mac = objects.get::<EstablishedSas>(handle)?.calculate_mac(text(input.rest())?, info);
        output.put(mac.as_bytes());
        Ok(0)
    })
}

/// Input: prefixed info, text. Output: the MAC in the broken Base64 of old libolm.
#[unsafe(no_mangle)]
extern "C" fn sas_mac_invalid_base64(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, output, objects| {
        let info = text(input.prefixed()?)?;
        let sas = objects.get::<EstablishedSas>(handle)?;
        output.put(sas.calculate_mac_invalid_base64(text(input.rest())?, info).as_bytes());
        Ok(0)
    })
}

/// Input: the MAC (32 bytes), prefixed info, text. Compares in constant time.
#[unsafe(no_mangle)]
extern "C" fn sas_verify_mac(handle: u32, length: u32, _: u32) -> i32 {
    run(length, |mut input, _, objects| {
        let mac = Mac::from_slice(input.array::<32>()?);
        let info = text(input.prefixed()?)?;
        objects.get::<EstablishedSas>(handle)?.verify_mac(text(input.rest())?, info, &mac)?;
        Ok(0)
    })
}
