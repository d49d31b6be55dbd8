/** A secret storage that is looked at again and again, opened by a passphrase. */

import { assertEquals, assertRejects } from "@std/assert";
import { OwnIdentityError } from "@greenroom/matrix/errors";
import { clientStage } from "../../client/support/stage.ts";
import { device, patiently } from "./scene.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

Deno.test("A passphrase is hashed once, however often stored keys are looked at that don't fit", async () => {
  await using here = clientStage();
  const passphrase = "correct horse battery staple";
  let hashed = 0;
  let key: Promise<ArrayBuffer> | undefined;
  const { deriveBits } = crypto.subtle;
  crypto.subtle.deriveBits = (...args) => {
    if (typeof args[0] !== "object" || args[0].name !== "PBKDF2") {
      return deriveBits.apply(crypto.subtle, args);
    }
    hashed++;
    key ??= deriveBits.apply(crypto.subtle, args); // it takes time that is not the clock's
    return key.then((bytes) => bytes.slice()); // who gets them wipes them
  };
  try {
    const first = await device(here, "FIRST", { encryption: { passphrase } });
    await first.crypto?.start();
    using storage = await first.secretStorage.open({ passphrase });
    for (const name of Object.values(SEED_SECRETS)) await storage.set(name, new Uint8Array(32).toBase64());
    const next = await device(here, "NEXT", { encryption: { passphrase } });
    hashed = 0;
    const error = await assertRejects(() => patiently(here, next.crypto?.start()), OwnIdentityError);
    assertEquals(error.problem, "mismatch");
  } finally {
    crypto.subtle.deriveBits = deriveBits;
  }
  assertEquals(hashed, 1);
});
