import { assert, assertEquals, assertRejects } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";
import { hasLibolm, Libolm } from "./support/libolm.ts";
import { first, text } from "./support/pair.ts";

const vodozemac = await Vodozemac.load();
const { olm, megolm, keys, pk } = vodozemac;

interface Message {
  readonly type: number;
  readonly body: string;
}

const present = await hasLibolm();
if (!present) {
  Deno.stderr.writeSync(new TextEncoder().encode("skipping the tests against libolm: no python-olm\n"));
}

/** A test against libolm; without python-olm it is skipped. */
function interop(name: string, run: (libolm: Libolm) => Promise<void>): void {
  Deno.test({
    name: `libolm: ${name}`,
    ignore: !present,
    async fn() {
      await using libolm = Libolm.start();
      await run(libolm);
    },
  });
}

interop("an Olm session that we start works both ways, out of order and after a restart", async (libolm) => {
  await libolm.call("bob", "account");
  const bob = await libolm.call<{ curve25519: string }>("bob", "identity_keys");
  const key = first(await libolm.call<string[]>("bob", "one_time_keys", 1));
  using alice = olm.createAccount();
  using session = alice.createOutboundSession(bob.curve25519, key);
  const opening = session.encrypt("grüße");
  await libolm.call("session", "inbound_session", "bob", opening.body, alice.curve25519Key);
  assertEquals(await libolm.call("session", "id"), session.sessionId);
  assertEquals(await libolm.call("session", "decrypt", 0, opening.body), "grüße");
  const replies: Message[] = [];
  for (const reply of ["one", "two", "three"]) replies.push(await libolm.call("session", "encrypt", reply));
  assertEquals(replies.toReversed().map((reply) => text(session.decrypt(reply))), ["three", "two", "one"]);
  using restored = olm.restoreSession(session.state());
  const [skipped, last] = [restored.encrypt("skipped"), restored.encrypt("last")];
  assertEquals(await libolm.call("session", "decrypt", 1, last.body), "last");
  assertEquals(await libolm.call("session", "decrypt", 1, skipped.body), "skipped");
});

interop(
  "an Olm session that libolm starts works both ways, on a one-time and on a fallback key",
  async (libolm) => {
    using bob = olm.createAccount();
    bob.generateFallbackKey();
    await libolm.call("alice", "account");
    const alice = await libolm.call<{ curve25519: string }>("alice", "identity_keys");
    for (const key of [first(bob.generateOneTimeKeys(1).created), bob.fallbackKey()?.key ?? ""]) {
      await libolm.call("session", "outbound_session", "alice", bob.curve25519Key, key);
      const opening = await libolm.call<Message>("session", "encrypt", "hello");
      const { session, plaintext } = bob.createInboundSession(alice.curve25519, opening);
      using inbound = session;
      assertEquals(text(plaintext), "hello");
      assertEquals(inbound.sessionId, await libolm.call("session", "id"));
      const reply = inbound.encrypt("welcome");
      assertEquals(await libolm.call("session", "decrypt", reply.type, reply.body), "welcome");
      const next = await libolm.call<Message>("session", "encrypt", "next");
      assertEquals([next.type, text(inbound.decrypt(next))], [1, "next"]);
    }
  },
);

interop("a Megolm session of ours is read by libolm, whole and exported", async (libolm) => {
  using outbound = megolm.createOutbound();
  await libolm.call("whole", "inbound_group", outbound.sessionKey());
  using own = megolm.createInbound(outbound.sessionKey());
  await libolm.call("part", "import_group", own.exportAt(2));
  assertEquals(await libolm.call("whole", "id"), outbound.sessionId);
  for (let index = 0; index < 4; index++) {
    const message = outbound.encrypt(`nr ${index}`);
    assertEquals(await libolm.call<unknown>("whole", "group_decrypt", message), [`nr ${index}`, index]);
    const part = libolm.call<unknown>("part", "group_decrypt", message);
    if (index < 2) await assertRejects(() => part, Error, "UNKNOWN_MESSAGE_INDEX");
    else assertEquals(await part, [`nr ${index}`, index]);
  }
});

interop("a Megolm session of libolm is read by us, whole and exported", async (libolm) => {
  await libolm.call("outbound", "outbound_group");
  const sessionKey = await libolm.call("outbound", "session_key");
  await libolm.call("inbound", "inbound_group", sessionKey);
  using whole = megolm.createInbound(sessionKey);
  using part = megolm.importInbound(await libolm.call("inbound", "export_group", 2));
  assertEquals([whole.sessionId, part.firstKnownIndex], [await libolm.call("outbound", "id"), 2]);
  assertEquals(part.compare(whole), "worse");
  assertEquals(whole.exportAt(2), await libolm.call("inbound", "export_group", 2));
  for (let index = 0; index < 4; index++) {
    const message = await libolm.call("outbound", "group_encrypt", `nr ${index}`);
    assertEquals(text(whole.decrypt(message).plaintext), `nr ${index}`);
    if (index < 2) assertCode("unknown_index", () => part.decrypt(message));
    else assertEquals(part.decrypt(message).messageIndex, index);
  }
});

interop("SAS agree about bytes and both kinds of MAC", async (libolm) => {
  const ours = vodozemac.createSas();
  await libolm.call("sas", "sas");
  await libolm.call("sas", "sas_their_key", ours.publicKey);
  using established = ours.establish(await libolm.call("sas", "sas_key"));
  const [content, info] = ["ed25519:DEVICE", "MATRIX_KEY_VERIFICATION_MAC"];
  assertEquals(await libolm.call("sas", "sas_bytes", info, 42), established.bytes(info, 42).toHex());
  const mac = await libolm.call("sas", "sas_mac", content, info);
  assertEquals(mac, established.mac(content, info));
  assert(established.verifyMac(content, info, mac));
  const old = await libolm.call("sas", "sas_old_mac", content, info);
  assertEquals(old, established.macInvalidBase64(content, info));
  assert(established.verifyMacInvalidBase64(content, info, old));
});

interop("what one side encrypts to a public key the other decrypts", async (libolm) => {
  await libolm.call("key", "pk");
  const theirs = await libolm.call("key", "pk_key");
  assertEquals(await libolm.call("key", "pk_decrypt", pk.encrypt(theirs, "to libolm")), "to libolm");
  using ours = pk.createDecryption();
  const message = await libolm.call<{ ephemeral: string; mac: string; ciphertext: string }>(
    "",
    "pk_encrypt",
    ours.publicKey,
    "from libolm",
  );
  assertEquals(text(ours.decrypt(message)), "from libolm");
});

interop("signatures are good on both sides, and the same", async (libolm) => {
  await libolm.call("account", "account");
  const { ed25519 } = await libolm.call<{ ed25519: string }>("account", "identity_keys");
  const theirs = await libolm.call("account", "sign", "grüße");
  assert(keys.verify(ed25519, "grüße", theirs));
  using account = olm.createAccount();
  await libolm.call("", "verify", account.ed25519Key, "grüße", account.sign("grüße"));
  await assertRejects(() => libolm.call("", "verify", account.ed25519Key, "other", account.sign("grüße")));
  using imported = olm.importLibolmAccount(await libolm.call("account", "pickle", "key"), "key");
  assertEquals(imported.sign("grüße"), theirs);
});

interop("pickles of accounts and Olm sessions are taken over, and go on", async (libolm) => {
  await libolm.call("account", "account");
  const identity = await libolm.call<{ ed25519: string; curve25519: string }>("account", "identity_keys");
  const [one, two] = await libolm.call<[string, string]>("account", "one_time_keys", 2);
  const fallback = await libolm.call("account", "generate_fallback_key");
  using peer = olm.createAccount();
  using started = peer.createOutboundSession(identity.curve25519, one);
  await libolm.call("session", "inbound_session", "account", started.encrypt("x").body, peer.curve25519Key);
  assertEquals(await libolm.call("session", "decrypt", 0, started.encrypt("read").body), "read");
  const skipped = started.encrypt("skipped");
  assertEquals(await libolm.call("session", "decrypt", 0, started.encrypt("later").body), "later");

  const pickle = await libolm.call("account", "pickle", "p\u00e4ssword");
  assertCode("bad_pickle", () => olm.importLibolmAccount(pickle, "wrong"));
  using account = olm.importLibolmAccount(pickle, "p\u00e4ssword");
  assertEquals([account.ed25519Key, account.curve25519Key], [identity.ed25519, identity.curve25519]);
  assertCode("not_convertible", () => account.dehydrate(new Uint8Array(32)));
  for (const key of [two, fallback]) {
    using outbound = peer.createOutboundSession(identity.curve25519, key);
    using session = account.createInboundSession(peer.curve25519Key, outbound.encrypt("hello")).session;
    assertEquals(session.sessionId, outbound.sessionId);
  }
  using restored = olm.restoreAccount(account.state());
  assertEquals(restored.sign("x"), account.sign("x"));

  const sessionPickle = await libolm.call("session", "pickle", "key");
  assertCode("bad_pickle", () => olm.importLibolmSession(sessionPickle, "wrong"));
  assertCode("unsupported_version", () => olm.importLibolmAccount(sessionPickle, "key"));
  using session = olm.importLibolmSession(sessionPickle, "key");
  assertEquals(session.sessionId, started.sessionId);
  assertEquals(text(session.decrypt(skipped)), "skipped");
  assertEquals(text(started.decrypt(session.encrypt("taken over"))), "taken over");
});

interop("pickles of Megolm sessions and decryption keys are taken over, and go on", async (libolm) => {
  await libolm.call("outbound", "outbound_group");
  const sessionKey = await libolm.call("outbound", "session_key");
  await libolm.call("inbound", "inbound_group", sessionKey);
  const early = await libolm.call("outbound", "group_encrypt", "early");
  using inbound = megolm.importLibolmInbound(await libolm.call("inbound", "pickle", "key"), "key");
  using outbound = megolm.importLibolmOutbound(await libolm.call("outbound", "pickle", "key"), "key");
  assertEquals([outbound.messageIndex, inbound.firstKnownIndex], [1, 0]);
  assertEquals(text(inbound.decrypt(early).plaintext), "early");
  assertEquals(await libolm.call<unknown>("inbound", "group_decrypt", outbound.encrypt("next")), ["next", 1]);
  using restored = megolm.restoreOutbound(outbound.state());
  assertEquals(text(inbound.decrypt(restored.encrypt("third")).plaintext), "third");

  await libolm.call("key", "pk");
  using key = pk.importLibolmDecryption(await libolm.call("key", "pickle", "key"), "key");
  assertEquals(key.publicKey, await libolm.call("key", "pk_key"));
  assertCode("bad_pickle", () => pk.importLibolmDecryption("AAAA", "key"));
});
