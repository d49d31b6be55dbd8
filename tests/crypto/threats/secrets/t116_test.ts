/** Requests for secrets in the name of a device that must not have them. */

import { assert, assertEquals } from "@std/assert";
import { SyncStream, type ToDeviceEvent } from "../../../../src/types/events/event.ts";
import type { UserID } from "../../../../src/types/ids.ts";
import { RawDevice } from "../../engine/raw_device.ts";
import { ME, type OwnScene, ownScene } from "../../identity/own_scene.ts";

const MALLORY: UserID = "@mallory:example.org", MASTER = "m.cross_signing.master";

/** A device with the secrets, and others. */
async function scene() {
  const own = await ownScene({ release: true });
  const { server, bot, identity } = own;
  identity.unsigned.add("ROGUE");
  const tablet = new RawDevice(server, ME, "TABLET").publish();
  const rogue = new RawDevice(server, ME, "ROGUE").publish();
  const mallory = new RawDevice(server, MALLORY, "TABLET").publish();
  await bot.sync();
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "adopted");
  await bot.flush();
  return { ...own, tablet, rogue, mallory };
}

function request(sender: UserID, deviceId: string, change: Record<string, unknown> = {}): ToDeviceEvent {
  const content = {
    action: "request",
    requesting_device_id: deviceId,
    request_id: "r1",
    name: MASTER,
    ...change,
  };
  return { type: "m.secret.request", sender, content, source: SyncStream.TO_DEVICE } as ToDeviceEvent;
}

/** What the bot has sent, encrypted, to each device of its user. */
function answers({ server }: OwnScene, device: RawDevice): unknown[] {
  const { toDevice } = server.mailbox(device.own);
  return toDevice.filter(({ type }) => type === "m.room.encrypted").map((event) => device.read(event))
    .filter(({ type }) => type === "m.secret.send");
}

Deno.test("T116: a secret goes to an own device that is verified, and to no other that asks for it or is named", async () => {
  const own = await scene();
  const { bot, identity, tablet, rogue, mallory } = own;
  const before = JSON.stringify(answers(own, rogue));
  await bot.sync({ toDevice: [request(ME, "ROGUE"), request(MALLORY, "TABLET"), request(ME, "MINE")] });
  await bot.sync({ toDevice: [request(ME, "GHOST"), request(ME, "TABLET", { name: "com.example.token" })] });
  await bot.sync({
    toDevice: [request(ME, "TABLET", { name: 1 }), request(ME, "TABLET", { request_id: {} })],
  });
  await bot.flush();
  assertEquals([JSON.stringify(answers(own, rogue)), answers(own, mallory), answers(own, tablet)], [
    before,
    [],
    [],
  ]);

  await bot.sync({ toDevice: [request(ME, "TABLET")] });
  await bot.flush();
  const [sent] = answers(own, tablet) as [{ content: { request_id: string; secret: string } }?];
  assertEquals(sent?.content, {
    request_id: "r1",
    secret: identity.seeds.master.toBase64({ omitPadding: true }),
  });
});

Deno.test("T116: a device that is blocked, or takes back its request, gets nothing when it is verified after that", async () => {
  const own = await scene();
  const { bot, rogue } = own;
  const device = (await bot.engine.devicesOf([ME])).find(({ deviceId }) => deviceId === "ROGUE");
  assert(device !== undefined);
  await bot.engine.steps.setDeviceTrust({ ...device, trust: "blacklisted" });
  await bot.sync({ toDevice: [request(ME, "ROGUE")] });
  await bot.engine.steps.setDeviceTrust({ ...device, trust: undefined });
  await bot.sync({ toDevice: [request(ME, "ROGUE", { request_id: "r2" })] });
  await bot.sync({ toDevice: [request(ME, "ROGUE", { request_id: "r2", action: "request_cancellation" })] });
  await bot.engine.steps.signDevice(device);
  await bot.flush();
  assertEquals(answers(own, rogue), []);
});

Deno.test("T116: a device that asks again and again does not keep another from being answered, nor fill the store", async () => {
  const own = await scene();
  const { bot, tablet, rogue } = own;
  const device = (await bot.engine.devicesOf([ME])).find(({ deviceId }) => deviceId === "ROGUE");
  assert(device !== undefined);
  const flood = Array.from({ length: 300 }, (_, at) => request(ME, "ROGUE", { request_id: `flood${at}` }));
  await bot.sync({ toDevice: flood });
  let kept = 0;
  for await (const _ of bot.store.list(["crypto", "secret_answer"])) kept++;
  assertEquals(kept, 40);
  await bot.sync({ toDevice: [request(ME, "TABLET")] });
  await bot.flush();
  assertEquals(answers(own, tablet).length, 1);
  await bot.engine.steps.signDevice(device);
  await bot.flush();
  assertEquals(answers(own, rogue).length, 20, "an hour's worth");
});
