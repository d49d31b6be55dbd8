import { assert, assertEquals, assertRejects } from "@std/assert";
import { RoomGaps } from "../../../src/actors/syncer/room_gaps.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { requestError } from "../../../src/errors/errcodes.ts";
import { joined, message, OWN, timeline } from "../support/events.ts";

Deno.test("How often a gap is given up is counted for each response by itself", async () => {
  let asked = 0;
  const gaps = new RoomGaps({
    requests: {
      getMessages() {
        asked++;
        const status = 502;
        return Promise.reject(
          requestError({ operation: "getMessages", method: "GET", path: "/", status, body: {} }),
        );
      },
    },
    filter: { members: "all", timeline: undefined },
    registry: { wantsHistory: false },
    patience: 2,
    signal: new AbortController().signal,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const view = { own: OWN, before: { isJoined: true, shown: " $old ", entries: [] } };
  for (const since of ["one", "two", "three"]) {
    const read = async () => {
      const [room] =
        takeApart(joined(timeline([message("new")], { limited: true, prev_batch: "p" })), OWN).rooms;
      assert(room !== undefined);
      await gaps.fill({ room, view, since }, "next", 100);
      return room.gap?.reason;
    };
    await assertRejects(read);
    await assertRejects(read);
    assertEquals(await read(), "refused");
  }
  assertEquals(asked, 9);
});
