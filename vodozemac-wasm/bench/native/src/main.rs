//! The workloads of `bench/workloads.ts` on vodozemac itself. Prints `operation microseconds…` a line, a number for
//! each chunk. Text on the wire is Base64 here too; a state is JSON, vodozemac's own way.

use std::{hint::black_box, time::Instant};

use vodozemac::{
    Ed25519PublicKey, Ed25519Signature,
    megolm::{
        GroupSession, InboundGroupSession, InboundGroupSessionPickle, MegolmMessage, SessionConfig as MegolmConfig,
        SessionKey,
    },
    olm::{Account, OlmMessage, Session, SessionConfig, SessionPickle},
};

const CHUNKS: usize = 8;

/// Times `count` runs of what `make` gives, several times.
fn bench<R: FnMut(usize)>(name: &str, count: usize, mut make: impl FnMut() -> R) {
    print!("{name}");
    for _ in 0..CHUNKS {
        let mut run = make();
        let start = Instant::now();
        (0..count).for_each(&mut run);
        print!(" {:.3}", start.elapsed().as_secs_f64() * 1e6 / count as f64);
    }
    println!();
}

fn pair() -> (Session, Session) {
    let (alice, mut bob) = (Account::new(), Account::new());
    let key = bob.generate_one_time_keys(1).created[0];
    let mut from_alice = alice.create_outbound_session(SessionConfig::version_1(), bob.curve25519_key(), key).unwrap();
    let OlmMessage::PreKey(opening) = from_alice.encrypt("opening").unwrap() else { unreachable!() };
    let mut from_bob =
        bob.create_inbound_session(SessionConfig::version_1(), alice.curve25519_key(), &opening).unwrap().session;
    let reply = from_bob.encrypt("reply").unwrap();
    from_alice.decrypt(&reply).unwrap();
    (from_alice, from_bob)
}

/// As on the wire: type and Base64.
fn parts(message: OlmMessage) -> (usize, String) {
    let (kind, body) = message.to_parts();
    (kind, vodozemac::base64_encode(body))
}

fn read(message: &(usize, String)) -> OlmMessage {
    OlmMessage::from_parts(message.0, &vodozemac::base64_decode(&message.1).unwrap()).unwrap()
}

fn main() {
    for size in [200, 4096] {
        let text = "x".repeat(size);
        bench(&format!("megolm_encrypt_{size}"), 200, || {
            let mut session = GroupSession::new(MegolmConfig::version_1());
            let text = text.clone();
            move |_| drop(black_box(session.encrypt(&text).to_base64()))
        });
        bench(&format!("megolm_decrypt_{size}"), 200, || {
            let mut outbound = GroupSession::new(MegolmConfig::version_1());
            let mut inbound = InboundGroupSession::from(&outbound);
            let messages: Vec<_> = (0..200).map(|_| outbound.encrypt(&text).to_base64()).collect();
            move |index| {
                let message = MegolmMessage::from_base64(&messages[index]).unwrap();
                drop(black_box(inbound.decrypt(&message).unwrap()))
            }
        });
        bench(&format!("olm_encrypt_{size}"), 200, || {
            let (mut session, _) = pair();
            let text = text.clone();
            move |_| drop(black_box(parts(session.encrypt(&text).unwrap())))
        });
        bench(&format!("olm_decrypt_{size}"), 200, || {
            let (mut from_alice, mut from_bob) = pair();
            let messages: Vec<_> = (0..200).map(|_| parts(from_alice.encrypt(&text).unwrap())).collect();
            move |index| drop(black_box(from_bob.decrypt(&read(&messages[index])).unwrap()))
        });
    }
    let text = "x".repeat(200);
    bench("olm_pingpong_200", 50, || {
        let (mut alice, mut bob) = pair();
        let text = text.clone();
        move |_| {
            let there = parts(alice.encrypt(&text).unwrap());
            bob.decrypt(&read(&there)).unwrap();
            let back = parts(bob.encrypt(&text).unwrap());
            alice.decrypt(&read(&back)).unwrap();
        }
    });
    bench("group_session_new", 100, || |_| drop(black_box(GroupSession::new(MegolmConfig::version_1()))));
    bench("inbound_group_from_key", 100, || {
        let key = GroupSession::new(MegolmConfig::version_1()).session_key().to_base64();
        move |_| {
            let key = SessionKey::from_base64(&key).unwrap();
            drop(black_box(InboundGroupSession::new(&key, MegolmConfig::version_1())))
        }
    });
    bench("olm_outbound_new", 50, || {
        let (alice, mut bob) = (Account::new(), Account::new());
        let key = bob.generate_one_time_keys(1).created[0];
        move |_| {
            drop(black_box(
                alice.create_outbound_session(SessionConfig::version_1(), bob.curve25519_key(), key).unwrap(),
            ))
        }
    });
    bench("olm_inbound_new_200", 50, || {
        let (alice, mut bob) = (Account::new(), Account::new());
        let text = text.clone();
        let messages: Vec<_> = bob
            .generate_one_time_keys(50)
            .created
            .into_iter()
            .map(|key| {
                let mut session =
                    alice.create_outbound_session(SessionConfig::version_1(), bob.curve25519_key(), key).unwrap();
                parts(session.encrypt(&text).unwrap())
            })
            .collect();
        move |index| {
            let OlmMessage::PreKey(message) = read(&messages[index]) else { unreachable!() };
            let created = bob.create_inbound_session(SessionConfig::version_1(), alice.curve25519_key(), &message);
            drop(black_box(created.unwrap()))
        }
    });
    bench("account_new", 100, || |_| drop(black_box(Account::new())));
    bench("one_time_key_new", 20, || {
        let mut account = Account::new();
        move |_| drop(black_box(account.generate_one_time_keys(5)))
    });
    bench("ed25519_sign_200", 200, || {
        let account = Account::new();
        let text = text.clone();
        move |_| drop(black_box(account.sign(&text).to_base64()))
    });
    bench("ed25519_verify_200", 200, || {
        let account = Account::new();
        let (key, signature) = (account.ed25519_key().to_base64(), account.sign(&text).to_base64());
        let text = text.clone();
        move |_| {
            let key = Ed25519PublicKey::from_base64(&key).unwrap();
            key.verify(text.as_bytes(), &Ed25519Signature::from_base64(&signature).unwrap()).unwrap()
        }
    });
    let inbound = InboundGroupSession::from(&GroupSession::new(MegolmConfig::version_1()));
    bench("inbound_group_state", 200, || |_| drop(black_box(serde_json::to_vec(&inbound.pickle()).unwrap())));
    let state = serde_json::to_vec(&inbound.pickle()).unwrap();
    bench("inbound_group_restore", 200, || {
        |_| {
            let pickle: InboundGroupSessionPickle = serde_json::from_slice(&state).unwrap();
            drop(black_box(InboundGroupSession::from_pickle(pickle)))
        }
    });
    let (session, _) = pair();
    bench("olm_session_state", 200, || |_| drop(black_box(serde_json::to_vec(&session.pickle()).unwrap())));
    let state = serde_json::to_vec(&session.pickle()).unwrap();
    bench("olm_session_restore", 200, || {
        |_| {
            let pickle: SessionPickle = serde_json::from_slice(&state).unwrap();
            drop(black_box(Session::from_pickle(pickle)))
        }
    });
}
