/**
 * Application services among clients that believe signed devices alone.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { DeviceID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../client/support/encrypted_room.ts";
import { heard } from "../client/support/stage.ts";
import { KEY as RECOVERY_KEY } from "../encryption/identity/scene.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { appserviceScene } from "./scene.ts";

Deno.test("Who speaks first in a room that was encrypted before the own user came is looked up, and heard", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { stage } = scene;
  const serving = scene.serving = scene.instance({ encryption: { sendTo: "all" } });
  const read = heard(serving.botClient);
  const bob = stage.client("bob", { encryption: { ...EVERYBODY, recoveryKey: RECOVERY_KEY } });
  await bob.crypto?.start();
  const roomId = await bob.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await serving.botClient.joinRoom(roomId);
  await serving.handlePending();
  await bob.syncOnce();
  await bob.sendText(roomId, "hello");
  await stage.until(() => read.length > 0);
  assertEquals(read, ["hello"]);
});

Deno.test("With a recovery key each user that sends has an identity of its own, which a new store finds again", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { stage } = scene;
  const bob = stage.client("bob", { encryption: { recoveryKey: RECOVERY_KEY } });
  const read = heard(bob);
  await bob.crypto?.start();
  const roomId = await bob.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  const masters = new Set<string | undefined>();
  for (const text of ["one", "two"]) { // each with a store of its own
    const serving = scene.serving = scene.instance({
      encryption: { recoveryKey: RECOVERY_KEY },
      store: new MemoryStore(),
      deviceId: text.toUpperCase() as DeviceID,
    });
    await serving.intent("_echo_polly").sendText(roomId, text);
    await bob.syncOnce();
    await bob.crypto?.idle();
    masters.add((await bob.crypto?.getIdentity("@_echo_polly:localhost"))?.master);
  }
  assertEquals(read, ["one", "two"]);
  assertEquals([masters.size, masters.has(undefined)], [1, false]);
});
