/** A server, or users, that send to a dehydrated device without end. */

import { assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { read } from "../../engine/bot.ts";
import { dehydrationScene } from "../../dehydration/stage.ts";

const MALLORY: UserID = "@mallory:example.org";

Deno.test("T119: a server whose pages have no end, or lead back to where they began, is not asked for ever", async () => {
  const scene = await dehydrationScene();
  const { bot: { engine: { steps } }, upload: { device_id: deviceId } } = scene;
  const junk = Array.from({ length: 100 }, () => null);
  const page = async (from: string, events: readonly unknown[] = junk) =>
    (await steps.receiveRehydrated({ deviceId, events, next: { from } })).reading?.isRead;
  const again = async () => {
    await steps.clearRehydration();
    assertEquals(await scene.begin(), "reading");
  };
  await again();
  assertEquals([await page("d1"), await page("d2"), await page("d2")], [false, false, true]);
  await again();
  assertEquals([await page("d".repeat(4_096)), await page("d".repeat(4_097))], [false, true]);
  await again();
  assertEquals(
    [await page("d1", Array.from({ length: 99_999 }, () => null)), await page("d2", [null])],
    [false, true],
  );
});

Deno.test("T119: a user who begins sessions by the thousand keeps nobody else's keys out, and fills no store", async () => {
  const scene = await dehydrationScene();
  const { server, bot, alice, roomKey, receive, message } = scene;
  await scene.begin();
  const mallory = Array.from({ length: 1_010 }, (_, at) => new RawDevice(server, MALLORY, `EVIL${at}`));
  for (let start = 0; start < mallory.length; start += 101) {
    await receive(...mallory.slice(start, start + 101).map((each) => message(each, "m.dummy", {})));
  }
  const session = new RawSession();
  assertEquals((await receive(roomKey(alice, session))).reading?.keys, 1);
  assertEquals(await read(scene, session), "hello");
  let kept = 0;
  for await (const _ of bot.store.list(["crypto", "rehydrated_session"])) kept++;
  assertEquals(kept, 1_001);
  while (!await bot.engine.steps.clearRehydration());
  assertEquals(await Array.fromAsync(bot.store.list(["crypto", "rehydrated_session"])), []);
});
