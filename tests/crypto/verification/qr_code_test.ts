import { assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import {
  decodeQrCode,
  encodeQrCode,
  type QrCode,
} from "../../../src/crypto/verification/qr_reciprocation.ts";
import { encodeBase64 } from "../../../src/types/base64.ts";

const key = (byte: number, length = 32) => encodeBase64(new Uint8Array(length).fill(byte));
const CODE: QrCode = {
  mode: "trusting",
  flowId: "$flow:é",
  ownKey: key(1),
  theirKey: key(2),
  secret: key(3, 16),
};

Deno.test("A code has the bytes of the specification", () => {
  const id = new TextEncoder().encode(CODE.flowId);
  const expected = [
    ...new TextEncoder().encode("MATRIX"),
    2,
    1,
    0,
    id.length,
    ...id,
    ...new Uint8Array(32).fill(1),
    ...new Uint8Array(32).fill(2),
    ...new Uint8Array(16).fill(3),
  ];
  assertEquals([...encodeQrCode(CODE)], expected);
});

Deno.test("What is written can be read, in each mode", () => {
  for (const [index, mode] of (["other-user", "trusting", "untrusting"] as const).entries()) {
    const bytes = encodeQrCode({ ...CODE, mode, flowId: "x".repeat(300) });
    assertEquals([bytes[7], bytes[8], bytes[9]], [index, 1, 300 - 256]);
    assertEquals(decodeQrCode(bytes), { ...CODE, mode, flowId: "x".repeat(300) });
  }
  assertEquals(decodeQrCode(encodeQrCode({ ...CODE, secret: key(3, 8) })).secret, key(3, 8));
  assertEquals(decodeQrCode(encodeQrCode({ ...CODE, flowId: "\ufeffflow" })).flowId, "\ufeffflow");
});

Deno.test("What is no such code is refused with what to do", () => {
  const good = encodeQrCode(CODE);
  const changed = (at: number, byte: number) =>
    Uint8Array.from(good, (each, index) => index === at ? byte : each);
  const bad: readonly [Uint8Array, string][] = [
    [new Uint8Array(), "it is no code of a verification"],
    [new TextEncoder().encode("https://example.org"), "it is no code of a verification"],
    [new Uint8Array(3_000).fill(7), "it is no code of a verification"],
    [changed(0, 7), "it is no code of a verification"],
    [changed(6, 1), "another version"],
    [changed(7, 3), "another purpose"],
    [changed(8, 255), "it is cut off"],
    [good.slice(0, -9), "it is cut off"],
    [changed(10, 255), "its text is damaged"],
  ];
  for (const [bytes, why] of bad) assertThrows(() => decodeQrCode(bytes), ValueError, why);
});

Deno.test("A code is as long as a picture can be, and no longer", () => {
  const most = encodeQrCode({ ...CODE, flowId: "x", secret: key(3, 2_953 - 75) });
  assertEquals(decodeQrCode(most).secret, key(3, 2_953 - 75));
  assertThrows(() => decodeQrCode(Uint8Array.of(...most, 3)), ValueError, "it is no code of a verification");
  for (let length = 0; length < 83; length++) {
    assertThrows(() => decodeQrCode(most.slice(0, length)), ValueError);
  }
});
