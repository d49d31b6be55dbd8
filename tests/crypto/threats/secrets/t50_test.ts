/** Secrets that were not asked for, come from whom they must not, or are not what they should be. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { publicBackupKey } from "../../../../src/crypto/backup/session_data.ts";
import { type JsonObject, SyncStream } from "@greenroom/matrix/types";
import { RawDevice } from "../../engine/raw_device.ts";
import { backedUp, BackupServer, withSessions } from "../../backup/stage.ts";
import { ME, type OwnScene, ownScene } from "../../identity/own_scene.ts";
import { testContext } from "../../support/context.ts";

const MASTER = "m.cross_signing.master", USER_SIGNING = "m.cross_signing.user_signing";

/** A device without secrets, and those that may write to it. */
async function scene() {
  const own = await ownScene({ release: true });
  const { server, bot, identity } = own;
  identity.unsigned.add("ROGUE");
  const tablet = new RawDevice(server, ME, "TABLET").publish();
  const rogue = new RawDevice(server, ME, "ROGUE").publish();
  const mallory = new RawDevice(server, "@mallory:example.org", "EVIL").publish();
  await bot.sync();
  const master = identity.master?.publicKey ?? "";
  await bot.engine.steps.signIdentity({ userId: ME, master });
  await bot.flush();
  return { ...own, tablet, rogue, mallory };
}

/** The requests for secrets that have come to a device, by the name of the secret. */
function requestsTo({ server }: OwnScene, deviceId: string): Map<unknown, unknown> {
  const { toDevice } = server.mailbox({ userId: ME, deviceId });
  const requests = toDevice.filter(({ type, content }) =>
    type === "m.secret.request" && content.action === "request"
  );
  return new Map(requests.map(({ content }) => [content.name, content.request_id]));
}

/** Which private keys are missing; undefined: all. */
async function missing({ bot }: OwnScene): Promise<readonly string[] | undefined> {
  const { keys } = await bot.engine.steps.ownIdentity();
  return keys === undefined ? undefined : keys.missing ?? [];
}

function text(seed: Uint8Array): string {
  return seed.toBase64({ omitPadding: true });
}

Deno.test("T50: a secret counts only if it was asked for, comes from the device that was, in time, and belongs to the public key", async () => {
  const own = await scene();
  const { bot, identity, other, tablet, rogue, mallory, server } = own;
  server.members.add("@mallory:example.org");
  const { master, userSigning } = identity.seeds;
  const refused = async (why: string, from: RawDevice, id: unknown, secret: unknown) => {
    const message = from.message(bot, "m.secret.send", { request_id: id, secret } as never);
    await bot.sync({ toDevice: [message] });
    assertEquals([why, await missing(own)], [why, undefined]);
  };
  await refused("not asked for", tablet, "guessed", text(master));
  const asked = await bot.engine.steps.requestSecrets({});
  assertEquals([asked.names.length, asked.devices], [3, ["PHONE", "TABLET"]]);
  await bot.flush();
  assertEquals(requestsTo(own, "ROGUE").size, 0, "it is not verified");
  const id = requestsTo(own, "TABLET").get(MASTER);
  assert(typeof id === "string");
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  assertEquals(requestsTo(own, "TABLET").get(MASTER), id, "the same request is awaited");
  await refused("under another request", tablet, requestsTo(own, "TABLET").get(USER_SIGNING), text(master));
  await refused("of another identity", tablet, id, text(other.seeds.master));
  await refused("no key", tablet, id, "AAAA");
  await refused("no text", tablet, id, 1);
  await refused("from a device that is not verified", rogue, id, text(master));
  await refused("from another user", mallory, id, text(master));
  const late = new RawDevice(server, ME, "LATE").publish();
  await bot.sync();
  await refused("from a device that was not asked", late, id, text(master));
  await bot.sync({
    toDevice: [{
      type: "m.secret.send",
      sender: ME,
      content: { request_id: id, secret: text(master) },
      source: late.message(bot, "m.dummy", {}).source,
    }],
  });
  assertEquals(await missing(own), undefined, "in clear");

  await bot.restart();
  const message = tablet.message(bot, "m.secret.send", { request_id: id, secret: text(master) });
  await bot.sync({ toDevice: [message] });
  assertEquals(await missing(own), ["selfSigning", "userSigning"]);
  const cancelled = server.mailbox({ userId: ME, deviceId: "PHONE" }).toDevice
    .filter(({ content }) => content.action === "request_cancellation" && content.request_id === id);
  assertEquals(cancelled.length, 1);

  await server.clock.tick(15 * 60_000 + 1);
  const last = requestsTo(own, "TABLET").get(USER_SIGNING);
  const tooLate = tablet.message(
    bot,
    "m.secret.send",
    { request_id: last, secret: text(userSigning) } as never,
  );
  await bot.sync({ toDevice: [tooLate] });
  assertEquals(await missing(own), ["selfSigning", "userSigning"]);
});

Deno.test("T50: a secret of a device that was blocked since it was asked does not count", async () => {
  const own = await scene();
  const { bot, identity, tablet } = own;
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  const device = (await bot.engine.devicesOf([ME])).find(({ deviceId }) => deviceId === "TABLET");
  assert(device);
  const answer = async () => {
    const request_id = requestsTo(own, "TABLET").get(MASTER);
    const content = { request_id, secret: text(identity.seeds.master) } as never;
    await bot.sync({ toDevice: [tablet.message(bot, "m.secret.send", content)] });
    return await missing(own);
  };
  await bot.engine.steps.setDeviceTrust({ ...device, trust: "blacklisted" });
  assertEquals(await answer(), undefined);
  await bot.engine.steps.setDeviceTrust({ ...device, trust: undefined });
  assertEquals(await answer(), ["selfSigning", "userSigning"]);
});

Deno.test("T50: private keys that came singly are dropped when the server shows another identity", async () => {
  const own = await scene();
  const { bot, identity, other, tablet, server } = own;
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  const id = requestsTo(own, "TABLET").get(USER_SIGNING);
  const secret = text(identity.seeds.userSigning);
  await bot.sync({ toDevice: [tablet.message(bot, "m.secret.send", { request_id: id, secret } as never)] });
  assertEquals(await missing(own), ["master", "selfSigning"]);
  server.identities.set(ME, other);
  server.show({ userId: ME, deviceId: "TABLET" });
  await bot.sync();
  assertEquals(await missing(own), undefined);
});

Deno.test("T50: the key of a backup is asked for by what it must fit, whatever else the server says of the version", async () => {
  const { bot } = await scene();
  const { store } = bot;
  const [algorithm, public_key] = ["m.megolm_backup.v1.curve25519-aes-sha2", "A".repeat(43)];
  const long = "1".repeat(100_000);
  const wanted = async (version: string, shown: string) => {
    const backup = { version, algorithm: shown, auth_data: { public_key, note: long } };
    return (await bot.engine.steps.requestSecrets({ backup })).names.length;
  };
  assertEquals([await wanted(long, algorithm), await wanted("1", long)], [3, 3]);
  assertEquals(await wanted("1", algorithm), 4);
  const records = await Array.fromAsync(store.list(["crypto", "secret_request"]));
  assertEquals(records.length, 4);
  assertFalse(JSON.stringify(records).includes(long));
});

Deno.test("T50: a device that is verified since is asked as well, and fifty are at most", async () => {
  const own = await scene();
  const { bot, server } = own;
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  const before = requestsTo(own, "TABLET").get(MASTER);
  new RawDevice(server, ME, "NEW").publish();
  await bot.sync();
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  const now = requestsTo(own, "NEW").get(MASTER);
  assert(now !== undefined && now !== before);
  for (let at = 0; at < 60; at++) new RawDevice(server, ME, `OWN${at}`).publish();
  await bot.sync();
  assertEquals((await bot.engine.steps.requestSecrets({})).devices.length, 50);
});

Deno.test("T50: the key of the backup is asked for unless it is here, of the version that there is, and in use", async () => {
  const { bot, server } = await scene();
  const backups = new BackupServer(server);
  await backedUp(bot, backups);
  const wanted = async (change: JsonObject = {}) => {
    const { names } = await bot.engine.steps.requestSecrets({ backup: { ...backup, ...change } });
    return names.includes("m.megolm_backup.v1");
  };
  const backup = backups.shown(bot);
  assertEquals([await wanted(), await wanted({ version: "2" })], [false, true]);
  backups.delete(bot, "1");
  await withSessions(bot, 1);
  await bot.flush();
  assertEquals((await bot.engine.steps.backupState())?.phase, "deleted");
  assert(await wanted());
});

Deno.test("T50: what another device sends as the key of a backup is used only if it fits the version", async () => {
  const own = await scene();
  const { bot, tablet } = own;
  const key = new Uint8Array(32).fill(7);
  const public_key = publicBackupKey(testContext().vodozemac, key);
  const algorithm = "m.megolm_backup.v1.curve25519-aes-sha2";
  await bot.engine.steps.requestSecrets({
    backup: { version: "1", algorithm, auth_data: { public_key } },
  });
  await bot.flush();
  const request_id = requestsTo(own, "TABLET").get("m.megolm_backup.v1");
  const usedAfter = async (secret: string) => {
    const content = { request_id, secret } as never;
    await bot.sync({ toDevice: [tablet.message(bot, "m.secret.send", content)] });
    return (await bot.engine.steps.backupState())?.version;
  };
  for (const wrong of [text(key.with(0, 8)), text(key.subarray(1)), "no base64!", ""]) {
    assertEquals(await usedAfter(wrong), undefined, wrong);
  }
  assertEquals(await usedAfter(text(key)), "1");
});

Deno.test("T50: private keys of a wrong length are ignored, however many come at once, and hold nothing else up", async () => {
  const own = await scene();
  const { bot, identity, tablet } = own;
  await bot.engine.steps.requestSecrets({});
  await bot.flush();
  const request_id = requestsTo(own, "TABLET").get(MASTER);
  const { master } = identity.seeds;
  const long = new Uint8Array(33);
  long.set(master);
  const wrong = [master.subarray(1), long, new Uint8Array(1), new Uint8Array(), new Uint8Array(64)].map(text);
  const secrets = [...wrong, ...wrong, ...wrong, text(master)];
  const toDevice = secrets.map((secret) =>
    tablet.message(bot, "m.secret.send", { request_id, secret } as never)
  );
  await bot.sync({ toDevice });
  assertEquals(await missing(own), ["selfSigning", "userSigning"]);
});

Deno.test("T50: a dehydrated device of the own user is asked for no secret, gives none and gets none", async () => {
  const own = await scene();
  const { bot, identity, server, tablet } = own;
  const dehydrated = new RawDevice(server, ME, "DEHYDRATED", { dehydrated: true }).publish();
  server.show({ userId: ME, deviceId: "DEHYDRATED" });
  await bot.sync();
  const { devices } = await bot.engine.steps.requestSecrets({});
  await bot.flush();
  assertEquals([devices, requestsTo(own, "DEHYDRATED").size], [["PHONE", "TABLET"], 0]);
  const secret = text(identity.seeds.master);
  const request_id = requestsTo(own, "TABLET").get(MASTER);
  await bot.sync({
    toDevice: [dehydrated.message(bot, "m.secret.send", { request_id, secret } as never)],
  });
  assertEquals(await missing(own), undefined);

  await bot.engine.steps.offerIdentity(identity.seeds);
  await bot.flush();
  const asking = (deviceId: string) => ({
    type: "m.secret.request",
    sender: ME,
    content: { action: "request", requesting_device_id: deviceId, request_id: "r1", name: MASTER },
    source: SyncStream.TO_DEVICE,
  });
  await bot.sync({ toDevice: [asking("DEHYDRATED"), asking("TABLET")] });
  await bot.flush();
  const encrypted = (device: RawDevice) =>
    server.mailbox(device.own).toDevice.filter(({ type }) => type === "m.room.encrypted");
  assertEquals(encrypted(dehydrated).length, 0);
  assertEquals(encrypted(tablet).filter((event) => tablet.read(event).type === "m.secret.send").length, 1);
});
