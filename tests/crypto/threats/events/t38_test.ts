/** The server lies about the history visibility of a room. */

import { assertEquals, assertNotEquals } from "@std/assert";
import { device } from "../../sharing/fakes.ts";
import { BOB, stateEvent } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

const bob = device(BOB, "BOB1");
const visibility = (value: unknown) => stateEvent("m.room.history_visibility", { history_visibility: value });

Deno.test("T38: a key that must not be passed on never becomes one that may be", async () => {
  const stage = await Stage.open();
  stage.room.visibility = "joined";
  const before = await stage.send();
  await stage.sync([visibility("world_readable")]);
  const after = await stage.send();
  assertNotEquals(after.session_id, before.session_id);
  const flags = new Map(
    stage.keysOf(bob).map(({ session_id, shared_history }) => [session_id, shared_history]),
  );
  assertEquals([flags.get(before.session_id), flags.get(after.session_id)], [false, true]);
  assertEquals(stage.copies.added.map(({ sharedHistory }) => sharedHistory), [false, true]);
});

for (
  const lie of ["public", "SHARED", "", null, 1, ["shared"], { history_visibility: "shared" }, undefined]
) {
  Deno.test(`T38: ${JSON.stringify(lie) ?? "nothing"} is no visibility that lets keys be passed on`, async () => {
    const stage = await Stage.open();
    await stage.describe();
    await stage.sync([visibility(lie)]);
    await stage.send();
    assertEquals(stage.keysOf(bob).map(({ shared_history }) => shared_history), [false]);
  });
}

Deno.test("T38: a visibility under a state key says nothing", async () => {
  const stage = await Stage.open();
  stage.room.visibility = "joined";
  const before = await stage.send();
  await stage.sync([{ ...visibility("shared"), state_key: "x" }]);
  assertEquals((await stage.send()).session_id, before.session_id);
});
