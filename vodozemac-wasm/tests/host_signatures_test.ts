import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { decodeBase64 } from "../src/binary.ts";
import { Engine } from "../src/engine.ts";
import { VodozemacError } from "../src/error.ts";
import { HostSignatures } from "../src/host_signatures.ts";
import { loadHostSignatures } from "./support/load_host_signatures.ts";
import { wasmModule } from "../src/wasm_module.ts";
import { assertCode } from "./support/assert_code.ts";
import { MegolmSender } from "./support/megolm_sender.ts";
import { text } from "./support/pair.ts";
import {
  add,
  BASE,
  encode,
  fromBytes,
  L,
  multiply,
  type Point,
  toBytes,
  TORSION,
} from "./support/edwards25519.ts";

loadHostSignatures();
const engine = await Engine.instantiate(await wasmModule());

/** vodozemac's own verdict. */
function strict(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    engine.call("ed25519_verify", 0, [key, signature, message]);
    return true;
  } catch (error) {
    if (error instanceof VodozemacError && ["bad_signature", "bad_key"].includes(error.code)) return false;
    throw error;
  }
}

function host(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return new HostSignatures(key).certainlyGood(message, signature);
}

async function sha512(...parts: Uint8Array[]): Promise<bigint> {
  const bytes = await new Blob(parts as BlobPart[]).bytes();
  return fromBytes(new Uint8Array(await crypto.subtle.digest("SHA-512", bytes))) % L;
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/**
 * The vectors of "Taming the many EdDSAs" (ed25519-speccheck): message, key, signature,
 * verify_strict's verdict.
 */
const SPECCHECK: readonly (readonly [string, string, string, boolean])[] = JSON.parse(
  await Deno.readTextFile(new URL("./vectors/ed25519_speccheck.json", import.meta.url)),
);

Deno.test("the host and vodozemac agree about the vectors of ed25519-speccheck", () => {
  assertEquals(SPECCHECK.length, 12);
  for (const [message, key, signature, good] of SPECCHECK) {
    const input = [
      Uint8Array.fromHex(key),
      Uint8Array.fromHex(message),
      Uint8Array.fromHex(signature),
    ] as const;
    assertEquals(strict(...input), good);
    assertEquals(host(...input), good);
  }
});

Deno.test("the host vouches for good signatures, so the fast way is the one taken", async () => {
  const { keys } = await Vodozemac.load();
  using key = keys.createEd25519();
  const publicKey = Uint8Array.fromBase64(key.publicKey + "=");
  const message = new TextEncoder().encode("message");
  const signature = Uint8Array.fromBase64(key.sign(message) + "==");
  assert(host(publicKey, message, signature));
  assert(keys.verify(publicKey, "gr\u00fc\u00df", key.sign("gr\u00fc\u00df")));
});

Deno.test("the host never vouches for what vodozemac refuses, for keys and nonces of mixed order", async () => {
  const verdicts = { accepted: 0, refused: 0 };
  for (const [keyTorsion, keyPart] of TORSION.entries()) {
    for (const [nonceTorsion, noncePart] of TORSION.entries()) {
      for (let attempt = 0; attempt < 4; attempt++) {
        const message = Uint8Array.of(keyTorsion, nonceTorsion, attempt);
        const [secret, nonce] = [await sha512(message), await sha512(message, message)];
        const key = encode(add(multiply(BASE, secret), keyPart));
        const point = encode(add(multiply(BASE, nonce), noncePart));
        const challenge = await sha512(point, key, message);
        const signature = join(point, toBytes((nonce + challenge * secret) % L));
        const verdict = strict(key, message, signature);
        // Without the cofactor the parts of small order must cancel out by themselves.
        assertEquals(verdict, (Number(challenge % 8n) * keyTorsion + nonceTorsion) % 8 === 0);
        assertEquals(host(key, message, signature), verdict);
        verdicts[verdict ? "accepted" : "refused"] += 1;
      }
    }
  }
  assert(verdicts.accepted > 10 && verdicts.refused > 100, JSON.stringify(verdicts));
});

Deno.test("the host vouches for no key and no nonce of small order, in whatever encoding", async () => {
  const p = 2n ** 255n - 19n;
  const encodings = TORSION.flatMap(([x, y]: Point) => {
    const sign = (x & 1n) << 255n;
    // With the other sign of x where x is 0, and with p added where that still fits.
    return [y | sign, y | (sign ^ 1n << 255n), ...y < 19n ? [y + p | sign, y + p | (sign ^ 1n << 255n)] : []];
  }).map(toBytes);
  const [secret, nonce] = [fromBytes(randomBytes()) % L, fromBytes(randomBytes()) % L];
  const good = { key: encode(multiply(BASE, secret)), point: encode(multiply(BASE, nonce)) };
  const message = randomBytes();
  for (const weak of encodings) {
    for (const [key, point] of [[weak, good.point], [good.key, weak], [weak, weak]] as const) {
      const challenge = await sha512(point, key, message);
      for (const scalar of [0n, nonce, challenge * secret % L, (nonce + challenge * secret) % L]) {
        const signature = join(point, toBytes(scalar));
        assert(!strict(key, message, signature));
        assert(!host(key, message, signature));
      }
    }
  }
});

Deno.test("the host vouches for no key of small order where the equation holds", async () => {
  const nonce = fromBytes(randomBytes()) % L;
  const point = encode(multiply(BASE, nonce));
  for (const weak of TORSION.map(encode)) {
    let message;
    do message = randomBytes(); while (await sha512(point, weak, message) % 8n !== 0n);
    const signature = join(point, toBytes(nonce));
    assert(!strict(weak, message, signature));
    assert(!host(weak, message, signature));
  }
});

Deno.test("the host vouches for no S of the group order or more", async () => {
  const [secret, nonce] = [fromBytes(randomBytes()) % L, fromBytes(randomBytes()) % L];
  const key = encode(multiply(BASE, secret));
  const point = encode(multiply(BASE, nonce));
  const message = randomBytes();
  const scalar = (nonce + await sha512(point, key, message) * secret) % L;
  assert(host(key, message, join(point, toBytes(scalar))));
  for (let multiple = 1n; scalar + multiple * L < 2n ** 256n; multiple++) {
    const signature = join(point, toBytes(scalar + multiple * L));
    assert(!strict(key, message, signature));
    assert(!host(key, message, signature));
  }
});

Deno.test("the host never vouches for what vodozemac refuses, for anything at all", () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const nearly = fc.tuple(bytes(32), bytes(40), fc.nat({ max: 103 }), fc.nat({ max: 255 }));
  const { keys } = new Vodozemac(engine);
  fc.assert(
    fc.property(nearly, ([seed, message, at, change]) => {
      using key = keys.importEd25519(seed);
      const publicKey = Uint8Array.fromBase64(key.publicKey + "=");
      const all = join(Uint8Array.fromBase64(key.sign(message) + "=="), message);
      all[at] = (all[at] ?? 0) ^ change;
      const input = [publicKey, all.subarray(64), all.subarray(0, 64)] as const;
      assertEquals(host(...input), strict(...input));
      assertEquals(keys.verify(...input), change === 0);
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(bytes(32), bytes(64), bytes(8), (key, signature, message) => {
      assert(!host(key, message, signature) || strict(key, message, signature));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("the host's verdict does not count for a message that vodozemac would have encoded otherwise", () => {
  const { keys, megolm } = new Vodozemac(engine);
  using key = keys.createEd25519();
  const sender = new MegolmSender(key);
  using session = megolm.importInbound(sender.exported());
  assertEquals(text(session.decrypt(sender.encrypt("as it should be")).plaintext), "as it should be");
  // An unknown field, and an index before the index: signed and authenticated over these very bytes
  // by the sender.
  for (const before of [[0x18, 7], [0x08, 1], [0x08, 0]]) {
    const message = sender.encrypt("differently", before);
    assert(host(decodeBase64(key.publicKey, "test"), message.subarray(0, -64), message.subarray(-64)));
    assertCode("bad_signature", () => session.decrypt(message));
  }
});

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}
