import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { cryptoErrorCodec } from "../../../src/actors/crypto/crypto_error_codec.ts";
import { RemoteError } from "../../../src/actors/kernel/remote_error.ts";
import { parseWireError } from "../../../src/actors/kernel/wire_error.ts";
import { DamagedAccountError } from "../../../src/crypto/account/own_account.ts";
import { MessageAtFault } from "../../../src/crypto/engine/sync_intake.ts";
import {
  AttachmentError,
  DecryptionError,
  DeviceConflictError,
  EncryptionError,
} from "../../../src/errors/crypto_error.ts";
import {
  EventTooLargeError,
  IdentityChangedError,
  UnsupportedAlgorithmError,
} from "../../../src/errors/encryption_errors.ts";
import { ValueError } from "../../../src/errors/value_error.ts";

const codec = cryptoErrorCodec();

/** Through the port and back. */
function cross(error: unknown): Error {
  return codec.decode(parseWireError(structuredClone(codec.encode(error))));
}

Deno.test("errors of encryption come through a port as what they were, with what led to them", () => {
  const cause = new EncryptionError("inner");
  const errors = [
    new EncryptionError("e", { cause }),
    new DeviceConflictError("d", { cause }),
    new UnsupportedAlgorithmError("u", { cause }),
    new EventTooLargeError("t", { cause }),
    new IdentityChangedError("i", { cause, users: ["@alice:example.org"] }),
    new DecryptionError("c", { cause }),
    new AttachmentError("a", { cause, problem: "hash" }),
    new ValueError("v", { cause }),
  ];
  for (const error of errors) {
    const crossed = cross(error);
    assertStrictEquals(crossed.constructor, error.constructor);
    assertEquals(
      [crossed.name, crossed.message, Reflect.get(crossed, "code"), crossed.stack],
      [error.name, error.message, error.code, error.stack],
    );
    assertEquals<object>({ ...crossed }, { ...error });
    assertInstanceOf(crossed.cause, EncryptionError);
  }
  assert(!("cause" in cross(new EncryptionError("alone"))));
});

Deno.test("an error that only the engine knows comes through as the class that it belongs to", () => {
  const crossed = cross(new MessageAtFault(3, new TypeError("x")));
  assertStrictEquals(crossed.constructor, EncryptionError);
  assertInstanceOf(crossed.cause, TypeError);
  assertStrictEquals(cross(new DamagedAccountError("damaged")).constructor, EncryptionError);
});

Deno.test("errors of vodozemac come through with their code, and with the places of what can't be decrypted", () => {
  const codes: VodozemacErrorCode[] = ["missing_message_key", "instance_dead", "bad_base64", "unknown_index"];
  for (const code of codes) {
    const details = code === "unknown_index" ? { firstKnownIndex: 3, messageIndex: 1 } : {};
    const error = new VodozemacError(code, "decrypt Olm message: the second", details);
    const crossed = cross(error);
    assertInstanceOf(crossed, VodozemacError);
    assertEquals([crossed.code, crossed.message], [code, error.message]);
    assertEquals([crossed.firstKnownIndex, crossed.messageIndex], [
      error.firstKnownIndex,
      error.messageIndex,
    ]);
  }
  const dead = cross(new VodozemacError("instance_dead", "sign", { cause: new RangeError("trap") }));
  assertInstanceOf(dead.cause, RangeError);
});

Deno.test("an error of vodozemac has no cause that it did not have, and no place that is no number", () => {
  const { message } = new VodozemacError("unknown_index", "decrypt Megolm message");
  const data = { firstKnownIndex: "3", messageIndex: null };
  const crossed = codec.decode(
    parseWireError({ name: "VodozemacError", message, code: "unknown_index", data }),
  );
  assertInstanceOf(crossed, VodozemacError);
  assertEquals(["cause" in crossed, crossed.firstKnownIndex, crossed.messageIndex], [
    false,
    undefined,
    undefined,
  ]);
});

Deno.test("what only looks like such an error is none", () => {
  const wires = [
    { name: "IdentityChangedError", message: "m", data: { users: [1] } },
    { name: "IdentityChangedError", message: "m" },
    { name: "AttachmentError", message: "m", data: { problem: "constructor" } },
    { name: "VodozemacError", message: "m" },
    { name: "VodozemacError", message: "Cannot sign: undefined" },
    { name: "VodozemacError", message: "Cannot sign: nonsense", code: "bad_key" },
    { name: "VodozemacError", message: "Cannot sign: nonsense", code: "constructor" },
    { name: "VodozemacError", message: "", code: "bad_key" },
  ];
  for (const wire of wires) assert(codec.decode(parseWireError(wire)) instanceof RemoteError, wire.name);
});

Deno.test("an error about users that names none is no such error", () => {
  for (const users of ["@alice:example.org", [7], ["alice"], undefined]) {
    const data = { users: users as never };
    const crossed = codec.decode(parseWireError({ name: "IdentityChangedError", message: "m", data }));
    assertStrictEquals(crossed.constructor, RemoteError);
  }
});
