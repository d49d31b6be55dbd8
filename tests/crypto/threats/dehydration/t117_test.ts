/** A server shows a dehydrated device that it has made or changed itself. */

import { assert, assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { JsonObject } from "@greenroom/matrix/types";
import { dehydrationScene } from "../../dehydration/stage.ts";

/** Private keys of a device of the server's own, encrypted with a key of its own. */
async function made(key: Uint8Array): Promise<{ device_id: string; device_data: JsonObject }> {
  const { olm } = await Vodozemac.create();
  using account = olm.createAccount();
  const { ciphertext, nonce } = account.dehydrate(key);
  const device_data = { algorithm: "org.matrix.msc3814.v2", device_pickle: ciphertext, nonce };
  return { device_id: account.curve25519Key, device_data };
}

Deno.test("T117: a dehydrated device that is not encrypted with the user's key, or was changed, is not read", async () => {
  const scene = await dehydrationScene();
  const { bot, upload: { device_id, device_data } } = scene;
  const pickle = String(device_data.device_pickle);
  const flipped = `${pickle.slice(0, 40)}${pickle[40] === "A" ? "B" : "A"}${pickle.slice(41)}`;
  const others: JsonObject[] = [
    await made(new Uint8Array(32)),
    { ...await made(new Uint8Array(32).fill(1)), device_id },
    { device_data: { ...device_data, device_pickle: flipped } },
    { device_data: { ...device_data, device_pickle: pickle.slice(0, -4) } },
    { device_data: { ...device_data, nonce: "AAAAAAAAAAAAAAAA" } },
    { device_data: { ...device_data, nonce: "" } },
    { device_data: { ...device_data, nonce: "A".repeat(100_000) } },
    { device_data: { ...device_data, device_pickle: "A".repeat(1_000_000) } },
    { device_data: { ...device_data, device_pickle: {} } },
    { device_data: { ...device_data, nonce: 17 } },
    { device_data: { ...device_data, algorithm: "org.matrix.msc2697.v1.olm.libolm_pickle" } },
    { device_data: { ...device_data, algorithm: "__proto__" } },
    { device_data: {} },
    { device_id: "ANOTHER" }, // whose name is not its key
  ];
  for (const other of others) assertEquals(await scene.begin(other), "unreadable", JSON.stringify(other));
  assertEquals((await bot.engine.steps.dehydrationState()).reading, undefined);
  assertEquals(await scene.begin(), "reading", "as it was uploaded it is");
  assert(device_id.length === 43);
});

Deno.test("T117: what is longer than any device's keys is not even decoded", async () => {
  const scene = await dehydrationScene();
  const { begin, upload: { device_data } } = scene;
  const Olm = Object.getPrototypeOf((await Vodozemac.create()).olm);
  const { rehydrateAccount } = Olm;
  let decoded = 0;
  Olm.rehydrateAccount = function (...given: unknown[]) {
    decoded++;
    return rehydrateAccount.apply(this, given);
  };
  try {
    const pickle = String(device_data.device_pickle);
    const tooLong = [{ nonce: "A".repeat(65) }, { device_pickle: pickle.padEnd(524_289, "A") }];
    for (const change of tooLong) {
      assertEquals(await begin({ device_data: { ...device_data, ...change } }), "unreadable");
    }
    assertEquals([decoded, await begin(), decoded], [0, "reading", 1]);
    for (const change of [{ nonce: "A".repeat(64) }, { device_pickle: pickle.padEnd(524_288, "A") }]) {
      await scene.bot.engine.steps.clearRehydration();
      assertEquals(await begin({ device_data: { ...device_data, ...change } }), "unreadable");
    }
    assertEquals(decoded, 3);
  } finally {
    Olm.rehydrateAccount = rehydrateAccount;
  }
});

Deno.test("T117: a device is read by either name of how it is encrypted", async () => {
  const { begin, upload: { device_data } } = await dehydrationScene();
  assertEquals(await begin({ device_data: { ...device_data, algorithm: "m.dehydration.v2" } }), "reading");
});
