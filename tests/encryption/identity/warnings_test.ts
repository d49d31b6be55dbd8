/** What a bot is told in its log about its identity. */

import { assert, assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { complaintsIn } from "../../actors/kernel/support.ts";
import { clientStage } from "../../client/support/stage.ts";
import { ALICE, device, KEY } from "./scene.ts";

Deno.test("A bot without a recovery key that nobody has signed says so once when it starts, and what to do", async () => {
  await using here = clientStage();
  const warnings = () => here.log.lines.filter(([, message]) => message.includes("Nobody has signed"));
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  assertEquals(warnings(), []);
  const store = new MemoryStore();
  const plain = await device(here, "PLAIN", { store });
  for (let count = 0; count < 2; count++) await plain.crypto?.start();
  await plain.crypto?.shareGroupSession("!room:localhost").catch(() => {});
  const [[level, message, data] = []] = warnings();
  assertEquals([warnings().length, level, data], [1, "warn", { userId: ALICE, deviceId: "PLAIN" }]);
  assert(message?.includes("encryption.recoveryKey"));
  await plain.close();

  // Another client of the user verifies it: the bot has no private key, and needs none.
  const owner = await device(here, "OWNER", { encryption: { recoveryKey: KEY } });
  await owner.crypto?.start();
  const devices = await owner.crypto?.getDevices(ALICE) ?? [];
  const seen = devices.find(({ deviceId }) => deviceId === "PLAIN");
  assert(seen);
  await owner.crypto?.verifyDevice(seen);
  await owner.crypto?.idle();
  const again = await device(here, "PLAIN", { store });
  await again.crypto?.start();
  assertEquals(warnings().length, 1);
  const findings = await again.crypto?.doctor() ?? [];
  assert(findings.some(({ code }) => code === "device-signed"));
});

Deno.test("A start that makes the identity, and one that takes it, warn of nothing", async () => {
  await using here = clientStage();
  for (const name of ["FIRST", "NEXT"]) {
    const encryption = { recoveryKey: KEY, dehydratedDevice: true };
    const bot = await device(here, name, { encryption, store: new MemoryStore() });
    await bot.crypto?.start();
    await bot.crypto?.idle();
    await bot.syncOnce();
  }
  assertEquals(complaintsIn(here.log), []);
});

Deno.test("A bot that makes an identity later than its device is not told to accept it", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("bot");
  const store = new MemoryStore();
  const warned: string[] = [];
  const log = { debug() {}, info() {}, warn: (message: string) => void warned.push(message), error() {} };
  for (const encryption of [true, { onRecoveryKey() {} }, { onRecoveryKey() {} }]) {
    const bot = new Client({ baseUrl, fetch, accessToken: token, store, encryption, log });
    const running = bot.start();
    await bot.ready;
    await bot.crypto?.ensureVerified();
    await bot.close();
    await running;
  }
  assertEquals(warned.filter((line) => !line.startsWith("Nobody has signed this device")), []);
});
