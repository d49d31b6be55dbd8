import { assert, assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { ActorError, ActorProtocolError, ActorStoppedError } from "../../../src/actors/kernel/actor_error.ts";
import { RemoteError } from "../../../src/actors/kernel/remote_error.ts";
import { errorCodec, parseWireError, type WireError } from "../../../src/actors/kernel/wire_error.ts";
import { MatrixError } from "../../../src/errors/matrix_error.ts";
import { ValueError } from "../../../src/errors/value_error.ts";

const codec = errorCodec();

/** Through the port and back. */
function cross(error: unknown, { encode, decode } = codec): Error {
  return decode(parseWireError(structuredClone(encode(error))));
}

class QuotaError extends MatrixError {
  override readonly code = "QUOTA";
  readonly limit: number;
  constructor(limit: number) {
    super("Cannot store the event: the quota is used up");
    this.limit = limit;
  }
}

Deno.test("an error of an unknown class becomes a RemoteError with its name, code, message, data and stack", () => {
  const sent = new QuotaError(3);
  const error = cross(sent);
  assertInstanceOf(error, RemoteError);
  assertInstanceOf(error, MatrixError);
  assertEquals([error.name, error.code, error.message], [
    "QuotaError",
    "QUOTA",
    "Cannot store the event: the quota is used up",
  ]);
  assertEquals(error.data, { limit: 3 });
  assertEquals(error.stack, sent.stack);
});

Deno.test("an error without a code gets one that says that it is remote", () => {
  const error = cross(new Error("plain"));
  assertInstanceOf(error, RemoteError);
  assertEquals([error.name, error.code, error.message], ["Error", "REMOTE_ERROR", "plain"]);
});

Deno.test("a reviver rebuilds its class, also as a cause", () => {
  const reviving = errorCodec({ QuotaError: ({ data }) => new QuotaError(Number(data?.limit)) });
  const error = cross(new Error("outer", { cause: new QuotaError(7) }), reviving);
  assertInstanceOf(error.cause, QuotaError);
  assertEquals(error.cause.limit, 7);
});

Deno.test("a reviver that gives up or throws leaves a RemoteError", () => {
  const reviving = errorCodec({
    QuotaError: () => undefined,
    ValueError: () => {
      throw new Error("can't");
    },
  });
  for (const error of [new QuotaError(1), new ValueError("empty")]) {
    assertInstanceOf(cross(error, reviving), RemoteError);
  }
});

Deno.test("the errors of the kernel and of the language come back as what they were", () => {
  const failed = cross(new ActorError("store", { kind: "commit", cause: new RangeError("too far") }));
  assertInstanceOf(failed, ActorError);
  assertEquals([failed.actor, failed.kind], ["store", "commit"]);
  assertEquals(
    failed.message,
    'Cannot handle "commit" in actor "store": too far; the actor has ended, start a new one',
  );
  assertInstanceOf(failed.cause, RangeError);
  const stopped = cross(new ActorStoppedError("store"));
  assertInstanceOf(stopped, ActorStoppedError);
  assertEquals([stopped.actor, stopped.kind, "cause" in stopped], ["store", undefined, false]);
  assertInstanceOf(cross(new ActorProtocolError("no such message")), ActorProtocolError);
  assertInstanceOf(cross(new TypeError("wrong")), TypeError);
  const aborted = cross(new DOMException("enough", "AbortError"));
  assertInstanceOf(aborted, DOMException);
  assertEquals([aborted.name, aborted.message], ["AbortError", "enough"]);
});

Deno.test("only plain data crosses: no functions, no class instances, no bytes, no cycles", () => {
  const cycle: Record<string, unknown> = { deep: { list: [1, "two", null] } };
  cycle.self = cycle;
  const extra = {
    cycle,
    run: () => {},
    key: new Uint8Array(32),
    date: new Date(),
    symbol: Symbol(),
    big: 1n,
  };
  const error = cross(Object.assign(new Error("mixed"), extra));
  assertInstanceOf(error, RemoteError);
  assertEquals(error.data, { cycle: { deep: { list: [1, "two", null] } }, big: 1n });
});

Deno.test("what is thrown and is no error gets an error", () => {
  assertEquals(cross("just text").message, "just text");
  assertEquals(cross({ token: "secret" }).message, "a value of type object was thrown");
  assertEquals(cross(undefined).message, "a value of type undefined was thrown");
});

Deno.test("an error that can't be read still crosses", () => {
  const hostile = new Error("hostile");
  Object.defineProperty(hostile, "data", {
    enumerable: true,
    get() {
      throw new Error("hands off");
    },
  });
  assertEquals(cross(hostile).message, "an error was thrown whose properties can't be read");
});

Deno.test("a chain of causes is followed, and an endless one ends", () => {
  const inner = new Error("inner");
  const outer = new Error("outer", { cause: new Error("middle", { cause: inner }) });
  const chain = cross(outer);
  assertInstanceOf(chain.cause, Error);
  assertInstanceOf(chain.cause.cause, Error);
  assertEquals(chain.cause.cause.message, "inner");
  inner.cause = outer;
  let length = 0;
  for (let error: unknown = cross(outer); error instanceof Error; error = error.cause) length++;
  assert(length > 3 && length < 20);
});

Deno.test("data from outside can't touch a prototype", () => {
  const wire = JSON.parse('{"name":"__proto__","message":"m","data":{"__proto__":{"polluted":true}}}');
  const error = codec.decode(parseWireError(wire));
  assertInstanceOf(error, RemoteError);
  const sent = cross(Object.assign(new Error("m"), { body: JSON.parse('{"__proto__":{"polluted":true}}') }));
  assertInstanceOf(sent, RemoteError);
  assertEquals(JSON.stringify(sent.data.body), '{"__proto__":{"polluted":true}}');
  assertStrictEquals(Reflect.get({}, "polluted"), undefined);
  assertStrictEquals(Reflect.get(error, "polluted"), undefined);
});

Deno.test("parseWireError() makes an error of anything, and decode() of that", () => {
  fc.assert(fc.property(fc.anything({ withNullPrototype: true }), (value) => {
    const wire: WireError = parseWireError(value);
    assertInstanceOf(codec.decode(wire), Error);
  }));
  fc.assert(
    fc.property(fc.anything(), fc.constantFrom("ActorError", "AbortError", "TypeError"), (data, name) => {
      assertInstanceOf(codec.decode(parseWireError({ name, data, message: data, cause: data })), Error);
    }),
  );
});

Deno.test("encode() makes something that can be cloned of anything that is thrown", () => {
  fc.assert(fc.property(fc.anything(), (value) => {
    structuredClone(codec.encode(value));
    structuredClone(codec.encode(Object.assign(new Error("with data"), { value })));
  }));
});
