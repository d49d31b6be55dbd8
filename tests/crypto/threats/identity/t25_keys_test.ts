/** The own identity is replaced by another one while this device has its private keys. */

import { assert, assertEquals } from "@std/assert";
import { ME, ownScene } from "../../identity/own_scene.ts";

/** An engine with the private keys, when the server begins to show another identity. */
async function replaced() {
  const scene = await ownScene();
  const { bot, server, identity, other } = scene;
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  await bot.engine.steps.offerIdentity(identity.seeds);
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
    const { shown, keys } = await bot.engine.steps.ownIdentity();
    assertEquals([keys, shown?.isVerified, shown?.hasChanged], [undefined, false, true], time);
    assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["violation"], time);
    const signatures = bot.engine.identity().deviceKeys.signatures[ME] ?? {};
    assertEquals(Object.keys(signatures), ["ed25519:MINE"], time);
    await bot.restart();
  }
  assert(`ed25519:${identity.selfSigning?.publicKey}` in before);
});

Deno.test("T25: an identity that was replaced is not taken back with its private keys, but if it was compared", async () => {
  const { bot, identity, show } = await replaced();
  await show(identity);
  for (const time of ["at once", "after a restart"]) {
    const { shown, keys } = await bot.engine.steps.ownIdentity();
    assertEquals([keys, shown?.isVerified, shown?.hasChanged], [undefined, false, true], time);
    assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["violation"], time);
    assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "replaced", time);
    await bot.restart();
  }
  const master = identity.master?.publicKey ?? "";
  await bot.engine.steps.acknowledgeIdentity({ userId: ME, master });
  assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["cross-signed"]);
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "adopted");
  assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["verified"]);
});

Deno.test("T25: the identity that has replaced another stays the only one that counts, whatever is shown between", async () => {
  const { bot, identity, other, show } = await replaced();
  assertEquals((await bot.engine.steps.offerIdentity(other.seeds)).outcome, "adopted");
  await show(identity);
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "replaced");
  await show(other);
  assertEquals((await bot.engine.devicesOf([ME])).map(({ trust }) => trust), ["cross-signed"]);
  assertEquals((await bot.engine.steps.offerIdentity(other.seeds)).outcome, "adopted");
});

Deno.test("T25: private keys are dropped as well if only one of the three keys is another one", async () => {
  for (const name of ["master", "selfSigning", "userSigning"] as const) {
    const { bot, server, identity, other } = await ownScene();
    await bot.engine.steps.askForIdentity();
    await bot.flush();
    await bot.engine.steps.offerIdentity(identity.seeds);
    identity[name] = other[name];
    server.identities.set(ME, identity);
    await bot.sync({ deviceLists: { changed: [ME], left: [] } });
    assertEquals((await bot.engine.steps.ownIdentity()).keys, undefined, name);
  }
});
