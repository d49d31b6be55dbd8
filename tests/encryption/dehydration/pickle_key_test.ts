import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { readDeviceData } from "../../../src/crypto/dehydration/new_device.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { device, history, KEY, PASSWORD } from "../identity/scene.ts";
import {
  bot,
  DEHYDRATED,
  dehydratedDevices,
  friendOf,
  leave,
  outcomeOf,
  refusal,
  says,
  watched,
} from "./scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const vodozemac = await Vodozemac.create();
const WEEK = 7 * 86_400_000;
const NAME = "org.matrix.msc3814";

function warned(here: ClientStage, text: string): boolean {
  return here.log.lines.some(([, message]) => message.includes(text));
}

Deno.test("The key is in the secret storage, under the name that other clients read, before the first device is made", async () => {
  await using here = clientStage();
  const log: string[] = [];
  const noting: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.method === "PUT") log.push(new URL(request.url).pathname.split("/").at(-1) ?? "");
    return await here.homeserver.fetch(request);
  };
  const client = await bot(here, "BOT", { fetch: noting });
  assertEquals(log.slice(-2), [NAME, "dehydrated_device"]);
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  assertEquals(Uint8Array.fromBase64(await storage.get(NAME) ?? "").length, 32);
});

/** A device of Alice, with its secret storage open, before any dehydrated device. */
async function before(here: ClientStage) {
  const client = await device(here, "EARLY", { encryption: { recoveryKey: KEY, backup: false } });
  await client.crypto?.start();
  return { client, storage: await client.secretStorage.open({ recoveryKey: KEY }) };
}

Deno.test("A key that is there is used, also under the name to come, and with padding", async () => {
  for (const name of [NAME, "m.dehydrated_device"]) {
    await using here = clientStage();
    const { storage } = await before(here);
    using _storage = storage;
    const secret = new Uint8Array(32).fill(5).toBase64();
    await storage.set(name, secret);
    const client = await bot(here, "BOT");
    assertEquals(await outcomeOf(client), "on");
    assertEquals([await storage.get(name), (await storage.names()).includes(NAME)], [secret, name === NAME]);
    await leave(client);
    const next = await bot(here, "NEXT");
    assertEquals(await outcomeOf(next), "on");
    assert(!warned(here, "can't be read"));
  }
});

Deno.test("A secret that is no key is not replaced, and nothing is made with another", async () => {
  await using here = clientStage();
  const { storage } = await before(here);
  using _storage = storage;
  for (const secret of ["no key", "c2hvcnQ", new Uint8Array(33).toBase64()]) {
    await storage.set(NAME, secret);
    const { fetch, made } = watched(here);
    const client = await bot(here, `BOT${secret.length}`, { fetch });
    assertEquals([await outcomeOf(client), await storage.get(NAME)], ["unusable", secret]);
    assert(!made.includes("PUT"));
  }
});

Deno.test("A damaged key in the secret storage is no reason to make another", async () => {
  await using here = clientStage();
  const { client, storage } = await before(here);
  using _storage = storage;
  await storage.set(NAME, new Uint8Array(32).toBase64());
  const content = await client.getAccountData(NAME);
  const { encrypted } = content as unknown as { encrypted: Record<string, { ciphertext: string }> };
  for (const entry of Object.values(encrypted)) entry.ciphertext = "AAAA";
  await client.setAccountData(NAME, content);
  const next = await bot(here, "BOT");
  assertEquals([await outcomeOf(next), await dehydratedDevices(next)], ["failed", []]);
});

Deno.test("When another client has changed the key, the next device is made with that", async () => {
  await using here = clientStage();
  const client = await bot(here, "FIRST");
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  await storage.set(NAME, new Uint8Array(32).fill(9).toBase64());
  await here.clock.tick(WEEK);
  await client.syncOnce();
  await leave(client);
  const next = await bot(here, "NEXT");
  assertEquals(await outcomeOf(next), "on");
  assert(!warned(here, "can't be read"), "the stored key opens it");
});

Deno.test("Without what opens the secret storage it is refused, or the outcome says so", async () => {
  await using here = clientStage();
  assertThrows(
    () => here.client("alice", { encryption: { dehydratedDevice: true } }),
    ValueError,
    "dehydratedDevice needs the secret storage",
  );
  const client = await device(here, "BOT", { encryption: { recoveryKey: KEY, backup: false } });
  await client.crypto?.start();
  const report = await client.crypto?.ensureVerified({ dehydratedDevice: true, backup: false });
  assertEquals([report?.state, report?.dehydratedDevice], ["verified", "no-secret"]);
  assertEquals(await dehydratedDevices(client), []);
  const given = await client.crypto?.ensureVerified(DEHYDRATED);
  assertEquals(given?.dehydratedDevice, "on");
  await here.clock.tick(WEEK);
  const later = await client.crypto?.ensureVerified({ dehydratedDevice: true, backup: false });
  assertEquals(later?.dehydratedDevice, "on", "its key is here");
});

Deno.test("A key that is stored for another key of the secret storage is none for this one", async () => {
  await using here = clientStage();
  const { client, storage } = await before(here);
  using _storage = storage;
  await client.setAccountData(NAME, { encrypted: { other: { iv: "", ciphertext: "", mac: "" } } });
  const next = await bot(here, "BOT");
  assertEquals([await outcomeOf(next), typeof await storage.get(NAME)], ["on", "string"]);
});

Deno.test("A bootstrap that hands its recovery key out makes a dehydrated device that this key opens", async () => {
  await using here = clientStage();
  let recoveryKey = "";
  const onRecoveryKey = (key: string) => void (recoveryKey = key);
  const encryption = { ...EVERYBODY, onRecoveryKey, backup: false, dehydratedDevice: true };
  const client = await bot(here, "FIRST", { encryption });
  assertEquals((await dehydratedDevices(client)).length, 1);
  const { friend, roomId } = await friendOf(here, client);
  await leave(client);
  await says(friend, roomId, "for the next one");
  const next = await bot(here, "NEXT", { encryption: { ...DEHYDRATED, recoveryKey } });
  assertEquals(await history(next, roomId), ["for the next one by direct"]);
});

Deno.test("A reset of the identity makes another key: who knows the old one reads nothing of later devices", async () => {
  await using here = clientStage();
  for (const [number, store] of [new MemoryStore(), new MemoryStore()].entries()) {
    const client = await bot(here, `BOT${number}`, { store });
    using storage = await client.secretStorage.open({ recoveryKey: KEY });
    const known = await storage.get(NAME) ?? "";
    const [before = ""] = await dehydratedDevices(client);
    const reset = { ...DEHYDRATED, password: PASSWORD, confirm: () => true };
    const isLater = number === 1; // the reset is not asked to see to the dehydrated device: the next start is
    const report = await client.crypto?.resetIdentity({ ...reset, dehydratedDevice: !isLater });
    assertEquals([report?.state, report?.dehydratedDevice], ["reset", isLater ? undefined : "on"]);
    await client.close();
    const again = await bot(here, `BOT${number}`, { store });
    assertEquals(await outcomeOf(again), "on");
    const [after = ""] = await dehydratedDevices(again);
    assert(after !== before);
    const now = await storage.get(NAME) ?? "";
    assert(now !== known && now !== "");
    const { device_data } = await again.raw.getDehydratedDevice();
    const opened = (secret: string) =>
      readDeviceData(vodozemac, device_data, Uint8Array.fromBase64(secret))?.curve25519Key;
    assertEquals([opened(known), opened(now)], [undefined, after]);
    assert(!(await storage.names()).includes("m.dehydrated_device"));
    assertEquals([await outcomeOf(again), await storage.get(NAME)], ["on", now], "once is enough");
    await leave(again);
  }
});

Deno.test("A reset replaces the key under each name that it is stored under", async () => {
  await using here = clientStage();
  const { storage } = await before(here);
  using _storage = storage;
  const known = new Uint8Array(32).fill(5).toBase64();
  await storage.set("m.dehydrated_device", known);
  const client = await bot(here, "BOT");
  const reset = { ...DEHYDRATED, password: PASSWORD, confirm: () => true };
  assertEquals((await client.crypto?.resetIdentity(reset))?.dehydratedDevice, "on");
  const [now, toCome] = [await storage.get(NAME), await storage.get("m.dehydrated_device")];
  assertEquals([now === toCome, now === known], [true, false]);
});

Deno.test("If another client stores a key at the same time, the device is made with what is stored in the end", async () => {
  await using here = clientStage();
  const { client: rival, storage } = await before(here);
  using _storage = storage;
  const faster = new Uint8Array(32).fill(7).toBase64({ omitPadding: true });
  let isFirst = true;
  const raced: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await here.homeserver.fetch(request);
    if (request.method === "PUT" && request.url.endsWith(`/${NAME}`) && isFirst) {
      isFirst = false;
      await storage.set(NAME, faster);
    }
    return answer;
  };
  const client = await bot(here, "BOT", { fetch: raced });
  assertEquals([await outcomeOf(client), await storage.get(NAME), isFirst], ["on", faster, false]);
  const { device_id, device_data } = await rival.raw.getDehydratedDevice();
  using opened = readDeviceData(vodozemac, device_data, Uint8Array.fromBase64(faster));
  assertEquals(opened?.curve25519Key, device_id);
});

Deno.test("After a reset no device is made with the old key, by whatever call", async () => {
  await using here = clientStage();
  const client = await bot(here, "BOT");
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  const [known, devices] = [await storage.get(NAME), await dehydratedDevices(client)];
  const options = { recoveryKey: KEY, backup: false, password: PASSWORD, confirm: () => true };
  assertEquals((await client.crypto?.resetIdentity(options))?.state, "reset");
  const report = await client.crypto?.ensureVerified({ dehydratedDevice: true, backup: false });
  assertEquals([report?.dehydratedDevice, await storage.get(NAME)], ["no-secret", known]);
  assertEquals(await dehydratedDevices(client), devices, "of the identity before");
  assertEquals([await outcomeOf(client), await storage.get(NAME) === known], ["on", false]);
});

Deno.test("A device that another one has made with the old key since a reset is read, and replaced by one with another key", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const first = await bot(here, "FIRST", { store });
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  const known = await storage.get(NAME);
  const options = { recoveryKey: KEY, backup: false, password: PASSWORD, confirm: () => true };
  assertEquals((await first.crypto?.resetIdentity(options))?.state, "reset");
  await first.close();
  const second = await bot(here, "SECOND");
  assertEquals([await outcomeOf(second), await storage.get(NAME)], ["on", known]);
  const before = await dehydratedDevices(second);
  const again = await bot(here, "FIRST", { store });
  assertEquals(await outcomeOf(again), "on");
  assert(await storage.get(NAME) !== known);
  const after = await dehydratedDevices(again);
  assertEquals([before.length, after.length, after[0] === before[0]], [1, 1, false]);
});

Deno.test("A server that shows a device of before a reset does not have the old key stay in use", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  let old: Record<string, unknown> | undefined;
  const { fetch } = watched(here, async (request) => {
    if (request.method === "PUT" && old === undefined) {
      old = await request.clone().json();
      await here.homeserver.fetch(request);
      return refusal(502, "M_UNKNOWN"); // so that the device does not know that it is there
    }
    if (request.method !== "GET" || old === undefined) return undefined;
    return Response.json({ device_id: old.device_id, device_data: old.device_data });
  });
  const first = await bot(here, "FIRST", { store, fetch });
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  const known = await storage.get(NAME);
  const options = { recoveryKey: KEY, backup: false, password: PASSWORD, confirm: () => true };
  assertEquals((await first.crypto?.resetIdentity(options))?.state, "reset");
  await first.close();
  await bot(here, "SECOND"); // which knows of no reset, and makes one with the old key
  const again = await bot(here, "FIRST", { store, fetch });
  assertEquals([await outcomeOf(again), await storage.get(NAME) === known], ["on", false]);
});

Deno.test("The stored key stays that of the device while none can be signed, as after a reset that was cut off", async () => {
  await using here = clientStage();
  let isCut = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (isCut && request.url.endsWith("/device_signing/upload")) throw new TypeError("the network is gone");
    return await here.homeserver.fetch(request);
  };
  const client = await bot(here, "BOT", { store: new MemoryStore(), fetch });
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  const known = await storage.get(NAME);
  assert(known !== undefined);
  isCut = true;
  const reset = {
    password: PASSWORD,
    confirm: () => true,
    recoveryKey: KEY,
    dehydratedDevice: true,
  } as const;
  await assertRejects(async () => await client.crypto?.resetIdentity({ ...reset, backup: false }));
  await here.clock.tick(86_400_000);
  await client.syncOnce();
  assertEquals(await storage.get(NAME), known);
  await client.close();
});
