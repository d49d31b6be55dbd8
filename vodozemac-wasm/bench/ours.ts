/** The workloads on this binding, through its public surface: strings in, strings and bytes out. */

import { type OlmSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import { loadHostSignatures } from "../tests/support/load_host_signatures.ts";
import { Bench } from "./bench.ts";

const file = Deno.args.find((arg) => arg.startsWith("--wasm="))?.slice("--wasm=".length);
const module = file === undefined ? undefined : await WebAssembly.compile(await Deno.readFile(file));
const vodozemac = await Vodozemac.create(module);
const { olm, megolm, keys } = vodozemac;
// Without the host's verification, or with it from the first message on.
if (Deno.args.includes("--no-host")) Object.defineProperty(process, "getBuiltinModule", { value: undefined });
else loadHostSignatures();

function pair(): [OlmSession, OlmSession] {
  using alice = olm.createAccount();
  using bob = olm.createAccount();
  const [key = ""] = bob.generateOneTimeKeys(1).created;
  const fromAlice = alice.createOutboundSession(bob.curve25519Key, key);
  const fromBob = bob.createInboundSession(alice.curve25519Key, fromAlice.encrypt("opening")).session;
  fromAlice.decrypt(fromBob.encrypt("reply"));
  return [fromAlice, fromBob];
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

const bench = new Bench();
for (const size of [200, 4096]) {
  const text = "x".repeat(size);
  bench.run(`megolm_encrypt_${size}`, 200, () => {
    const session = megolm.createOutbound();
    return () => session.encrypt(text);
  });
  bench.run(`megolm_decrypt_${size}`, 200, () => {
    const outbound = megolm.createOutbound();
    const inbound = megolm.createInbound(outbound.sessionKey());
    const messages = times(200, () => outbound.encrypt(text));
    return (index) => inbound.decrypt(messages[index] ?? "");
  });
  bench.run(`megolm_decrypt_all_${size}`, 4, () => {
    const outbound = megolm.createOutbound();
    const inbound = megolm.createInbound(outbound.sessionKey());
    const messages = times(200, () => outbound.encrypt(text));
    return (index) => inbound.decryptAll(messages.slice(index * 50, index * 50 + 50));
  });
  bench.run(`olm_encrypt_${size}`, 200, () => {
    const [session] = pair();
    return () => session.encrypt(text);
  });
  bench.run(`olm_decrypt_${size}`, 200, () => {
    const [fromAlice, fromBob] = pair();
    const messages = times(200, () => fromAlice.encrypt(text));
    return (index) => fromBob.decrypt(messages[index] ?? { type: 1, body: "" });
  });
}
const text = "x".repeat(200);
bench.run("olm_pingpong_200", 50, () => {
  const [alice, bob] = pair();
  return () => {
    bob.decrypt(alice.encrypt(text));
    alice.decrypt(bob.encrypt(text));
  };
});
bench.run("group_session_new", 100, () => () => megolm.createOutbound());
bench.run("inbound_group_from_key", 100, () => {
  const key = megolm.createOutbound().sessionKey();
  return () => megolm.createInbound(key);
});
bench.run("olm_outbound_new", 50, () => {
  const [alice, bob] = [olm.createAccount(), olm.createAccount()];
  const [key = ""] = bob.generateOneTimeKeys(1).created;
  return () => alice.createOutboundSession(bob.curve25519Key, key);
});
bench.run("olm_inbound_new_200", 50, () => {
  const [alice, bob] = [olm.createAccount(), olm.createAccount()];
  const messages = bob.generateOneTimeKeys(50).created.map((key) =>
    alice.createOutboundSession(bob.curve25519Key, key).encrypt(text)
  );
  return (index) => bob.createInboundSession(alice.curve25519Key, messages[index] ?? { type: 0, body: "" });
});
bench.run("account_new", 100, () => () => olm.createAccount());
bench.run("one_time_key_new", 20, () => {
  const account = olm.createAccount();
  return () => account.generateOneTimeKeys(5);
});
bench.run("ed25519_sign_200", 200, () => {
  const account = olm.createAccount();
  return () => account.sign(text);
});
bench.run("ed25519_verify_200", 200, () => {
  const account = olm.createAccount();
  const signature = account.sign(text);
  return () => keys.verify(account.ed25519Key, text, signature);
});
const inbound = megolm.createInbound(megolm.createOutbound().sessionKey());
bench.run("inbound_group_state", 200, () => () => inbound.state());
bench.run("inbound_group_restore", 200, () => {
  const state = inbound.state();
  return () => megolm.restoreInbound(state);
});
const [session] = pair();
bench.run("olm_session_state", 200, () => () => session.state());
bench.run("olm_session_restore", 200, () => {
  const state = session.state();
  return () => olm.restoreSession(state);
});
for (const [name, samples] of bench.results) {
  // 50 messages to a call.
  if (name.includes("decrypt_all")) bench.results.set(name, samples.map((sample) => sample / 50));
}
await Deno.stdout.write(new TextEncoder().encode(bench.toString() + "\n"));
