import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { Engine, type Exports } from "../src/engine.ts";
import { wasmModule } from "../src/wasm_module.ts";
import { assertCode } from "./support/assert_code.ts";
import { first } from "./support/pair.ts";

/** An instance with its memory at hand, and the end of its stack, which begins at 0. */
async function withMemory(): Promise<[Vodozemac, WebAssembly.Memory, number]> {
  const all: Exports[] = [];
  const engine = await Engine.instantiate(await wasmModule(), (exports) => {
    all.push(exports);
    return exports;
  });
  const { memory, __stack_pointer } = first(all);
  return [new Vodozemac(engine), memory, __stack_pointer.value];
}

/** How often a sequence of bytes lies in a memory. */
function occurrences(memory: WebAssembly.Memory, needle: Uint8Array): number {
  const haystack = new Uint8Array(memory.buffer);
  let count = 0;
  for (let at = haystack.indexOf(needle[0] ?? 0); at >= 0; at = haystack.indexOf(needle[0] ?? 0, at + 1)) {
    if (needle.every((byte, index) => haystack[at + index] === byte)) count += 1;
  }
  return count;
}

Deno.test("Vodozemac.load() shares one instance until it dies, then makes another", async () => {
  const one = await Vodozemac.load();
  assertStrictEquals(await Vodozemac.load(), one);
  one[Symbol.dispose]();
  assert(one.dead);
  assertCode("instance_dead", () => one.olm.createAccount());
  const [two, three] = await Promise.all([Vodozemac.load(), Vodozemac.load()]);
  assert(two !== one && two === three && !two.dead);
  two.olm.createAccount()[Symbol.dispose]();
});

Deno.test("Engine is dead after a trap: the call and every later one throws instance_dead, with the trap as cause", async () => {
  const engine = await Engine.instantiate(await wasmModule(), (exports) => ({
    ...exports,
    account_sign: () => {
      throw new WebAssembly.RuntimeError("unreachable");
    },
  }));
  const vodozemac = new Vodozemac(engine);
  using account = vodozemac.olm.createAccount();
  const error = assertCode("instance_dead", () => account.sign("x"));
  assert(error.cause instanceof WebAssembly.RuntimeError);
  assert(vodozemac.dead);
  assertStrictEquals(assertCode("instance_dead", () => account.state()).cause, error.cause);
  using fresh = await Vodozemac.create();
  fresh.olm.createAccount()[Symbol.dispose]();
});

Deno.test("instances have nothing to do with each other", async () => {
  using one = await Vodozemac.create();
  using two = await Vodozemac.create();
  using outbound = one.megolm.createOutbound();
  using here = one.megolm.createInbound(outbound.sessionKey());
  using there = two.megolm.createInbound(outbound.sessionKey());
  assertCode("wrong_instance", () => here.compare(there));
  assertCode("wrong_instance", () => here.merge(there));
});

Deno.test("disposing of an object wipes its secrets from the memory, heap and stack", async () => {
  const [vodozemac, memory] = await withMemory();
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const key = vodozemac.keys.importEd25519(seed);
  assertNotEquals(occurrences(memory, seed), 0);
  key.sign("message");
  assertEquals(key.toBytes(), seed);
  key[Symbol.dispose]();
  assertEquals(occurrences(memory, seed), 0);
});

Deno.test("disposing of an object wipes the stack", async () => {
  const [{ keys }, memory, end] = await withMemory();
  const used = () => new Uint8Array(memory.buffer, 0, end).findLastIndex((byte) => byte !== 0) >= 0;
  const key = keys.createCurve25519();
  key.diffieHellman(key.publicKey);
  assert(used());
  key[Symbol.dispose]();
  assert(!used());
});

Deno.test("a state leaves no copy behind, however often it grew on its way", async () => {
  const [{ olm }, memory] = await withMemory();
  const account = olm.createAccount();
  account.generateOneTimeKeys(200);
  account.markKeysAsPublished();
  const state = account.state();
  account[Symbol.dispose]();
  for (let at = 200; at + 24 < state.length; at += 97) {
    const part = state.subarray(at, at + 24);
    assertEquals(occurrences(memory, part), 0, `${at}`);
  }
});

Deno.test("a session leaves no key and no plaintext behind", async () => {
  const [{ megolm }, memory] = await withMemory();
  const outbound = megolm.createOutbound();
  const inbound = megolm.createInbound(outbound.sessionKey());
  const secret = new TextEncoder().encode("the secret that nobody else may read, ever");
  inbound.decrypt(outbound.encrypt(secret));
  const ratchet = Uint8Array.fromBase64(inbound.exportAt(0) ?? "").subarray(5, 133);
  const state = inbound.state();
  megolm.restoreInbound(state)[Symbol.dispose]();
  outbound[Symbol.dispose]();
  inbound[Symbol.dispose]();
  assertEquals(occurrences(memory, secret), 0);
  assertEquals([0, 32, 64, 96].map((at) => occurrences(memory, ratchet.subarray(at, at + 32))), [0, 0, 0, 0]);
});

Deno.test("disposing of an instance wipes all of it", async () => {
  const [vodozemac, memory] = await withMemory();
  vodozemac.olm.createAccount();
  vodozemac[Symbol.dispose]();
  assert(new Uint8Array(memory.buffer).every((byte) => byte === 0));
});

Deno.test("an object that was disposed of is refused, and disposing of it again is no error", async () => {
  const { olm } = await Vodozemac.load();
  const account = olm.createAccount();
  account[Symbol.dispose]();
  account[Symbol.dispose]();
  assert(account.disposed);
  assertCode("disposed", () => account.state());
  assertCode("disposed", () => account.generateOneTimeKeys(1));
});

Deno.test("an object is freed once, and not at all in an instance that is dead", async () => {
  let freed = 0;
  const engine = await Engine.instantiate(await wasmModule(), (exports) => ({
    ...exports,
    object_free: (handle) => {
      freed += 1;
      return exports.object_free(handle);
    },
  }));
  const vodozemac = new Vodozemac(engine);
  const [one, two] = [vodozemac.olm.createAccount(), vodozemac.olm.createAccount()];
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  vodozemac[Symbol.dispose]();
  two[Symbol.dispose]();
  assertEquals(freed, 1);
});

Deno.test("a session is held only against another that is alive", async () => {
  const { megolm } = await Vodozemac.load();
  using outbound = megolm.createOutbound();
  using one = megolm.createInbound(outbound.sessionKey());
  const other = megolm.createInbound(outbound.sessionKey());
  other[Symbol.dispose]();
  for (const run of [one.compare.bind(one), one.merge.bind(one)]) {
    assertCode("bad_type", () => run(outbound as never));
    assertCode("disposed", () => run(other));
  }
});

Deno.test("a key that came as text is wiped once it is read, and one that came as bytes is left alone", async () => {
  const { megolm } = await Vodozemac.load();
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const key = outbound.sessionKey();
  const exported = inbound.exportAt(0) ?? "";
  const uses: readonly [text: string, use: (key: string | Uint8Array) => unknown][] = [
    [key, (given) => megolm.createInbound(given)],
    [exported, (given) => megolm.importInbound(given)],
    [exported, (given) => outbound.signKey(given)],
  ];
  const { fromBase64 } = Uint8Array;
  for (const [text, use] of uses) {
    const bytes = fromBase64(text);
    const before = bytes.slice();
    use(bytes);
    assertEquals(bytes, before);
    const decoded: Uint8Array[] = [];
    Uint8Array.fromBase64 = (...args) => {
      const read = fromBase64.apply(Uint8Array, args);
      decoded.push(read);
      return read;
    };
    try {
      use(text);
    } finally {
      Uint8Array.fromBase64 = fromBase64;
    }
    const read = first(decoded);
    assertEquals(read, new Uint8Array(before.length));
  }
});

Deno.test("objects show nothing of themselves when printed or serialized", async () => {
  const { olm, keys } = await Vodozemac.load();
  using account = olm.createAccount();
  using key = keys.createEd25519();
  for (const object of [account, key]) {
    const names = ["ed25519Key", "curve25519Key", "maxNumberOfOneTimeKeys", "publicKey"];
    assertEquals(Object.keys(object).filter((name) => !names.includes(name)), []);
    assert(!Deno.inspect(object, { depth: 9 }).includes(key.toBytes().toBase64({ omitPadding: true })));
  }
});

Deno.test("inputs are bounded: what is too long is refused, and what is long works", async () => {
  const { olm, megolm, keys } = await Vodozemac.load();
  using account = olm.createAccount();
  assertCode("too_long", () => account.sign(new Uint8Array(8 * 1024 * 1024 + 1)));
  assertCode("too_long", () => account.sign("x".repeat(3 * 1024 * 1024)));
  const longest = new Uint8Array(8 * 1024 * 1024);
  assert(keys.verify(account.ed25519Key, longest.subarray(96), account.sign(longest.subarray(96))));
  account.sign(longest);
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const plaintext = new Uint8Array(1024 * 1024).fill(7);
  assertEquals(inbound.decrypt(outbound.encrypt(plaintext)).plaintext, plaintext);
});

Deno.test("forgotten objects are freed after garbage collection", async () => {
  // Without finalisers 30,000 sessions take 25 MB. The memory of an instance never shrinks, so its
  // size tells.
  const script = `
    import { Vodozemac } from "./src/vodozemac.ts";
    import { Engine, type Exports } from "./src/engine.ts";
    import { wasmModule } from "./src/wasm_module.ts";
    let memory;
    const engine = await Engine.instantiate(await wasmModule(), (exports) => (memory = exports.memory, exports));
    const { megolm } = new Vodozemac(engine);
    for (let round = 0; round < 30; round++) {
      for (let index = 0; index < 1000; index++) megolm.createOutbound();
      gc();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    console.log(memory.buffer.byteLength);
  `;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--ext=ts", "--v8-flags=--expose-gc", script],
    cwd: `${import.meta.dirname}/..`,
  }).output();
  assert(success);
  const size = Number(new TextDecoder().decode(stdout));
  assert(size < 8_000_000, `${size} bytes`);
});
