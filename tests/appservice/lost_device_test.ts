/**
 * Homeservers delete devices that were not used for long, and administrators do, too.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { DeviceConflictError, UnknownDeviceError } from "@greenroom/matrix/errors";
import { EVERYBODY } from "../support/everybody.ts";
import { heard } from "../client/support/stage.ts";
import { type AppserviceScene, appserviceScene } from "./scene.ts";

const DEVICE = "GREENROOM";

/** Deletes the device of a user, as the homeserver does. */
async function loseDevice({ stage: { homeserver } }: AppserviceScene, userId: string): Promise<void> {
  const query = new URLSearchParams({ user_id: userId });
  const { status } = await homeserver.fetch(
    `${homeserver.baseUrl}/_matrix/client/v3/devices/${DEVICE}?${query}`,
    { method: "DELETE", headers: { authorization: "Bearer the-token-of-the-appservice" }, body: "{}" },
  );
  assertEquals(status, 200);
}

Deno.test("A user whose device was deleted says so once, and then acts with a new one that others can read", async () => {
  await using scene = await appserviceScene({ encryption: true });
  const { alice, roomId, serving, stage } = scene;
  const read = heard(alice);
  await alice.syncOnce();
  const ghost = serving?.intent("_echo_polly");
  await ghost?.sendText(roomId, "before");
  await alice.syncOnce();
  await loseDevice(scene, "@_echo_polly:localhost");
  await assertRejects(async () => await ghost?.sendText(roomId, "lost"), UnknownDeviceError);
  const after = ghost?.sendText(roomId, "after");
  for (let second = 0; second < 30; second++) await stage.clock.tick(1_000);
  await after;
  await alice.syncOnce();
  assertEquals(read, ["before", "after"]);
});

Deno.test("A user whose device was deleted acts with a new one as soon as nothing is under way with the old one any more", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { alice, roomId, stage } = scene;
  const held = Promise.withResolvers<void>();
  let isLost = true;
  const serving = scene.serving = scene.instance({
    async fetch(request, init) {
      const { url } = new Request(request);
      if (url.includes("/whoami")) await held.promise;
      if (!isLost && /keys.query.*_echo_polly/.test(url)) {
        isLost = true;
        await loseDevice(scene, "@_echo_polly:localhost");
      }
      return await stage.homeserver.fetch(request, init);
    },
  });
  const read = heard(alice);
  await alice.syncOnce();
  const ghost = serving.intent("_echo_polly");
  await ghost.sendText(roomId, "before");
  const underway = assertRejects(async () => await ghost.whoami(), UnknownDeviceError);
  for (let second = 0; second < 30; second++) await stage.clock.tick(1_000);
  isLost = false;
  await assertRejects(async () => await ghost.sendText(roomId, "lost"));
  assert(isLost);
  const after = ghost.sendText(roomId, "after");
  await stage.clock.tick(1_000);
  held.resolve();
  for (let second = 0; second < 30; second++) await stage.clock.tick(1_000);
  await after;
  await underway;
  await alice.syncOnce();
  assertEquals(read, ["before", "after"]);
});

Deno.test("What a user could not share since the device was deleted, the next device shares with everybody", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { roomId, stage } = scene;
  let isLost = true;
  const serving = scene.serving = scene.instance({
    async fetch(request, init) {
      const { url } = new Request(request);
      if (!isLost && /sendToDevice.*_echo_polly/.test(url)) {
        isLost = true;
        await loseDevice(scene, "@_echo_polly:localhost");
      }
      return await stage.homeserver.fetch(request, init);
    },
  });
  await serving.intent("_echo_polly").sendText(roomId, "before");
  const members = ["bob", "carol", "dan"].map((name) => stage.client(name, { encryption: EVERYBODY }));
  const read = members.map((member) => heard(member));
  for (const member of members) {
    await member.joinRoom(roomId);
    await member.syncOnce();
    await member.sendText(roomId, "hello"); // with that the user's device has a session with the member's
  }
  for (let second = 0; second < 30; second++) await stage.clock.tick(1_000);
  isLost = false;
  await assertRejects(async () => await serving.intent("_echo_polly").sendText(roomId, "lost"));
  assert(isLost);
  const after = serving.intent("_echo_polly").sendText(roomId, "after");
  for (let second = 0; second < 30; second++) await stage.clock.tick(1_000);
  await after;
  for (const member of members) await member.syncOnce();
  assertEquals(read.map((texts) => texts.at(-1)), ["after", "after", "after"]);
});

Deno.test("An application service whose own device was deleted ends and says so, and a new process goes on", async () => {
  await using scene = await appserviceScene({ encryption: true });
  const { alice, roomId, serving, stage } = scene;
  const done = serving?.start();
  await serving?.botClient.joinRoom(roomId);
  await alice.sendText(roomId, "a");
  await stage.until(() => scene.answered.length > 2);
  await stage.settle();
  await loseDevice(scene, "@echo:localhost");
  const ended = assertRejects(async () => await done, Error, "device");
  await alice.crypto?.discardGroupSession(roomId);
  await alice.sendText(roomId, "b");
  for (let minute = 0; minute < 2; minute++) await stage.clock.tick(60_000);
  await ended;
  await serving?.close();
  const read: string[] = [];
  const next = scene.serving = scene.instance();
  next.on("m.room.message", ({ content }) => void read.push(content.body));
  assert(await next.handlePending());
  await alice.syncOnce();
  await alice.crypto?.discardGroupSession(roomId);
  await alice.sendText(roomId, "c");
  for (let second = 0; second < 5; second++) await stage.clock.tick(1_000);
  await stage.until(() => read.includes("c"));
});

Deno.test("Where no process stays, an own device that was deleted is made anew with the next transaction", async () => {
  await using scene = await appserviceScene({ encryption: true });
  const { alice, roomId, serving, stage } = scene;
  const read: string[] = [];
  serving?.on("m.room.message", ({ content }) => void read.push(content.body));
  await serving?.botClient.joinRoom(roomId);
  await alice.sendText(roomId, "a");
  await stage.until(() => read.length === 1);
  await loseDevice(scene, "@echo:localhost");
  await alice.crypto?.discardGroupSession(roomId);
  await alice.sendText(roomId, "for nobody"); // its key was for the device that is gone
  for (let second = 0; second < 5; second++) await stage.clock.tick(1_000);
  assert(await serving?.handlePending());
  await alice.syncOnce();
  await alice.crypto?.discardGroupSession(roomId);
  await alice.sendText(roomId, "b");
  await stage.until(() => read.includes("b"));
});

Deno.test("A process without its store takes no transaction once its start has failed: the homeserver keeps it for another", async () => {
  await using scene = await appserviceScene({ encryption: true });
  const { alice, roomId, serving, stage } = scene;
  await serving?.botClient.joinRoom(roomId);
  await alice.sendText(roomId, "a");
  await stage.settle();
  await serving?.close();
  const bare = scene.serving = scene.instance({ store: new MemoryStore() });
  await assertRejects(async () => await bare.start(), DeviceConflictError, "another deviceId");
  const answered = scene.answered.length;
  await alice.sendText(roomId, "b");
  await stage.until(() => scene.answered.length > answered);
  assertEquals(scene.answered.at(-1), 503);
  const read: string[] = [];
  const next = scene.serving = scene.instance();
  next.on("m.room.message", ({ content }) => void read.push(content.body));
  for (let second = 0; second < 10; second++) await stage.clock.tick(1_000);
  await stage.until(() => read.length === 1);
  assertEquals(read, ["b"]);
});
