import { assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  decodeRecoveryKey as theirDecode,
  encodeRecoveryKey as theirEncode,
} from "matrix-js-sdk/lib/crypto-api/recovery-key.js";
import { decodeRecoveryKey, encodeRecoveryKey } from "../../../src/crypto/secrets/recovery_key.ts";
import { SecretStorageError } from "@greenroom/matrix/errors";

/** A key and its text, as the tests of matrix-rust-sdk (Apache-2.0) have them. */
const KEY = Uint8Array.from([
  ...[159, 189, 70, 187, 52, 81, 113, 198, 246, 2, 44, 154, 37, 213, 104, 27],
  ...[165, 78, 236, 106, 108, 73, 83, 243, 173, 192, 185, 110, 157, 145, 173, 163],
]);
const TEXT = "EsTpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRK";

/** Why a text is no recovery key. */
function refusal(text: string): string {
  const error = assertThrows(() => decodeRecoveryKey(text), SecretStorageError);
  assertEquals(error.problem, "mistyped");
  return /: (.*);/.exec(error.message)?.[1] ?? "";
}

Deno.test("encodeRecoveryKey() writes groups of four characters, as matrix-rust-sdk does", () => {
  assertEquals(encodeRecoveryKey(KEY), TEXT.replaceAll(/(.{4})(?=.)/g, "$1 "));
});

Deno.test("decodeRecoveryKey() reads a key, whatever white space there is", () => {
  for (const text of [TEXT, encodeRecoveryKey(KEY), `\n ${TEXT.slice(0, 7)}\t  ${TEXT.slice(7)}\u00a0`]) {
    assertEquals(decodeRecoveryKey(text), KEY);
  }
});

Deno.test("Recovery keys are those of matrix-js-sdk, in both directions", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
    assertEquals(encodeRecoveryKey(key), theirEncode(key));
    assertEquals(decodeRecoveryKey(theirEncode(key) ?? ""), key);
    assertEquals(new Uint8Array(theirDecode(encodeRecoveryKey(key))), key);
  }));
});

Deno.test("decodeRecoveryKey() finds a wrong character, at every place but for one key in 256", () => {
  for (let place = 0; place < TEXT.length; place++) {
    const other = TEXT[place] === "z" ? "y" : "z";
    const text = TEXT.slice(0, place) + other + TEXT.slice(place + 1);
    assertThrows(() => decodeRecoveryKey(text), SecretStorageError, "recovery key");
  }
});

Deno.test("decodeRecoveryKey() says what is wrong with a text", () => {
  assertEquals(refusal(""), "it is empty");
  assertEquals(
    refusal(TEXT.replace("p", "0")),
    "it has a character that no recovery key has, such as 0, O, I or l",
  );
  assertEquals(refusal(TEXT.slice(1)), "it has 47 characters in place of 48");
  assertEquals(refusal("z".repeat(1_000_000)), "it has 1000000 characters in place of 48");
  assertEquals(refusal(TEXT.replace("vLRK", "vLRJ")), "a character is another one than it should be");
  const bytes = Uint8Array.of(0x8b, 0x02, ...KEY, 0);
  bytes[34] = bytes.reduce((parity, byte) => parity ^ byte, 0);
  assertEquals(refusal(theirEncodeRaw(bytes)), "it begins like another kind of key");
  for (const other of ["z", "1"]) assertMatch(refusal(other.repeat(48)), /another one|another kind/);
  assertEquals(refusal(undefined as never), "it is no text");
});

Deno.test("No error about a recovery key repeats it", () => {
  for (let place = 0; place < TEXT.length; place++) {
    const error = assertThrows(() => decodeRecoveryKey(TEXT.slice(0, place) + "0" + TEXT.slice(place)));
    assertFalse(/EsTp|vLRK|Nr2r/.test(Deno.inspect(error)));
  }
});

/** Base58 of any bytes. */
function theirEncodeRaw(bytes: Uint8Array): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let number = BigInt(`0x${bytes.toHex()}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  return text;
}
