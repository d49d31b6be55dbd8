import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { decodeBase64 } from "../src/binary.ts";
import { Engine } from "../src/engine.ts";
import { VodozemacError } from "../src/error.ts";
import { loadHostSignatures } from "./support/load_host_signatures.ts";
import { wasmModule } from "../src/wasm_module.ts";
import { assertCode } from "./support/assert_code.ts";
import { first, pair } from "./support/pair.ts";

const vodozemac = await Vodozemac.load();
const { olm, megolm, keys, pk } = vodozemac;

const content = fc.uint8Array({ maxLength: 300 }).map((bytes) => Uint8Array.from(bytes));

Deno.test("property: Olm carries anything in any order, through any number of saved states", () => {
  const step = fc.record({
    fromAlice: fc.boolean(),
    content,
    deliver: fc.nat({ max: 4 }),
    restore: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let { fromAlice, fromBob } = pair(vodozemac);
      const waiting: {
        to: "alice" | "bob";
        message: ReturnType<typeof fromAlice.encrypt>;
        content: Uint8Array;
      }[] = [];
      const deliver = (index: number) => {
        const [next] = waiting.splice(index % waiting.length, 1);
        if (next === undefined) return;
        const receiver = next.to === "bob" ? fromBob : fromAlice;
        assertEquals(receiver.decrypt(next.message), next.content);
        assertCode("missing_message_key", () => receiver.decrypt(next.message));
      };
      for (const { fromAlice: alice, content, deliver: index, restore } of steps) {
        const sender = alice ? fromAlice : fromBob;
        waiting.push({ to: alice ? "bob" : "alice", message: sender.encrypt(content), content });
        if (restore) {
          [fromAlice, fromBob] = [olm.restoreSession(fromAlice.state()), olm.restoreSession(fromBob.state())];
        }
        if (index > 0) deliver(index);
      }
      while (waiting.length > 0) deliver(0);
    }),
    { numRuns: 60 },
  );
});

Deno.test("property: Megolm carries anything, in any order, from any index on, through any export", () => {
  fc.assert(
    fc.property(
      fc.array(content, { minLength: 1, maxLength: 12 }),
      fc.nat({ max: 11 }),
      fc.infiniteStream(fc.nat()),
      (contents, from, order) => {
        using outbound = megolm.createOutbound();
        using whole = megolm.createInbound(outbound.sessionKey());
        const messages = contents.map((each) => outbound.encrypt(each));
        const start = from % contents.length;
        using part = megolm.importInbound(whole.exportAt(start) ?? "");
        using restored = megolm.restoreInbound(part.state());
        const shuffled = messages.map((message, index) => ({ message, index, key: order.next().value }))
          .sort((one, other) => one.key - other.key);
        for (const { message, index } of shuffled) {
          const expected = { messageIndex: index, plaintext: contents[index] };
          assertEquals(whole.decrypt(message), expected as typeof expected & { plaintext: Uint8Array });
          for (const session of [part, restored]) {
            if (index < start) assertCode("unknown_index", () => session.decrypt(message));
            else assertEquals(session.decrypt(message).plaintext, contents[index]);
          }
        }
        assertEquals(whole.decryptAll(messages).every((outcome) => outcome.ok), messages.length > 0);
        assertEquals(part.compare(whole), start === 0 ? "equal" : "worse");
        assertEquals(restored.exportAt(), part.exportAt());
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("property: the fast way of Megolm and vodozemac's own agree about every message", async () => {
  loadHostSignatures();
  const engine = await Engine.instantiate(await wasmModule());
  using outbound = megolm.createOutbound();
  const key = decodeBase64(outbound.sessionKey(), "test");
  using inbound = megolm.createInbound(key);
  const slow = engine.call("inbound_new", 0, [key]);
  const message = decodeBase64(outbound.encrypt("x".repeat(40)), "test");
  const verdict = (run: () => unknown) => {
    try {
      run();
      return "ok";
    } catch (error) {
      assert(error instanceof VodozemacError);
      return error.code;
    }
  };
  const change = fc.record({ at: fc.nat({ max: message.length - 1 }), to: fc.nat({ max: 255 }) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), fc.nat({ max: 2 }), (changes, cut) => {
      const changed = changes.reduce((bytes, { at, to }) => bytes.with(at, to), message).subarray(cut);
      const expected = verdict(() => engine.call("inbound_decrypt", slow, [changed], 0));
      assertEquals(verdict(() => inbound.decrypt(changed)), expected);
      if (changed.length === message.length && changed.every((byte, index) => byte === message[index])) {
        assertEquals(expected, "ok");
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("property: the fast way to a session and vodozemac's own agree about every session key", async () => {
  loadHostSignatures();
  const engine = await Engine.instantiate(await wasmModule());
  using outbound = megolm.createOutbound();
  outbound.encrypt("skipped");
  const key = decodeBase64(outbound.sessionKey(), "test");
  const slow = (bytes: Uint8Array) => {
    try {
      engine.call("inbound_state", engine.call("inbound_new", 0, [bytes], 0));
      return engine.bytes().toHex();
    } catch (error) {
      assert(error instanceof VodozemacError);
      return error.code;
    }
  };
  const fast = (bytes: Uint8Array) => {
    try {
      using session = megolm.createInbound(bytes);
      return session.state().toHex();
    } catch (error) {
      assert(error instanceof VodozemacError);
      return error.code;
    }
  };
  assert(slow(key).length > 100);
  fc.assert(
    fc.property(fc.nat({ max: key.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
      assertEquals(fast(key.with(at, byte)), slow(key.with(at, byte)));
    }),
    { numRuns: 1000 },
  );
  // Keys that are signed well but say something odd: the first and the last index, a key of small
  // order.
  using signer = keys.createEd25519();
  const publicKey = decodeBase64(signer.publicKey, "test");
  for (const index of [0, 1, 0x7fff_ffff, 0xffff_ffff]) {
    for (const version of [0, 1, 2, 3]) {
      const body = key.slice(0, 165);
      body.set([version, index >>> 24, index >>> 16, index >>> 8, index]);
      body.set(publicKey, 133);
      const signed = Uint8Array.of(...body, ...decodeBase64(signer.sign(body), "test"));
      assertEquals(fast(signed), slow(signed));
      assertEquals(fast(signed) === "unsupported_version", version !== 2);
    }
  }
});

Deno.test("property: states are taken back whole or refused, whatever was changed in them", () => {
  const { alice, fromBob } = pair(vodozemac);
  alice.generateOneTimeKeys(3);
  alice.generateFallbackKey();
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const kinds = [
    { state: alice.state(), restore: (bytes: Uint8Array) => olm.restoreAccount(bytes) },
    { state: fromBob.state(), restore: (bytes: Uint8Array) => olm.restoreSession(bytes) },
    { state: outbound.state(), restore: (bytes: Uint8Array) => megolm.restoreOutbound(bytes) },
    { state: inbound.state(), restore: (bytes: Uint8Array) => megolm.restoreInbound(bytes) },
  ];
  for (const [index, { state, restore }] of kinds.entries()) {
    restore(state)[Symbol.dispose]();
    for (const other of kinds.filter((_, at) => at !== index)) {
      assertCode("bad_state", () => other.restore(state));
    }
    assertCode("bad_state", () => restore(Uint8Array.of(...state, 0)));
    assertCode("unsupported_version", () => restore(state.with(1, 2)));
    for (let length = 0; length < state.length; length++) {
      assertCode("bad_state", () => restore(state.subarray(0, length)));
    }
    fc.assert(
      fc.property(fc.nat({ max: state.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
        try {
          using restored = restore(state.with(at, byte));
          restored.state();
        } catch (error) {
          assert(
            ["bad_state", "unsupported_version"].includes((error as { code: string }).code),
            String(error),
          );
        }
      }),
      { numRuns: 500 },
    );
  }
});

Deno.test("property: keys sign, agree and decrypt for whatever secret they have", () => {
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(secret, secret, content, (one, other, message) => {
      using signing = keys.importEd25519(one);
      assert(keys.verify(signing.publicKey, message, signing.sign(message)));
      using here = keys.importCurve25519(one);
      using there = keys.importCurve25519(other);
      assertEquals(here.diffieHellman(there.publicKey), there.diffieHellman(here.publicKey));
      using decryption = pk.importDecryption(one);
      assertEquals(decryption.decrypt(pk.encrypt(decryption.publicKey, message)), message);
    }),
    { numRuns: 100 },
  );
});

Deno.test("property: one-time keys have each an ID and a session of their own", () => {
  using alice = olm.createAccount();
  using bob = olm.createAccount();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), (count) => {
      bob.generateOneTimeKeys(count);
      const published = bob.oneTimeKeys();
      assertEquals(new Set(published.map(({ keyId }) => keyId)).size, published.length);
      bob.markKeysAsPublished();
      for (const { key } of published) {
        using session = alice.createOutboundSession(bob.curve25519Key, key);
        using created = bob.createInboundSession(alice.curve25519Key, session.encrypt("")).session;
        assertEquals(created.sessionId, session.sessionId);
      }
      assertEquals(bob.storedOneTimeKeyCount, 0);
    }),
    { numRuns: 20 },
  );
  assertEquals(first([bob.generateOneTimeKeys(0).created]), []);
});
