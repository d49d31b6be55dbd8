import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertThrows,
} from "@std/assert";
import * as suites from "../../src/base/platform/browser_assert.ts";
import { platform as browser } from "../../src/base/platform/browser.ts";
import { platform as deno } from "../../src/base/platform/deno.ts";
import { addNewerLanguage } from "../../src/base/platform/tagged_codec.ts";
import { platform as node } from "../../src/base/platform/node.ts";
import { SEEK } from "../../src/base/platform/mod.ts";
import * as tagged from "../../src/base/platform/tagged_codec.ts";

const EXCLUSIVELY = true;

Deno.test("Files of Deno and of Node are read, written, locked and refused alike", async () => {
  for (const { files } of [deno, node]) {
    const path = await files.makeTempFile({ prefix: "platform-" });
    {
      using file = await files.open(path, { read: true, write: true });
      assertEquals(await file.write(new TextEncoder().encode("hello")), 5);
      assertEquals(file.seekSync(0, SEEK.END), 5);
      await file.seek(1, SEEK.START);
      const bytes = new Uint8Array(10);
      assertEquals(await file.read(bytes), 4);
      assertEquals(await file.read(bytes), null);
      await file.truncate(2);
      await file.sync();
      assertEquals(files.readTextFileSync(path), "he");
      assert(await file.tryLock(EXCLUSIVELY));
      using other = await files.open(path, { read: true, write: true });
      assertFalse(await other.tryLock(EXCLUSIVELY));
    }
    using later = await files.open(path, { read: true, write: true });
    assert(await later.tryLock(EXCLUSIVELY));
    const problem = (call: () => unknown) => files.problemOf(assertThrows(call));
    assertEquals(problem(() => files.openSync(path, { write: true, createNew: true })), "there");
    assertEquals(problem(() => files.readTextFileSync(`${path}.none`)), "missing");
    await files.remove(path);
    await files.remove(`${path}.lock`).catch(() => {});
  }
});

Deno.test("Timers of Deno and of Node end, and are those of a test that puts others in their place", async () => {
  for (const { startTimer } of [deno, node]) {
    const called: string[] = [];
    startTimer(() => void called.push("ended"), 0)();
    await new Promise<void>((resolve) => void startTimer(resolve, 1));
    const { setTimeout } = globalThis;
    globalThis.setTimeout = ((call: () => void, ms: number) => {
      called.push(`${ms}`);
      call();
    }) as typeof setTimeout;
    startTimer(() => void called.push("faked"), 5);
    globalThis.setTimeout = setTimeout;
    assertEquals(called, ["5", "faked"]);
  }
});

Deno.test("Servers of Deno and of Node answer alike", async () => {
  for (const { serve } of [deno, node]) {
    const server = await serve({ hostname: "127.0.0.1", port: 0 }, async (request) => {
      const { method, url } = request;
      const text = `${method} ${new URL(url).pathname} ${request.headers.get("x-a")} ${await request.text()}`;
      return new Response(text, { status: 201, headers: { "x-b": "2" } });
    });
    const address = `http://127.0.0.1:${server.port}/a`;
    const response = await fetch(address, { method: "PUT", headers: { "x-a": "1" }, body: "body" });
    assertEquals(
      [response.status, response.headers.get("x-b"), await response.text()],
      [201, "2", "PUT /a 1 body"],
    );
    await server.shutdown();
  }
});

Deno.test("Hashes of browsers are those of Deno", async () => {
  const [one, other] = [await deno.crypto(), await browser.crypto()];
  const key = Uint8Array.of(1, 2, 3);
  for (const text of ["", "a", "ä😀", "x".repeat(1_000)]) {
    for (const encoding of ["utf8", "utf16le"] as const) {
      assertEquals(
        other.createHash("sha256").update(text, encoding).update(key).digest("base64url"),
        one.createHash("sha256").update(text, encoding).update(key).digest("base64url"),
      );
    }
    assertEquals(
      other.createHmac("sha256", text).update(key).digest("base64"),
      one.createHmac("sha256", text).update(key).digest("base64"),
    );
    const derived = (crypto: typeof one) => new Uint8Array(crypto.hkdfSync("sha256", key, "", text, 32));
    assertEquals(derived(other), derived(one));
  }
  assert(other.timingSafeEqual(key, Uint8Array.of(1, 2, 3)));
  assertFalse(other.timingSafeEqual(key, Uint8Array.of(1, 2, 4)));
});

Deno.test("The tagged codec keeps what structured clone keeps", () => {
  const circular: Record<string, unknown> = { name: "circular" };
  circular.self = circular;
  const hole: unknown[] = [1];
  hole[3] = "after a hole";
  const values = [
    ...[undefined, null, true, -0, NaN, -Infinity, 1.5, 12n, "", "\ud800", "__proto__"],
    ...[{ a: undefined, ["__proto__"]: 1 }, [], hole, [["u"], ["n", "1"]], new Date(5), /a\/b/gi],
    ...[new Map<unknown, unknown>([[{ k: 1 }, new Set([1, "1", undefined])]]), Object(1n)],
    ...[Uint8Array.of(1, 2, 3).subarray(1), Float64Array.of(1.5), BigInt64Array.of(-1n), new ArrayBuffer(3)],
    ...[new DataView(new ArrayBuffer(2)), Object("text"), circular],
  ];
  for (const value of values) {
    assertEquals(tagged.deserialize(tagged.serialize(value)), structuredClone(value));
  }
  const error = tagged.deserialize(tagged.serialize(new TypeError("no", { cause: "why" }))) as TypeError;
  assertEquals([error instanceof TypeError, error.message, error.cause], [true, "no", "why"]);
  const own: Error = new Error("own");
  own.cause = own;
  const read = tagged.deserialize(tagged.serialize(own)) as Error;
  assertEquals(read.cause, read);
  const iterator = (function* () {})();
  const kinds = [new WeakRef({}), new SharedArrayBuffer(1), iterator, new Map().keys(), Object(Symbol("no"))];
  for (const value of [() => {}, Symbol("no"), Promise.resolve(), { deep: [() => {}] }, ...kinds]) {
    assertThrows(() => tagged.serialize(value));
  }
  assertThrows(() => tagged.deserialize(deno.serialize(new Map())), TypeError, "form");
});

/** What comes of a value: a kind of clone, or a refusal. */
function outcome(clone: (value: unknown) => unknown, value: unknown): unknown {
  try {
    return { clone: clone(value) };
  } catch {
    return "refused";
  }
}

Deno.test("The tagged codec refuses and takes what structured clone does, whatever it looks like", () => {
  class Own {
    #hidden = 1;
    shown = 2;
    get both() {
      return this.#hidden + this.shown;
    }
  }
  class OwnMap extends Map<unknown, unknown> {}
  class OwnError extends RangeError {}
  const plain = { a: 1 };
  const fakes = [Map, Date, Error, Uint8Array, Promise].map((kind) =>
    Object.assign(Object.create(kind.prototype), plain)
  );
  const tag = Symbol.toStringTag;
  const hidden = Object.defineProperty({ seen: 1 }, "unseen", { value: 2, enumerable: false });
  const values = {
    proxies: [new Proxy(plain, {}), { deep: [new Proxy([], {})] }, new Proxy(new Map(), {})],
    classes: [new Own(), new OwnMap([[1, new Own()]]), Object.create(plain), Object.create(null)],
    tags: [{ ...plain, [tag]: "Promise" }, Object.assign(new Date(3), { [tag]: "Map" }), { [tag]: "Proxy" }],
    hosts: [new WeakRef(plain), new Map().keys(), new Headers(), new URL("http://a/"), Promise.resolve()],
    dressed: [new WeakSet(), Promise.resolve()].map((value) =>
      Object.defineProperty(value, tag, { value: "Object" })
    ),
    members: [
      {
        get made() {
          return 1;
        },
      },
      hidden,
      { [Symbol("left out")]: 1, ...plain },
    ],
    views: [
      Float16Array.of(1.5),
      new Uint8Array(new ArrayBuffer(4), 1, 2).slice(),
      Uint8ClampedArray.of(300),
    ],
    fakes,
  };
  for (const [name, each] of Object.entries(values)) {
    for (const [index, value] of each.entries()) {
      const ours = outcome((given) => tagged.deserialize(tagged.serialize(given)), value);
      assertEquals(ours, outcome(structuredClone, value), `${name} ${index}`);
    }
  }
  const named = Object.assign(new OwnError("own", { cause: plain }), { name: "OwnError" });
  const [ours, theirs] = [tagged.deserialize(tagged.serialize(named)), structuredClone(named)] as Error[];
  const parts = (error: Error | undefined) => [error?.constructor, error?.name, error?.message, error?.cause];
  assertEquals(parts(ours), parts(theirs));
  for (const value of [new SharedArrayBuffer(1), new Blob(["a"]), new DOMException("a")]) {
    assertThrows(() => tagged.serialize(value), TypeError, "can't be cloned"); // which no store keeps
  }
  assert(browser.isProxy(new Proxy(plain, {})));
  assertFalse(browser.isProxy(plain));
});

Deno.test("What is newer in the language is the same where it is not there yet", () => {
  const Old = { prototype: {} } as unknown as typeof Uint8Array;
  addNewerLanguage(Old);
  const { toHex, toBase64 } = Old.prototype;
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  for (let length = 0; length < 9; length++) {
    const bytes = all.subarray(247, 247 + length);
    assertEquals(toHex.call(bytes), bytes.toHex());
    assertEquals(Old.fromHex(bytes.toHex()), bytes.slice());
    for (const alphabet of ["base64", "base64url"] as const) {
      for (const omitPadding of [true, false]) {
        const text = bytes.toBase64({ alphabet, omitPadding });
        assertEquals(toBase64.call(bytes, { alphabet, omitPadding }), text);
        assertEquals(Old.fromBase64(text, { alphabet }), bytes.slice());
      }
    }
  }
  for (
    const text of ["a", "ab", "abc", "ab==", "aa==", "abc=", "ab=", "a b c d", "ab-_", "é", "ab==ab", "===="]
  ) {
    for (const lastChunkHandling of ["loose", "strict"] as const) {
      const read = (from: typeof Uint8Array) => {
        try {
          return [...from.fromBase64(text, { lastChunkHandling })];
        } catch (error) {
          return (error as Error).name;
        }
      };
      assertEquals(read(Old), read(Uint8Array), `${text} ${lastChunkHandling}`);
    }
  }
});

Deno.test("A scope of browsers holds until the first await, and in the methods of what inScope() has made", async () => {
  const scope = new browser.AsyncLocalStorage<string>();
  class Thing {
    #secret = "secret";
    inner = { where: () => scope.getStore() };
    where() {
      return [this.#secret, scope.getStore()];
    }
    again() {
      return Promise.resolve(new Thing());
    }
    same(other: Thing) {
      return other.#secret;
    }
  }
  const thing = new Thing();
  await scope.run("one", async () => {
    const scoped = browser.inScope(thing);
    await Promise.resolve();
    assertEquals(scope.getStore(), undefined);
    assertEquals(scoped.where(), ["secret", "one"]);
    assertEquals(scoped.inner.where(), "one");
    assertEquals((await scoped.again()).where(), ["secret", "one"]);
    assertEquals(scoped.same(scoped), "secret");
    assertInstanceOf(scoped, Thing);
    assertEquals(scope.run("two", () => scoped.where()), ["secret", "two"]);
  });
  for (const { inScope } of [browser, deno, node]) assertEquals(inScope(thing), thing);
});

Deno.test("The assertions of suites in browsers hold and fail as those of Node", async () => {
  const one = { a: [new Map([["k", Uint8Array.of(1)]]), new Set(["a", "b"]), new Date(1), /x/g, NaN] };
  const same = { a: [new Map([["k", Uint8Array.of(1)]]), new Set(["b", "a"]), new Date(1), /x/g, NaN] };
  assert(suites.isDeepStrictEqual(one, same));
  suites.deepStrictEqual(one, same);
  for (
    const [left, right] of [[[1], ["1"]], [{ a: undefined }, {}], [0, -0], [new Set([1]), new Set([2])], [
      [],
      {},
    ]]
  ) {
    assertThrows(() => suites.deepStrictEqual(left, right), Error, "is not");
  }
  suites.ok(1);
  suites.strictEqual(NaN, NaN);
  suites.notStrictEqual(0, -0);
  assertThrows(() => suites.ok(0));
  assertThrows(() => suites.strictEqual(1, 2));
  assertThrows(() => suites.notStrictEqual(1, 1));
  assertThrows(() => suites.fail("why"), Error, "why");
  await suites.rejects(() => Promise.reject(new TypeError("no")), TypeError);
  await suites.rejects(Promise.reject(new TypeError("no")), /no/);
  await assertRejects(() => suites.rejects(Promise.resolve()), Error, "did not reject");
  await assertRejects(() => suites.rejects(Promise.reject(new TypeError("no")), RangeError));
});
