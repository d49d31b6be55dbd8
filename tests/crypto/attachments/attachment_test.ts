import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  decryptAttachment,
  decryptAttachmentStream,
  encryptAttachment,
} from "../../../src/crypto/attachments/attachments.ts";
import { BLOCK_SIZE } from "../../../src/crypto/ciphers/ciphers.ts";
import { AttachmentError, EncryptionError, ValueError } from "@greenroom/matrix/errors";
import type { EncryptedFileSecrets } from "../../../src/types/content/file_info.ts";
import { bytesOf, inParts, pattern, seal } from "../../support/attachments.ts";
import { streamOf, text } from "../../support/media.ts";

/** What decrypts a file, made of its parts. */
function secretsOf(k: string, iv: string, sha256: string): EncryptedFileSecrets {
  const key_ops = ["encrypt", "decrypt"];
  return { v: "v2", key: { kty: "oct", alg: "A256CTR", ext: true, key_ops, k }, iv, hashes: { sha256 } };
}

const COUNTING = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const GHOST = "Enter a ghost, who crosses from left to right.";

/**
 * Computed with a plain AES, block by block, each counter block written out;
 * but for the last, which is NIST's.
 */
const VECTORS: readonly [
  name: string,
  secrets: EncryptedFileSecrets,
  encrypted: string,
  plain: Uint8Array,
][] = [
  [
    "a counter that begins at zero",
    secretsOf(COUNTING, "oaKjpKWmp6gAAAAAAAAAAA", "P7aHTlWphkUcqoK16R61+DClU8hxD5VCEcMvgM2J50g"),
    "7T3TJYebEpS9wmwOGT1weD3cA1ozhwaI49/ayZ+lnCAXAbrP9JFgOY2ymFG6iQ",
    text(GHOST),
  ],
  [
    "a counter that wraps around after one block, with all bits set before it",
    secretsOf(COUNTING, "/////////////////////w", "NGlUxuJptp/6CkDPWUfVrXLoRd1lA5saFQsw++VGpXg"),
    "rPeQeD6HEfo0734IKaN3mfkKrRSZxpw9Tz52f7Su65e8KZWpj5w2lNPwd8wvkw",
    text(GHOST),
  ],
  [
    "a counter that wraps around after two blocks",
    secretsOf(COUNTING, "AAECAwQFBgf//////////g", "S6BltrhZ4i/RFzBbNCdIo5nyYsTk2AS4ukdqEPen+Fg"),
    "Vnlw8GEe5bqI2JJ9AK3SC0ofoBlmR3llOQxJSIDEP7J5whE8zBBVOlhcdQkybQ",
    text(GHOST),
  ],
  [
    "the example of NIST SP 800-38A, F.5.5",
    secretsOf(
      "YD3rEBXKcb4rc67whX13gR81LAc7YQjXLZgQowkU3_Q",
      "8PHy8/T19vf4+fr7/P3+/w",
      "ZjExoH6exWoMfQZrvET9Tu+kuul87rJwH1PSFT6C/6U",
    ),
    Uint8Array.fromHex(
      "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5" +
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ).toBase64(),
    Uint8Array.fromHex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
    ),
  ],
];

for (const [name, secrets, encrypted, plain] of VECTORS) {
  Deno.test(`A known file is decrypted: ${name}`, async () => {
    const data = Uint8Array.fromBase64(encrypted);
    assertEquals(await bytesOf(decryptAttachmentStream(inParts(data, [1, 20]), secrets)), plain);
    await decryptAttachment(data, secrets);
    assertEquals(data, plain);
  });
}

Deno.test("The counter wraps around in the middle of a file of several blocks as it does within one", async () => {
  const hash = "0XIE17DpsnK+5zpwfh336vfvCssbGsPd2JEXNr5sxQ4";
  const secrets = secretsOf(COUNTING, "ESIzRFVmd4j///////+x4A", hash);
  const plain = pattern(2 ** 20 + 5);
  // Encrypting is decrypting, so what is made of the plain bytes must have the known hash.
  const own = secretsOf(COUNTING, secrets.iv, await sha256(plain));
  const encrypted = await bytesOf(decryptAttachmentStream(ReadableStream.from([plain]), own));
  assertEquals(await sha256(encrypted), hash);
  await decryptAttachment(encrypted, secrets);
  assertEquals(await sha256(encrypted), await sha256(plain));
});

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toBase64({ omitPadding: true });
}

Deno.test("A stream is encrypted like WebCrypto does it in one call, and described as the specification says", async () => {
  const plain = pattern(2 * BLOCK_SIZE + 33);
  const { bytes, secrets } = await seal(plain);
  const { k, ...rest } = secrets.key;
  assertEquals(rest, { kty: "oct", alg: "A256CTR", ext: true, key_ops: ["encrypt", "decrypt"] });
  assertEquals(Object.keys(secrets).sort(), ["hashes", "iv", "key", "v"]);
  assertEquals([secrets.v, secrets.hashes], ["v2", { sha256: await sha256(bytes) }]);
  assert(/^[\w-]{43}$/.test(k) && /^[A-Za-z0-9+/]{22}$/.test(secrets.iv));
  const counter = Uint8Array.fromBase64(secrets.iv);
  assertEquals(counter.slice(8), new Uint8Array(8));
  const { ext, key_ops } = secrets.key;
  const key = await crypto.subtle.importKey("jwk", secrets.key, "AES-CTR", ext, key_ops as KeyUsage[]);
  const algorithm = { name: "AES-CTR", counter, length: 64 };
  assertEquals(bytes, new Uint8Array(await crypto.subtle.encrypt(algorithm, key, plain)));
});

Deno.test("Each file has a key and a counter of its own", async () => {
  const [a, b] = [await seal(text("same")), await seal(text("same"))];
  assertNotEquals(a.secrets.key.k, b.secrets.key.k);
  assertNotEquals(a.secrets.iv, b.secrets.iv);
});

Deno.test("A file comes back whole, however its parts were cut and wherever it was held", async () => {
  const size = fc.oneof(
    fc.nat(70),
    fc.nat(2 * BLOCK_SIZE + 100),
    fc.constantFrom(BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1, 2 * BLOCK_SIZE),
  );
  const cuts = fc.array(fc.oneof(fc.nat(40), fc.nat(BLOCK_SIZE), fc.constant(BLOCK_SIZE)), { maxLength: 6 });
  const maxMemory = fc.constantFrom(0, 20, BLOCK_SIZE, undefined);
  await fc.assert(
    fc.asyncProperty(size, cuts, cuts, maxMemory, async (size, before, after, maxMemory) => {
      const plain = pattern(size);
      const { bytes, secrets } = await seal(inParts(plain, before));
      assertEquals(bytes.length, size);
      const stream = decryptAttachmentStream(inParts(bytes, after), secrets, { maxMemory });
      assert(equal(await bytesOf(stream), plain));
      await decryptAttachment(bytes, secrets);
      assert(equal(bytes, plain));
    }),
    { numRuns: 40 },
  );
});

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

Deno.test("Parts that their giver uses again are encrypted as they were", async () => {
  const part = new Uint8Array(3);
  let given = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (given === 4) return controller.close();
      part.fill(++given);
      controller.enqueue(part);
    },
  }, { highWaterMark: 0 });
  const { bytes, secrets } = await seal(source);
  await decryptAttachment(bytes, secrets);
  assertEquals(bytes, new Uint8Array([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]));
});

Deno.test("The key of a file is not available before the file was encrypted to its end", async () => {
  const { stream, secrets } = encryptAttachment(pattern(2 * BLOCK_SIZE));
  assertThrows(secrets, EncryptionError, "read its stream");
  const reader = stream.getReader();
  for (const size of [BLOCK_SIZE, BLOCK_SIZE]) {
    assertEquals((await reader.read()).value?.length, size);
    assertThrows(secrets, EncryptionError);
  }
  assert((await reader.read()).done);
  assertEquals(secrets().v, "v2");
});

Deno.test("Encrypting reads no faster than it is read, releases its source, and fails as that does", async () => {
  let pulls = 0;
  let reason: unknown;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(BLOCK_SIZE).fill(++pulls)),
    cancel: (given) => void (reason = given),
  }, { highWaterMark: 0 });
  const { stream } = encryptAttachment(endless);
  assertEquals(pulls, 0);
  const reader = stream.getReader();
  await reader.read();
  assertEquals(pulls, 1);
  await reader.cancel("enough");
  assertEquals(reason, "enough");
  const broken = encryptAttachment(streamOf(text("a"), new RangeError("on fire")).stream);
  await assertRejects(() => bytesOf(broken.stream), RangeError, "on fire");
  assertThrows(broken.secrets, EncryptionError);
  const { stream: words, state } = streamOf("no bytes");
  await assertRejects(() => bytesOf(encryptAttachment(words).stream), ValueError, "Uint8Array");
  assert(state.cancelled);
});

Deno.test("A file that was changed in any byte, cut or lengthened gives an AttachmentError, and no byte", async () => {
  const { bytes, secrets } = await seal(pattern(BLOCK_SIZE + 40));
  const flipped = (index: number) => bytes.with(index, (bytes[index] ?? 0) ^ 1);
  const changed: Uint8Array<ArrayBuffer>[] = [
    flipped(0),
    flipped(15),
    flipped(16),
    flipped(BLOCK_SIZE - 1),
    flipped(BLOCK_SIZE),
    flipped(BLOCK_SIZE + 39),
    bytes.slice(0, -1),
    bytes.slice(1),
    bytes.slice(0, BLOCK_SIZE),
    new Uint8Array(),
    new Uint8Array([...bytes, 0]),
    new Uint8Array([...bytes.slice(BLOCK_SIZE), ...bytes.slice(0, BLOCK_SIZE)]),
  ];
  for (const data of changed) {
    for (const maxMemory of [0, undefined]) {
      const reader = decryptAttachmentStream(inParts(data, [7]), secrets, { maxMemory }).getReader();
      const error = await assertRejects(() => reader.read(), AttachmentError, "not what was sent");
      assertEquals([error.code, error.problem], ["ATTACHMENT_ERROR", "hash"]);
    }
    const copy = data.slice();
    await assertRejects(() => decryptAttachment(copy, secrets), AttachmentError);
    assertEquals(copy, data); // as it was: nothing was decrypted
  }
});

Deno.test("A stream that is longer than allowed fails as soon as it is, and is let go", async () => {
  const { bytes, secrets } = await seal(pattern(1000));
  assertEquals(
    (await bytesOf(decryptAttachmentStream(inParts(bytes, []), secrets, { maxSize: 1000 }))).length,
    1000,
  );
  let pulls = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(BLOCK_SIZE).fill(++pulls)),
    cancel: () => void (cancelled = true),
  }, { highWaterMark: 0 });
  const stream = decryptAttachmentStream(endless, secrets, {
    maxSize: 3 * BLOCK_SIZE,
    maxMemory: BLOCK_SIZE,
  });
  const error = await assertRejects(() => bytesOf(stream), AttachmentError, `${3 * BLOCK_SIZE} bytes`);
  assertEquals([error.problem, cancelled, pulls], ["size", true, 4]);
});

Deno.test("Nothing is read before the stream is, and a failure of the source is the stream's", async () => {
  const { secrets } = await seal(text("x"));
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulls === 2) throw new RangeError("on fire");
      controller.enqueue(text("x"));
    },
  }, { highWaterMark: 0 });
  const stream = decryptAttachmentStream(source, secrets, { maxMemory: 0 });
  await Promise.resolve();
  assertEquals(pulls, 0);
  await assertRejects(() => bytesOf(stream), RangeError, "on fire");
});

Deno.test("A stream that yields something other than bytes is refused and cancelled", async () => {
  const { secrets } = await seal(text("x"));
  const { stream, state } = streamOf(text("x"), "text");
  await assertRejects(() => bytesOf(decryptAttachmentStream(stream, secrets)), ValueError);
  assert(state.cancelled);
});
