/** The workloads on `npm:vodozemac-wasm-bindings`. */

// It writes to the document when it starts.
Object.assign(globalThis, {
  window: globalThis,
  document: { body: { appendChild: () => {} }, createElement: () => ({}) },
});
class Window {
  static [Symbol.hasInstance](): boolean {
    return true;
  }
}
Object.assign(globalThis, { Window });

const { Bench } = await import("./bench.ts");
const { Account, GroupSession, InboundGroupSession, Session, verify_signature, initSync } = await import(
  "vodozemac-wasm-bindings"
);
const wasm = new URL("vodozemac_bg.wasm", import.meta.resolve("vodozemac-wasm-bindings"));
initSync({ module: await Deno.readFile(wasm) });

type Session = ReturnType<typeof Session.from_pickle>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const key = new Uint8Array(32);
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

function oneTimeKeys(account: InstanceType<typeof Account>, count: number): string[] {
  account.generate_one_time_keys(count);
  const found = account.one_time_keys;
  account.mark_keys_as_published();
  return [...found instanceof Map ? found.values() : Object.values<string>(found)];
}

function pair(): [Session, Session] {
  const [alice, bob] = [new Account(), new Account()];
  const [oneTimeKey = ""] = oneTimeKeys(bob, 1);
  const fromAlice = alice.create_outbound_session(bob.curve25519_key, oneTimeKey);
  const opening = fromAlice.encrypt(encoder.encode("opening"));
  const fromBob =
    bob.create_inbound_session(alice.curve25519_key, opening.message_type, opening.ciphertext).session;
  const reply = fromBob.encrypt(encoder.encode("reply"));
  fromAlice.decrypt(reply.message_type, reply.ciphertext);
  return [fromAlice, fromBob];
}

function encrypt(session: Session, text: string): { type: number; body: string } {
  const message = session.encrypt(encoder.encode(text));
  return { type: message.message_type, body: message.ciphertext };
}

const bench = new Bench();
for (const size of [200, 4096]) {
  const text = "x".repeat(size);
  bench.run(`megolm_encrypt_${size}`, 200, () => {
    const session = new GroupSession();
    return () => session.encrypt(encoder.encode(text));
  });
  bench.run(`megolm_decrypt_${size}`, 200, () => {
    const outbound = new GroupSession();
    const inbound = new InboundGroupSession(outbound.session_key);
    const messages = times(200, () => outbound.encrypt(encoder.encode(text)));
    return (index) => decoder.decode(inbound.decrypt(messages[index] ?? "").plaintext);
  });
  bench.run(`olm_encrypt_${size}`, 200, () => {
    const [session] = pair();
    return () => encrypt(session, text);
  });
  bench.run(`olm_decrypt_${size}`, 200, () => {
    const [fromAlice, fromBob] = pair();
    const messages = times(200, () => encrypt(fromAlice, text));
    return (index) => fromBob.decrypt(messages[index]?.type ?? 1, messages[index]?.body ?? "");
  });
}
const text = "x".repeat(200);
bench.run("olm_pingpong_200", 50, () => {
  const [alice, bob] = pair();
  return () => {
    const there = encrypt(alice, text);
    bob.decrypt(there.type, there.body);
    const back = encrypt(bob, text);
    alice.decrypt(back.type, back.body);
  };
});
bench.run("group_session_new", 100, () => () => new GroupSession());
bench.run("inbound_group_from_key", 100, () => {
  const sessionKey = new GroupSession().session_key;
  return () => new InboundGroupSession(sessionKey);
});
bench.run("olm_outbound_new", 50, () => {
  const [alice, bob] = [new Account(), new Account()];
  const [oneTimeKey = ""] = oneTimeKeys(bob, 1);
  return () => alice.create_outbound_session(bob.curve25519_key, oneTimeKey);
});
bench.run("olm_inbound_new_200", 50, () => {
  const [alice, bob] = [new Account(), new Account()];
  const messages = oneTimeKeys(bob, 50).map((oneTimeKey) =>
    encrypt(alice.create_outbound_session(bob.curve25519_key, oneTimeKey), text)
  );
  return (index) =>
    bob.create_inbound_session(alice.curve25519_key, messages[index]?.type ?? 0, messages[index]?.body ?? "");
});
bench.run("account_new", 100, () => () => new Account());
bench.run("one_time_key_new", 20, () => {
  const account = new Account();
  return () => account.generate_one_time_keys(5);
});
bench.run("ed25519_sign_200", 200, () => {
  const account = new Account();
  return () => account.sign(text);
});
bench.run("ed25519_verify_200", 200, () => {
  const account = new Account();
  const signature = account.sign(text);
  return () => verify_signature(account.ed25519_key, encoder.encode(text), signature);
});
const inbound = new InboundGroupSession(new GroupSession().session_key);
bench.run("inbound_group_state", 200, () => () => inbound.pickle(key));
bench.run("inbound_group_restore", 200, () => {
  const state = inbound.pickle(key);
  return () => InboundGroupSession.from_pickle(state, key);
});
const [session] = pair();
bench.run("olm_session_state", 200, () => () => session.pickle(key));
bench.run("olm_session_restore", 200, () => {
  const state = session.pickle(key);
  return () => Session.from_pickle(state, key);
});
await Deno.stdout.write(encoder.encode(bench.toString() + "\n"));
