import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";
import { first, text } from "./support/pair.ts";

const { olm, keys } = await Vodozemac.load();

Deno.test("Account has two identity keys of 32 bytes, in unpadded Base64", () => {
  using account = olm.createAccount();
  assertEquals(account.ed25519Key.length, 43);
  assertEquals(account.curve25519Key.length, 43);
  assert(keys.isEd25519(account.ed25519Key));
  assert(keys.isCurve25519(account.curve25519Key));
});

Deno.test("Account.sign() signs text as UTF-8 and bytes as they are", () => {
  using account = olm.createAccount();
  const signature = account.sign("grüße");
  assertEquals(account.sign(new TextEncoder().encode("grüße")), signature);
  assert(keys.verify(account.ed25519Key, "grüße", signature));
  assert(!keys.verify(account.ed25519Key, "gruesse", signature));
});

Deno.test("Account.sign() refuses a lone surrogate, which UTF-8 can't hold", () => {
  using account = olm.createAccount();
  assertCode("malformed", () => account.sign("\ud800"));
});

Deno.test("Account.generateOneTimeKeys() lists them until they are marked as published", () => {
  using account = olm.createAccount();
  const { created, removed } = account.generateOneTimeKeys(3);
  assertEquals(removed, []);
  assertEquals(account.oneTimeKeys().map(({ key }) => key), created);
  assertEquals(account.oneTimeKeys().map(({ keyId }) => keyId), [
    "AAAAAAAAAAA",
    "AAAAAAAAAAE",
    "AAAAAAAAAAI",
  ]);
  account.markKeysAsPublished();
  assertEquals(account.oneTimeKeys(), []);
  assertEquals(account.storedOneTimeKeyCount, 3);
  assertEquals(account.maxNumberOfOneTimeKeys, 50);
});

Deno.test("Account.generateOneTimeKeys() drops the oldest beyond 5000, and refuses a count out of range", () => {
  using account = olm.createAccount();
  const { created } = account.generateOneTimeKeys(5000);
  assertEquals(account.generateOneTimeKeys(2).removed, created.slice(0, 2));
  assertEquals(account.storedOneTimeKeyCount, 5000);
  for (const count of [-1, 1.5, 5001, 1e9, NaN, Infinity]) {
    assertCode("out_of_range", () => account.generateOneTimeKeys(count));
  }
  assertCode("bad_type", () => account.generateOneTimeKeys("3" as never));
});

Deno.test("Account.removeOneTimeKey() drops a private half once", () => {
  using account = olm.createAccount();
  const key = first(account.generateOneTimeKeys(1).created);
  assert(account.removeOneTimeKey(key));
  assert(!account.removeOneTimeKey(key));
  assertEquals(account.storedOneTimeKeyCount, 0);
});

Deno.test("Account.generateFallbackKey() keeps the previous key until it is forgotten", () => {
  using account = olm.createAccount();
  using sender = olm.createAccount();
  assertEquals(account.fallbackKey(), undefined);
  assertEquals(account.generateFallbackKey(), undefined);
  const old = account.fallbackKey()?.key ?? "";
  account.markKeysAsPublished();
  assertEquals(account.fallbackKey(), undefined);
  account.generateFallbackKey();
  assertNotEquals(account.fallbackKey()?.key, old);

  using late = sender.createOutboundSession(account.curve25519Key, old);
  const message = late.encrypt("late");
  using session = account.createInboundSession(sender.curve25519Key, message).session;
  assertEquals(session.sessionId, late.sessionId);

  assert(account.forgetFallbackKey());
  assert(!account.forgetFallbackKey());
  assertCode("unknown_one_time_key", () => account.createInboundSession(sender.curve25519Key, message));
});

Deno.test("Account.createInboundSession() uses a one-time key up, but only when the message decrypts", () => {
  using alice = olm.createAccount();
  using bob = olm.createAccount();
  using mallory = olm.createAccount();
  const key = first(bob.generateOneTimeKeys(1).created);
  using outbound = alice.createOutboundSession(bob.curve25519Key, key);
  const message = outbound.encrypt("hello");

  const broken = Uint8Array.fromBase64(message.body + "=".repeat((4 - message.body.length % 4) % 4));
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
  assertCode("bad_mac", () => bob.createInboundSession(alice.curve25519Key, { type: 0, body: broken }));
  assertCode("identity_key_mismatch", () => bob.createInboundSession(mallory.curve25519Key, message));
  assertCode(
    "malformed",
    () => bob.createInboundSession(alice.curve25519Key, { type: 1, body: message.body }),
  );
  assertEquals(bob.storedOneTimeKeyCount, 1);

  const { session, plaintext } = bob.createInboundSession(alice.curve25519Key, message);
  using inbound = session;
  assertEquals(text(plaintext), "hello");
  assertEquals(inbound.keys, olm.readPreKeyMessage(message.body));
  assertEquals(inbound.keys.identityKey, alice.curve25519Key);
  assertEquals(inbound.keys.oneTimeKey, key);
  assertEquals(bob.storedOneTimeKeyCount, 0);
  assertCode("unknown_one_time_key", () => bob.createInboundSession(alice.curve25519Key, message));
});

Deno.test("Account.createOutboundSession() refuses keys that add nothing to the secret", () => {
  using account = olm.createAccount();
  const zero = new Uint8Array(32);
  assertCode("non_contributory_key", () => account.createOutboundSession(zero, account.curve25519Key));
  assertCode("non_contributory_key", () => account.createOutboundSession(account.curve25519Key, zero));
  assertCode("bad_length", () => account.createOutboundSession(zero.subarray(1), zero));
});

Deno.test("Account.state() restores the same account, published keys and all", () => {
  using account = olm.createAccount();
  account.generateOneTimeKeys(2);
  account.markKeysAsPublished();
  account.generateOneTimeKeys(1);
  account.generateFallbackKey();
  using restored = olm.restoreAccount(account.state());
  using copy = account.clone();
  for (const other of [restored, copy]) {
    assertEquals(other.ed25519Key, account.ed25519Key);
    assertEquals(other.curve25519Key, account.curve25519Key);
    assertEquals(other.oneTimeKeys(), account.oneTimeKeys());
    assertEquals(other.fallbackKey(), account.fallbackKey());
    assertEquals(other.storedOneTimeKeyCount, 3);
    assertEquals(other.state(), account.state());
  }
});

Deno.test("Account.state() holds 1000 one-time keys in one value of Deno KV", () => {
  using account = olm.createAccount();
  account.generateOneTimeKeys(1000);
  account.markKeysAsPublished();
  assert(account.state().length < 60_000, `${account.state().length} bytes`);
});

Deno.test("Account.dehydrate() gives an account that receives, and only with the key", () => {
  using device = olm.createAccount();
  const oneTimeKey = first(device.generateOneTimeKeys(1).created);
  const key = crypto.getRandomValues(new Uint8Array(32));
  const dehydrated = device.dehydrate(key);
  assertNotEquals(device.dehydrate(key).nonce, dehydrated.nonce);
  assertCode("decryption_failed", () => olm.rehydrateAccount(dehydrated, new Uint8Array(32)));
  assertCode("bad_length", () => olm.rehydrateAccount({ ...dehydrated, nonce: "AAAA" }, key));

  using rehydrated = olm.rehydrateAccount(dehydrated, key);
  assertEquals(rehydrated.ed25519Key, device.ed25519Key);
  using sender = olm.createAccount();
  using outbound = sender.createOutboundSession(device.curve25519Key, oneTimeKey);
  const created = rehydrated.createInboundSession(sender.curve25519Key, outbound.encrypt("key"));
  using _session = created.session;
  assertEquals(text(created.plaintext), "key");
});
