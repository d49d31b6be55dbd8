/** A leave that does not show: the timeline had a gap, or only some members were listed. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { device } from "../../sharing/fakes.ts";
import { BOB, memberEvent } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

const bob = device(BOB, "BOB1");

async function ready(): Promise<Stage> {
  const stage = await Stage.open();
  stage.room.visibility = "invited"; // so that only who has the key can have taken it along
  await stage.send();
  return stage;
}

for (const membership of ["invite", "knock", "leave", "ban"]) {
  Deno.test(`T36: behind a gap, ${membership} hides a leave, and ends the session`, async () => {
    const stage = await ready();
    const before = await stage.send();
    await stage.sync([memberEvent(BOB, membership)], { limited: true });
    assertEquals(await stage.tryToSend(), undefined);
    assertNotEquals((await stage.send()).session_id, before.session_id);
  });
}

Deno.test("T36: a leave that was left out of a lossy response is found in the list of members", async () => {
  const stage = await ready();
  const before = await stage.send();
  stage.noteMember(BOB, "leave");
  await stage.sync([], { limited: true, lossy: true });
  assertEquals(await stage.tryToSend(), undefined);
  assertEquals(await stage.prepare(), { needs: "room" });
  const after = await stage.send();
  assertEquals([stage.canRead(bob, before), stage.canRead(bob, after)], [true, false]);
});

Deno.test("T36: a member list from before a leave does not bring back the user who left", async () => {
  const stage = await ready();
  await stage.restart();
  assertEquals(await stage.prepare(), { needs: "room" });
  const old = [...stage.room.members];
  await stage.member(BOB, "leave");
  await stage.describe(old);
  const event = await stage.send();
  assert(!stage.canRead(bob, event));
});
