//! vodozemac by itself, without WebAssembly: orders and answers are those of `job.ts`, and the work is that of `raw.ts`.

use std::{
    env, fs,
    hint::black_box,
    io::{self, BufRead, Write},
    time::Instant,
};

use serde_json::{Value, json};
use vodozemac::{
    Curve25519PublicKey, Ed25519PublicKey, Ed25519Signature,
    megolm::{GroupSession, InboundGroupSession, MegolmMessage, SessionConfig as MegolmConfig},
    olm::{Account, SessionConfig},
};

/// What is encrypted: the event of `message.ts`.
fn plaintext() -> String {
    let content = json!({ "msgtype": "m.text", "body": "x".repeat(200) });
    json!({ "type": "m.room.message", "room_id": "!bench:example.org", "content": content }).to_string()
}

/// How long this process has had the processor, in microseconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of ours, which outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Microseconds of one operation, on the clock and on the processor.
fn timed(count: usize, work: impl FnOnce()) -> Value {
    let (start, before) = (Instant::now(), processor_time());
    work();
    let wall = start.elapsed().as_secs_f64() * 1e6;
    let cpu = processor_time() - before;
    json!({ "wall": wall / count as f64, "cpu": cpu / count as f64 })
}

fn encrypt(count: usize) -> Value {
    let (mut session, text) = (GroupSession::new(MegolmConfig::version_1()), plaintext());
    timed(count, || (0..count).for_each(|_| drop(black_box(session.encrypt(&text).to_base64()))))
}

fn decrypt(count: usize) -> Value {
    let mut outbound = GroupSession::new(MegolmConfig::version_1());
    let mut inbound = InboundGroupSession::from(&outbound);
    let messages: Vec<_> = (0..count).map(|_| outbound.encrypt(plaintext()).to_base64()).collect();
    timed(count, || {
        for message in &messages {
            let message = MegolmMessage::from_base64(message).unwrap();
            drop(black_box(inbound.decrypt(&message).unwrap()));
        }
    })
}

/// A device of the crowd.
struct Device {
    identity: String,
    signing: String,
    key: String,
    signature: String,
}

/// Reads what `crowd.ts` has written.
fn read_crowd() -> Vec<Device> {
    let path = env::args().find_map(|arg| arg.strip_prefix("--crowd=").map(str::to_owned)).unwrap();
    let crowd: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut devices = Vec::new();
    for (user, owned) in crowd["deviceKeys"].as_object().unwrap() {
        for (id, device) in owned.as_object().unwrap() {
            let one_time_keys = crowd["oneTimeKeys"][user][id].as_object().unwrap();
            let key = one_time_keys.values().next().unwrap();
            devices.push(Device {
                identity: text(&device["keys"][format!("curve25519:{id}")]),
                signing: text(&device["keys"][format!("ed25519:{id}")]),
                key: text(&key["key"]),
                signature: text(&key["signatures"][user][format!("ed25519:{id}")]),
            });
        }
    }
    devices
}

fn first_message(crowd: &[Device]) -> Value {
    let (account, text) = (Account::new(), plaintext());
    timed(1, || {
        let mut outbound = GroupSession::new(MegolmConfig::version_1());
        // The rest of an m.room_key around the session's key.
        let room_key = outbound.session_key().to_base64() + &"x".repeat(700);
        for Device { identity, signing, key, signature } in crowd {
            let signed = format!(r#"{{"key":"{key}"}}"#);
            let signature = Ed25519Signature::from_base64(signature).unwrap();
            Ed25519PublicKey::from_base64(signing).unwrap().verify(signed.as_bytes(), &signature).unwrap();
            let identity = Curve25519PublicKey::from_base64(identity).unwrap();
            let key = Curve25519PublicKey::from_base64(key).unwrap();
            let mut session = account.create_outbound_session(SessionConfig::version_1(), identity, key).unwrap();
            drop(black_box(session.encrypt(&room_key).unwrap()));
        }
        drop(black_box(outbound.encrypt(&text)));
    })
}

fn main() {
    let crowd = read_crowd();
    println!("{{}}");
    for line in io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let count = order["count"].as_u64().unwrap() as usize;
        let answer = match order["job"].as_str().unwrap() {
            "encrypt" => encrypt(count),
            "decrypt_one" | "decrypt_event" | "decrypt_sync" => decrypt(count),
            "first_message" => first_message(&crowd),
            _ => json!({}),
        };
        println!("{answer}");
        io::stdout().flush().unwrap();
    }
}
