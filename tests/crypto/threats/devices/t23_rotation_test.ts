/** A device that vanishes from the server's responses: it can't read on. */

import { assertEquals, assertNotEquals } from "@std/assert";
import { device } from "../../sharing/fakes.ts";
import { BOB } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

for (const told of [true, false]) {
  Deno.test(`T23: a device that vanished from the server's answer can't read on, ${told ? "as" : "though not"} told of`, async () => {
    const stage = await Stage.open();
    const bob = device(BOB, "BOB1");
    const before = await stage.send();
    if (told) await stage.removeDevice(BOB, "BOB1");
    else stage.devices.remove(BOB, "BOB1");
    const after = await stage.send();
    assertNotEquals(after.session_id, before.session_id);
    assertEquals([stage.canRead(bob, before), stage.canRead(bob, after)], [true, false]);
  });
}

Deno.test("T23: a device that vanished and came back before the next event has ended the session all the same", async () => {
  const stage = await Stage.open();
  const bob = device(BOB, "BOB1");
  const before = await stage.send();
  await stage.removeDevice(BOB, "BOB1");
  stage.devices.put(bob);
  assertNotEquals((await stage.send()).session_id, before.session_id);
});
