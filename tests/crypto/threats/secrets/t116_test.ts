/** Requests for secrets in the name of a device that must not have them. */

import { assert, assertEquals } from "@std/assert";
import { BACKUP_ALGORITHM } from "../../../../src/types/identifiers.ts";
import { SyncStream, type ToDeviceEvent, type UserID } from "@greenroom/matrix/types";
import { RawDevice } from "../../engine/raw_device.ts";
import { backedUp, BackupServer, withSessions } from "../../backup/stage.ts";
import { testContext } from "../../support/context.ts";
import { sign } from "../../support/fake_user.ts";
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

  const toMyself = await bot.engine.receiveSync({ ...bot.collect(), toDevice: [request(ME, "MINE")] });
  assertEquals([toMyself.mayRequest, await bot.engine.requests()], [false, []]);

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

Deno.test("T116: the key of the backup goes out by its own name alone, and while the backup is in use", async () => {
  const own = await scene();
  const { server, bot, identity, tablet } = own;
  let seen = 0;
  const got = async (change: Record<string, unknown>) => {
    await bot.sync({ toDevice: [request(ME, "TABLET", change)] });
    await bot.flush();
    const { toDevice } = server.mailbox(tablet.own);
    const news = toDevice.slice(seen).filter(({ type }) => type === "m.room.encrypted");
    seen = toDevice.length;
    return news.map((event) => tablet.read(event)).filter(({ type }) => type === "m.secret.send")
      .map(({ content }) => (content as { secret: string }).secret);
  };
  const name = "m.megolm_backup.v1";
  assertEquals(await got({ name }), [], "there is none");
  const backups = new BackupServer(server);
  const secret = await backedUp(bot, backups);
  for (const other of ["com.example.token", "m.cross_signing.other", 1, undefined]) {
    assertEquals(await got({ name: other }), []);
  }
  assertEquals(await got({ name, action: "other" }), []);
  assertEquals(await got({ name }), [secret]);

  const { master } = identity;
  assert(master !== undefined);
  using key = testContext().vodozemac.pk.createDecryption();
  const signed = sign({ public_key: key.publicKey }, {
    userId: ME,
    keyId: `ed25519:${master.publicKey}`,
    key: master,
  });
  const version = backups.create(bot, {
    algorithm: BACKUP_ALGORITHM,
    auth_data: signed as { public_key: string },
  });
  await withSessions(bot, 1);
  await bot.flush();
  const { isReadable, phase } = await bot.engine.steps.backupState() ?? {};
  assertEquals([isReadable, phase, await got({ name })], [false, "on", []]);
  const again = await backedUp(bot, backups);
  assertEquals(await got({ name }), [again]);
  backups.delete(bot, backups.shown(bot).version);
  backups.delete(bot, version);
  backups.delete(bot, "1");
  await withSessions(bot, 1);
  await bot.flush();
  assertEquals([(await bot.engine.steps.backupState())?.phase, await got({ name })], ["deleted", []]);
});

Deno.test("T116: a name that no device has takes no place in the store", async () => {
  const { bot } = await scene();
  await bot.sync({ toDevice: [request(ME, "x".repeat(10_000)), request(ME, "")] });
  assertEquals(await Array.fromAsync(bot.store.list(["crypto", "secret_answer"])), []);
});

Deno.test("T116: who is verified later than a quarter of an hour after it has asked gets nothing", async () => {
  for (const [late, count] of [[0, 1], [1, 0]] as const) {
    const own = await scene();
    const { server, bot, rogue } = own;
    const device = (await bot.engine.devicesOf([ME])).find(({ deviceId }) => deviceId === "ROGUE");
    assert(device !== undefined);
    await bot.sync({ toDevice: [request(ME, "ROGUE")] });
    await server.clock.tick(15 * 60_000 + late);
    await bot.engine.steps.signDevice(device);
    await bot.flush();
    assertEquals(answers(own, rogue).length, count);
  }
});

Deno.test("T116: all devices together get a hundred answers an hour", async () => {
  const own = await scene();
  const { server, bot } = own;
  const devices = Array.from({ length: 6 }, (_, at) => new RawDevice(server, ME, `OWN${at}`).publish());
  await bot.sync();
  let sent = 0;
  for (const device of devices) {
    const toDevice = Array.from(
      { length: 20 },
      (_, at) => request(ME, device.own.deviceId, { request_id: `r${at}` }),
    );
    await bot.sync({ toDevice });
    await bot.flush();
    sent += answers(own, device).length;
  }
  assertEquals(sent, 100);
});
