/** The own identity is replaced by another one while this device has its private keys. */

import { assert, assertEquals } from "@std/assert";
import { ME, ownScene } from "../../identity/own_scene.ts";

/** An engine with the private keys, when the server begins to show another identity. */
async function replaced() {
  const scene = await ownScene();
  const { bot, server, identity, other } = scene;
  await bot.engine.identities.askForIdentity();
  await bot.flush();
  await bot.engine.identities.offerIdentity(identity.seeds);
  await bot.flush();
  const before = bot.engine.identity().deviceKeys.signatures[ME] ?? {};
  const show = async (shown: typeof other) => {
    server.identities.set(ME, shown);
    await bot.sync({ deviceLists: { changed: [ME], left: [] } });
  };
  await show(other);
  return { ...scene, before, show };
}

Deno.test("T25: the private keys of an identity that was replaced are dropped, and nothing is verified by it", async () => {
  const { bot, identity, before } = await replaced();
  for (const time of ["at once", "after a restart"]) {
    const { shown, keys } = await bot.engine.identities.ownIdentity();
    assertEquals([keys, shown?.verified, shown?.changed], [undefined, false, true], time);
    assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["violation"], time);
    const signatures = bot.engine.identity().deviceKeys.signatures[ME] ?? {};
    assertEquals(Object.keys(signatures), ["ed25519:MINE"], time);
    await bot.restart();
  }
  assert(`ed25519:${identity.selfSigning?.publicKey}` in before);
});

Deno.test("T25: when the identity from before is shown again, it is not proven any more", async () => {
  const { bot, identity, show } = await replaced();
  await show(identity);
  const { shown, keys } = await bot.engine.identities.ownIdentity();
  assertEquals([keys, shown?.verified, shown?.changed], [undefined, false, false]);
  assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["cross-signed"]);
});

Deno.test("T25: private keys are dropped as well if only one of the three keys is another one", async () => {
  for (const name of ["master", "selfSigning", "userSigning"] as const) {
    const { bot, server, identity, other } = await ownScene();
    await bot.engine.identities.askForIdentity();
    await bot.flush();
    await bot.engine.identities.offerIdentity(identity.seeds);
    identity[name] = other[name];
    server.identities.set(ME, identity);
    await bot.sync({ deviceLists: { changed: [ME], left: [] } });
    assertEquals((await bot.engine.identities.ownIdentity()).keys, undefined, name);
  }
});
