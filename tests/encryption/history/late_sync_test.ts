import { assertEquals } from "@std/assert";
import { history } from "../identity/scene.ts";
import { clientStage } from "../../client/support/stage.ts";
import { GUEST, roomOf, sharer } from "./scene.ts";

Deno.test("The history comes too if the profile changes before the join was synced", async () => {
  await using here = clientStage();
  const [host, guest] = [await sharer(here, "host"), await sharer(here, "guest")];
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await guest.syncOnce();
  await guest.joinRoom(roomId);
  await guest.setDisplayname("Guest");
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals(await history(guest, roomId), ["one by bundle"]);
});

Deno.test("The history comes too if so much was said since the join that the timeline lacks it", async () => {
  await using here = clientStage();
  const [host, guest] = [await sharer(here, "host"), await sharer(here, "guest")];
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await guest.syncOnce();
  await guest.joinRoom(roomId);
  for (let count = 0; count < 60; count++) {
    await host.sendStateEvent(roomId, "m.room.topic", { topic: `${count}` });
  }
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals(await history(guest, roomId), ["one by bundle"]);
});
