import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { begin } from "../../client/support/encrypted_room.ts";
import { clientStage } from "../../client/support/stage.ts";
import { device, history, KEY, PASSWORD, selfSigning } from "../identity/scene.ts";
import {
  away,
  bot,
  DEHYDRATED,
  dehydratedDevices,
  friendOf,
  inSmallPages,
  leave,
  outcomeOf,
  records,
  refusal,
  says,
  watched,
} from "./scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const WEEK = 7 * 86_400_000;

Deno.test("A new device reads what was sent while no device was there, and has the dehydrated one replaced", async () => {
  await using here = clientStage();
  const first = await bot(here, "FIRST");
  const { friend, roomId } = await friendOf(here, first);
  const [old] = await dehydratedDevices(friend);
  await leave(first);
  await says(friend, roomId, "one", "two");

  const { fetch, made } = watched(here);
  const second = await bot(here, "SECOND", { fetch });
  assertEquals(await history(second, roomId), ["one by direct", "two by direct"]);
  assertEquals(made, ["GET", "GET events", "PUT"]);
  const [now, ...others] = await dehydratedDevices(friend);
  assert(old !== undefined && now !== undefined && now !== old);
  assertEquals(others, []);
});

Deno.test("What a bot itself has sent is read by its next device too: it gives its keys to its dehydrated device", async () => {
  await using here = clientStage();
  const first = await bot(here, "FIRST");
  const { friend, roomId } = await friendOf(here, first);
  await says(first, roomId, "to myself");
  await leave(first);
  await friend.syncOnce();
  assertEquals(await history(await bot(here, "SECOND"), roomId), ["to myself by direct"]);
});

Deno.test("A device that has seen to it needs no request for a week, whether it is asked or started again", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const lease = { duration: 600_000 }; // a week of short ones takes time
  const first = await bot(here, "BOT", { store, lease });
  const { fetch, made } = watched(here);
  await first.close();
  const again = await bot(here, "BOT", { store, lease, fetch });
  assertEquals([await outcomeOf(again), made], ["on", []]);
  await here.clock.tick(WEEK - 3_600_000);
  await again.syncOnce();
  assertEquals([await outcomeOf(again), made], ["on", []]);
});

Deno.test("A device of the own making is replaced after a week, while the client runs, and is not read", async () => {
  const { recoveryKey: _given, ...without } = DEHYDRATED;
  for (const encryption of [DEHYDRATED, { ...without, onRecoveryKey() {} }]) {
    await using here = clientStage();
    const { fetch, made } = watched(here);
    const client = await bot(here, "BOT", { fetch, encryption });
    const before = await dehydratedDevices(client);
    made.length = 0;
    await here.clock.tick(WEEK);
    await client.syncOnce();
    assertEquals(made, ["GET", "PUT"]);
    const after = await dehydratedDevices(client);
    assert(after.length === 1 && after[0] !== before[0]);
  }
});

Deno.test("A device that another own device has made is left alone for a week, and read before it is replaced", async () => {
  await using here = clientStage();
  const { fetch, made } = watched(here);
  const first = await bot(here, "FIRST", { fetch });
  await bot(here, "SECOND");
  const [of2] = await dehydratedDevices(first);
  made.length = 0;
  await first.syncOnce(); // which shows the new one
  assertEquals([await outcomeOf(first), made, await dehydratedDevices(first)], ["on", [], [of2 ?? ""]]);
  await here.clock.tick(WEEK);
  await first.syncOnce();
  assertEquals(made, ["GET", "GET events", "PUT"]);
});

Deno.test("One that was deleted is made again with the next start", async () => {
  await using here = clientStage();
  const client = await bot(here, "BOT");
  await client.raw.deleteDehydratedDevice();
  await client.syncOnce();
  assertEquals(await dehydratedDevices(client), []);
  assertEquals(await outcomeOf(client), "on");
  assertEquals((await dehydratedDevices(client)).length, 1);
});

Deno.test("After a reset of the identity the dehydrated device is one that the new identity has signed", async () => {
  await using here = clientStage();
  const client = await bot(here, "BOT");
  const report = await client.crypto?.resetIdentity({
    ...DEHYDRATED,
    password: PASSWORD,
    confirm: () => true,
  });
  assertEquals([report?.state, report?.dehydratedDevice], ["reset", "on"]);
  const [deviceId = ""] = await dehydratedDevices(client);
  const { device_keys } = await client.queryKeys(["@alice:localhost"]);
  const signatures = device_keys?.["@alice:localhost"]?.[deviceId]?.signatures["@alice:localhost"];
  assert(Object.hasOwn(signatures ?? {}, await selfSigning(client)));
});

Deno.test("A server without dehydrated devices, or one that fails, does not keep a device from being verified", async () => {
  await using here = clientStage();
  const unsupported = watched(here, () => refusal(404, "M_UNRECOGNIZED"));
  const first = await bot(here, "FIRST", { fetch: unsupported.fetch });
  const { state, dehydratedDevice } = await first.crypto?.ensureVerified() ?? {};
  assertEquals([state, dehydratedDevice], ["verified", "unsupported"]);
  unsupported.made.length = 0;
  await here.clock.tick(3_600_000);
  await first.syncOnce();
  assertEquals(unsupported.made, []);
  await here.clock.tick(86_400_000);
  await first.syncOnce(); // a day later
  assertEquals(unsupported.made, ["GET"]);

  let isDown = true;
  const failing = watched(here, () => isDown ? refusal(500, "M_UNKNOWN") : undefined);
  const second = await bot(here, "SECOND", { fetch: failing.fetch });
  assertEquals(await outcomeOf(second), "failed");
  isDown = false;
  failing.made.length = 0;
  await here.clock.tick(3_500_000);
  await second.syncOnce();
  assertEquals(failing.made, []);
  await here.clock.tick(100_000);
  await second.syncOnce(); // an hour later
  assertEquals(failing.made, ["GET", "PUT"]);
});

Deno.test("A device that can't have the private keys makes no dehydrated one, and goes on syncing", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY, backup: false } });
  await first.crypto?.start();
  const { fetch, made } = watched(here);
  const encryption = { ...EVERYBODY, onRecoveryKey() {}, backup: false, dehydratedDevice: true };
  const client = await bot(here, "BOT", { encryption, fetch });
  assertEquals((await client.crypto?.ensureVerified())?.state, "needs-secret");
  await client.syncOnce();
  assertEquals(made, []);
});

Deno.test("The doctor says whether the dehydrated device is there, once one was made", async () => {
  await using here = clientStage();
  const codes = async (client: Client) =>
    (await client.crypto?.doctor() ?? []).map(({ code }) => code).filter((code) =>
      code.startsWith("dehydrated")
    );
  const without = await device(here, "OTHER", { encryption: { recoveryKey: KEY, backup: false } });
  await without.crypto?.start();
  const client = await bot(here, "BOT");
  assertEquals([await codes(without), await codes(client)], [[], ["dehydrated-device-on"]]);
  await client.raw.deleteDehydratedDevice();
  assertEquals(await codes(client), ["dehydrated-device-missing"]);
});

Deno.test("What came in pages before a failure stays, and the next start goes on from there", async () => {
  await using here = clientStage();
  const { friend, roomId } = await away(here, "one", "two", "three");
  let pages = 0;
  const { fetch, made } = watched(here, (request) => {
    if (!request.url.includes("/events")) return undefined;
    return ++pages === 2 ? refusal(500, "M_UNKNOWN") : here.homeserver.fetch(inSmallPages(request, 2));
  });
  const store = new MemoryStore();
  const lease = { duration: 1_000 };
  const client = await bot(here, "SECOND", { fetch, store, lease });
  assertEquals(await history(client, roomId), ["one by direct", "two by direct", "MISSING_KEY"]);
  assert(!made.includes("PUT"), "it is replaced when all is read only");
  const [old] = await dehydratedDevices(friend);
  assertEquals((await records(store, "rehydrated_session")).length, 1);
  await client.close();

  made.length = 0;
  const again = await bot(here, "SECOND", { fetch, store, lease });
  assertEquals(await history(again, roomId), ["one by direct", "two by direct", "three by direct"]);
  assertEquals([made[0], made[1]?.startsWith("GET events?from=d"), made.slice(2)], ["GET", true, ["PUT"]]);
  assert(old !== (await dehydratedDevices(friend))[0]);
  assertEquals(await records(store, "rehydrated_session"), []);
});

Deno.test("A device that another client replaces while it is read is given up, and the new one read", async () => {
  await using here = clientStage();
  const { roomId } = await away(here, "one", "two", "three");
  let rival: Client | undefined;
  const { fetch } = watched(here, async (request) => {
    if (!request.url.includes("/events")) return undefined;
    const answer = await here.homeserver.fetch(inSmallPages(request, 2));
    rival ??= await bot(here, "RIVAL");
    return answer;
  });
  const client = await bot(here, "SECOND", { fetch });
  assertEquals(await outcomeOf(client), "on");
  assert(rival !== undefined);
  assertEquals((await history(rival, roomId)).length, 3);
  assertEquals((await history(client, roomId)).slice(0, 2), ["one by direct", "two by direct"]);
  assertEquals((await dehydratedDevices(client)).length, 1);
});

Deno.test("If the answer to the upload is lost, the device is not made a second time", async () => {
  await using here = clientStage();
  let isLost = true;
  const { fetch, made } = watched(here, async (request) => {
    if (request.method !== "PUT" || !isLost) return undefined;
    isLost = false;
    await here.homeserver.fetch(request);
    return refusal(502, "M_UNKNOWN");
  });
  const client = await bot(here, "BOT", { fetch });
  assertEquals(made, ["GET", "PUT"]);
  const devices = await dehydratedDevices(client);
  assertEquals(await outcomeOf(client), "on");
  assertEquals([made, await dehydratedDevices(client)], [["GET", "PUT", "GET"], devices]);
});

Deno.test("If the upload failed, and another client has made one meanwhile, that is read and replaced", async () => {
  await using here = clientStage();
  let isDown = true;
  const { fetch, made } = watched(
    here,
    ({ method }) => method === "PUT" && isDown ? refusal(502, "M_UNKNOWN") : undefined,
  );
  const client = await bot(here, "BOT", { fetch });
  assertEquals(await dehydratedDevices(client), []);
  await bot(here, "RIVAL");
  const before = await dehydratedDevices(client);
  await client.syncOnce(); // which shows the new one
  [isDown, made.length] = [false, 0];
  assertEquals([await outcomeOf(client), made], ["on", ["GET", "GET events", "PUT"]]);
  const after = await dehydratedDevices(client);
  assert(after.length === 1 && after[0] !== before[0]);
});

Deno.test("Keys that come while the client runs make readable what waits for them", async () => {
  await using here = clientStage();
  await away(here, "late");
  const texts: string[] = [];
  const client = await device(here, "SECOND", {
    encryption: { ...EVERYBODY, recoveryKey: KEY, backup: false },
  });
  client.on("m.room.message", ({ content }) => texts.push(content.body), { history: true });
  await begin(here, client);
  await here.settle();
  assertEquals(texts, []);
  const report = await client.crypto?.ensureVerified(DEHYDRATED);
  assertEquals(report?.dehydratedDevice, "on");
  await here.until(() => texts.includes("late"));
});
