/**
 * A member, an unknown user or the server nests JSON thousands of levels deep, in plain events and
 * in encrypted ones: in 64 KiB there is room for 30,000. Code that copies, stores or compares it
 * overflows the stack: the commit fails, or, worse, committed records can't be read any more.
 * Values that are nested deeper than 100 levels are left out and counted; the others arrive.
 *
 * Class of mistake: recursion over a value from outside trusts the value to be shallow.
 */

import { assertEquals } from "@std/assert";
import { Nested, STORES, type SyncBody, victim } from "../victim.ts";

const LEVELS = [101, 3_000, 5_000, 30_000];

/** An event of each section, with something deep in its content, or beside it. */
function deepen(body: SyncBody, roomId: string, deep: Nested): void {
  const content = { deep, membership: "join", body: "deep", msgtype: "m.text" };
  const event = { content, sender: "@alice:localhost", origin_server_ts: 1 };
  const flat = { ...event, content: { body: "flat", msgtype: "m.text" } };
  const bundle = { "m.relations": { "m.replace": { ...event, event_id: "$b", type: "m.room.message" } } };
  const add = (section: SyncBody, ...events: unknown[]) => (section.events ??= []).unshift(...events);
  add(body.account_data ??= {}, { type: "a", content });
  add(body.presence ??= {}, { type: "m.presence", sender: "@alice:localhost", content });
  add(body.to_device ??= {}, { ...event, type: "own" }, { ...event, type: "m.room.encrypted" }, {
    ...event,
    type: "m.room_key.withheld",
  });
  const room = ((body.rooms ??= {}).join ??= {})[roomId] ??= {};
  delete room["org.matrix.msc4222.state_after"]; // what comes in front of the timeline counts
  add(room.account_data ??= {}, { type: "a", content });
  add(room.ephemeral ??= {}, { type: "m.typing", content });
  const state = { type: "m.room.member", event_id: "$1", state_key: "@eve:localhost" };
  const encryption = { type: "m.room.encryption", event_id: "$2", state_key: "" };
  add(room.state ??= {}, { ...event, ...state }, { ...event, ...encryption });
  add(
    room.timeline ??= {},
    { ...event, ...state },
    { ...event, ...encryption },
    { ...event, type: "m.room.message", event_id: "$3" },
    { ...event, type: "m.room.encrypted", event_id: "$4" },
    { ...flat, type: "m.room.message", event_id: "$5", unsigned: { prev_content: deep } },
    { ...flat, type: "m.room.message", event_id: "$6", unsigned: bundle },
    { ...flat, type: "m.room.message", event_id: "$7", deep },
  );
  const invite = { ...event, type: "m.room.member", state_key: "@bot:localhost" };
  (body.rooms.invite ??= {})["!invited"] = { invite_state: { events: [invite] } };
  body.device_lists = { changed: [deep], left: deep };
  body.deep = deep;
}

for (const [name, open] of Object.entries(STORES)) {
  Deno.test(`T64: deeply nested JSON in every section of a response: a bot on a ${name} goes on`, async () => {
    await using bot = await victim(await open());
    const { roomId, log } = bot;
    assertEquals(await bot.live("first"), ["first"]);
    for (const levels of LEVELS) {
      const poison = (body: SyncBody) => deepen(body, roomId, new Nested(levels));
      assertEquals(await bot.live(`shown ${levels}`, poison), [`shown ${levels}`]);
      assertEquals(await bot.live(`after ${levels}`), [`after ${levels}`]);
    }
    const told = log.lines.filter(([, message]) => message === "Left out malformed parts of a sync response");
    assertEquals(told.map(([, , data]) => data?.parts), LEVELS.map(() => 19));
  });
}
