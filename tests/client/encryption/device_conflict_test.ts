/**
 * A start with a store that does not have the keys of the device: nothing of it is overwritten.
 *
 * Over 300 lines because each way in which a server shows other keys, or none, is a scene of its own.
 *
 * @module
 */

import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { type Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import { DeviceConflictError, EncryptionError, UnknownError } from "@greenroom/matrix/errors";
import type { DeviceKeys } from "@greenroom/matrix/types";
import { rejectionOf } from "../../actors/kernel/support.ts";
import { begin, twoInARoom } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const BOT = "@bot:localhost";
const LOST = "The server has lost the keys of this device: uploading them again";

/** Bot's device, with its keys in a store, in a room with Alice. */
async function botInARoom(stage: ClientStage) {
  const { alice, roomId } = await twoInARoom(stage);
  const store = new MemoryStore();
  const bot = stage.client("bot", { encryption: EVERYBODY, store });
  await begin(stage, bot);
  await alice.inviteUser(roomId, BOT);
  await bot.joinRoom(roomId);
  await stage.settle();
  await bot.sendText(roomId, "Here I am");
  return { alice, bot, roomId, store };
}

/** What the server shows of a user's devices. */
const shownTo = async (client: Client) => (await client.queryKeys([BOT])).device_keys?.[BOT];

const uploads = ({ homeserver }: ClientStage) =>
  homeserver.requests.filter("POST", "/keys/upload").filter(({ user }) => user === BOT).length;

Deno.test("A start with an empty store is refused, overwrites nothing, and the right store goes on", async () => {
  await using stage = clientStage();
  const { alice, bot, roomId, store } = await botInARoom(stage);
  await bot.close();
  const [before, made] = [await shownTo(alice), uploads(stage)];
  const ways: ((client: Client) => Promise<unknown>)[] = [
    (client) => client.start(),
    (client) => client.syncOnce(),
    (client) => client.sendText(roomId, "It is me"),
    (client) => client.shareGroupSession(roomId),
  ];
  for (const way of ways) {
    const empty = stage.client("bot", { encryption: EVERYBODY });
    const error = await rejectionOf(way(empty));
    assertInstanceOf(error, DeviceConflictError, String(way));
    for (const text of [`${empty.deviceId} of ${BOT}`, "volume", "token", "second store", "log in again"]) {
      assertStringIncludes(error.message, text);
    }
    if (way === ways[0]) await assertRejects(() => empty.done); // all has stopped
    else await assertRejects(() => empty.sendText(roomId, "Really"), DeviceConflictError);
    await empty.close();
  }
  assertEquals([await shownTo(alice), uploads(stage)], [before, made]);
  const right = stage.client("bot", { encryption: EVERYBODY, store });
  const texts = heard(alice);
  const atBot = heard(right);
  await begin(stage, right);
  await right.sendText(roomId, "Back again");
  await alice.sendText(roomId, "Welcome");
  await stage.until(() => texts.includes("Back again") && atBot.includes("Welcome"));
});

Deno.test("Of two processes that begin at the same time with empty stores, one goes on and the other is refused", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const asked = stage.homeserver.faults.add({
    kind: "hold-after",
    match: { path: "/keys/query", user: BOT },
  });
  const both = [1, 2].map(() => stage.client("bot", { encryption: EVERYBODY }));
  const ends = new Map<Client, unknown>();
  for (const client of both) client.start().catch((error) => ends.set(client, error));
  await stage.until(() => asked.hits === 2);
  asked.remove(); // both were told that there is nothing yet
  await stage.until(() => ends.size > 0);
  await stage.settle();
  assertEquals([...ends.values()].map((error) => error instanceof DeviceConflictError), [true]);
  const winner = both.find((client) => !ends.has(client));
  assert(winner !== undefined);
  const identity = await winner.crypto?.getOwnDeviceKeys();
  assertEquals((await shownTo(alice))?.[winner.deviceId ?? ""]?.keys, identity?.deviceKeys.keys);
  await alice.inviteUser(roomId, BOT);
  await winner.joinRoom(roomId);
  const [atAlice, atBot] = [heard(alice), heard(winner)];
  await winner.sendText(roomId, "Here I am");
  await alice.sendText(roomId, "Welcome");
  await stage.until(() => atAlice.includes("Here I am") && atBot.includes("Welcome"));
});

Deno.test("One-time keys that the server has of a device that is new are another's, in the words of each server", async () => {
  const words = "signed_curve25519:AAAA one-time key already exists";
  for (const body of [{ errcode: "M_UNKNOWN", error: words }, { [BOT]: { DEVICE: { error: words } } }]) {
    await using stage = clientStage();
    const bot = stage.client("bot", { encryption: EVERYBODY });
    const match = { path: "/keys/upload", user: BOT } as const;
    stage.homeserver.faults.add({ kind: "status", status: 400, body, match });
    assertInstanceOf(await rejectionOf(bot.syncOnce()), DeviceConflictError);
    assertEquals(uploads(stage), 1);
  }
});

Deno.test("T151: A client goes on after one answer with other keys of its device, which is an alarm", async () => {
  await using stage = clientStage();
  const { alice, bot, roomId } = await botInARoom(stage);
  const { deviceId = "" } = bot;
  const alarms: unknown[] = [];
  bot.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm));
  const keys = { [`curve25519:${deviceId}`]: "Y3VydmU", [`ed25519:${deviceId}`]: "ZWQ" };
  const shown = { user_id: BOT, device_id: deviceId, algorithms: [], keys, signatures: {} };
  const body = { device_keys: { [BOT]: { [deviceId]: shown } } };
  const match = { path: "/keys/query", user: BOT } as const;
  stage.homeserver.faults.add({ kind: "status", status: 200, body, match, times: 1 });
  const second = stage.client("bot", { encryption: EVERYBODY, accessToken: "" });
  await second.login({ identifier: BOT, password: "password of bot" });
  await second.crypto?.start(); // has the first look its own user up
  await stage.until(() => alarms.length > 0);
  assertEquals(alarms, [{ kind: "keys-changed", userId: BOT, deviceId }]);
  const [atAlice, atBot] = [heard(alice), heard(bot)];
  await bot.sendText(roomId, "Still me");
  await alice.sendText(roomId, "Good");
  await stage.until(() => atAlice.includes("Still me") && atBot.includes("Good"));
});

Deno.test("A device whose keys another program replaces while it runs stops when that stays so", async () => {
  await using stage = clientStage();
  const { bot, roomId } = await botInARoom(stage);
  const { deviceId = "" } = bot;
  const running = bot.syncingTask;
  running?.catch(() => {});
  const keys = { [`curve25519:${deviceId}`]: "Y3VydmU", [`ed25519:${deviceId}`]: "ZWQ" };
  const deviceKeys: DeviceKeys = { user_id: BOT, device_id: deviceId, algorithms: [], keys, signatures: {} };
  await stage.client("bot").uploadKeys({ deviceKeys });
  for (let minute = 0; minute < 10; minute++) {
    await stage.settle();
    await stage.clock.tick(60_000);
  }
  await stage.settle();
  const error = await rejectionOf(running ?? Promise.resolve());
  assertInstanceOf(error, DeviceConflictError);
  assertStringIncludes(error.message, "log in again");
  await assertRejects(() => bot.sendText(roomId, "Still me"));
  await assertRejects(() => bot.done);
});

Deno.test("Nothing is uploaded or encrypted before the server has said what it has of the device", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const bot = stage.client("bot", { encryption: EVERYBODY });
  await alice.inviteUser(roomId, BOT);
  await bot.joinRoom(roomId);
  const down = stage.homeserver.faults.add({
    kind: "status",
    status: 500,
    match: { path: "/keys/query", user: BOT },
  });
  bot.start();
  await stage.settle();
  const error = await rejectionOf(bot.sendText(roomId, "Too early"));
  assertInstanceOf(error, EncryptionError);
  assertStringIncludes(error.message, "try again");
  assertEquals(uploads(stage), 0);
  down.remove();
  await stage.clock.tick(60_000);
  const texts = heard(bob);
  await bot.sendText(roomId, "In time");
  await stage.until(() => texts.includes("In time"));
  assertEquals(uploads(stage), 2);
});

Deno.test("A start as a user with the token of another is refused, sends nothing, and leaves the store as it was", async () => {
  for (const encryption of [EVERYBODY, false] as const) {
    await using stage = clientStage();
    const { bot, store } = await botInARoom(stage);
    await bot.close();
    const before = await Array.fromAsync(store.list([]));
    const { accessToken, userId: mallory } = stage.homeserver.createUser("mallory");
    const options = { encryption, store, accessToken, mxid: BOT } as const;
    for (const way of ["start", "syncOnce"] as const) {
      const client = stage.client("bot", options);
      const error = await rejectionOf(client[way]());
      assertInstanceOf(error, DeviceConflictError, way);
      for (const text of [BOT, mallory]) assertStringIncludes(error.message, text);
      await client.close();
    }
    const sent = [...stage.homeserver.requests].filter(({ user }) => user === mallory);
    assertEquals([...new Set(sent.map(({ path }) => path.replace(/.*\//, "")))], ["whoami"]);
    assertEquals(await Array.fromAsync(store.list([])), before);
  }
});

Deno.test("A start with an empty store takes nothing of what was sent to the device while the server can't say whose it is", async () => {
  await using stage = clientStage();
  const { alice, bot, roomId, store } = await botInARoom(stage);
  await bot.close();
  await alice.sendText(roomId, "While you were away");
  const down = stage.homeserver.faults.add({
    kind: "status",
    status: 500,
    match: { path: "/keys/query", user: BOT },
  });
  assertInstanceOf(
    await rejectionOf(stage.client("bot", { encryption: EVERYBODY }).syncOnce()),
    UnknownError,
  );
  const empty = stage.client("bot", { encryption: EVERYBODY });
  let refused: unknown;
  empty.start().catch((error) => refused = error);
  const passUntil = async (condition: () => boolean) => {
    for (let round = 0; round < 1_000 && !condition(); round++) await stage.clock.tick(5_000);
  };
  await passUntil(() => down.hits > 4);
  down.remove();
  await passUntil(() => refused !== undefined);
  assertInstanceOf(refused, DeviceConflictError);
  await assertRejects(() => empty.done);
  const right = stage.client("bot", { encryption: EVERYBODY, store });
  const texts = heard(right);
  await begin(stage, right);
  await stage.until(() => texts.includes("While you were away"));
});

for (const lost of ["one-time keys", "device keys"] as const) {
  Deno.test(`An upload of ${lost} whose answer was lost is looked at, and made again as it was`, async () => {
    await using stage = clientStage();
    const { alice, bob, roomId } = await twoInARoom(stage);
    const bot = stage.client("bot", { encryption: EVERYBODY });
    await alice.inviteUser(roomId, BOT);
    await bot.joinRoom(roomId);
    stage.homeserver.faults.add({
      kind: "body",
      body: "<html>",
      match: { path: "/keys/upload", user: BOT },
      skip: lost === "device keys" ? 1 : 0,
      times: 1,
    });
    await begin(stage, bot);
    await stage.settle();
    const [atBot, atBob] = [heard(bot), heard(bob)];
    await bot.sendText(roomId, "Here I am");
    await bob.sendText(roomId, "Welcome");
    await stage.until(() => atBob.includes("Here I am") && atBot.includes("Welcome"));
    assertEquals(stage.log.lines.filter(([, message]) => message === LOST), []);
    const paths = [...stage.homeserver.requests].filter(({ user }) => user === BOT).map(({ path }) => path);
    const first = paths.findIndex((path) => path.endsWith("/keys/upload"));
    const between = paths.slice(first + 1, paths.findLastIndex((path) => path.endsWith("/keys/upload")));
    assert(between.some((path) => path.endsWith("/keys/query")), between.join());
  });
}

Deno.test("A server that has lost the keys is given the same again; one that never shows them, three times an hour", async () => {
  await using stage = clientStage();
  const { alice, bot, store, roomId } = await botInARoom(stage);
  await bot.close();
  const before = await shownTo(alice);
  const body = { device_keys: { [BOT]: {} } };
  const blind = stage.homeserver.faults.add({
    kind: "body",
    body,
    match: { path: "/keys/query", user: BOT },
  });
  const made = uploads(stage);
  const again = stage.client("bot", { encryption: EVERYBODY, store });
  await begin(stage, again);
  assertEquals(uploads(stage), made + 1);
  const [own] = Object.values(before ?? {});
  assert(own !== undefined);
  const other = stage.client("bot"); // has the server tell of a change, again and again
  for (let round = 0; round < 10; round++) {
    await other.uploadKeys({ deviceKeys: { ...own, algorithms: [`${round}`] } });
    await stage.settle();
  }
  assertEquals(stage.log.lines.filter(([, message]) => message === LOST).length, 3);
  blind.remove();
  const texts = heard(alice);
  await again.sendText(roomId, "I am still here");
  await stage.until(() => texts.includes("I am still here"));
});

Deno.test("No new device detects lost keys on the server, however late and in whatever order answers come", async () => {
  await using stage = clientStage();
  const { homeserver, clock } = stage;
  let requests = 0;
  const late: ClientOptions["fetch"] = async (input, init) => {
    const wait = (requests++ * 7919) % 50;
    await clock.delay(wait % 7);
    const response = await homeserver.fetch(input, init);
    await clock.delay(wait);
    return response;
  };
  const fresh = Array.from(
    { length: 50 },
    (_, n) => stage.client(`fresh${n}`, { encryption: EVERYBODY, fetch: late }),
  );
  for (const client of fresh) client.start();
  for (let round = 0; round < 40; round++) await clock.tick(10);
  const published = homeserver.requests.filter("POST", "/keys/upload").map(({ user }) => user);
  assertEquals(new Set(published).size, 50);
  assertEquals(stage.log.lines.filter(([, message]) => message === LOST), []);
});
