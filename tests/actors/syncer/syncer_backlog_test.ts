import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import { assertEquals } from "@std/assert";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";
import { heard, response, sinces, syncerStage, UNREACHABLE } from "../support/syncer_stage.ts";

const backlog = () =>
  joined({
    state: { events: [state("m.room.name", { name: "x" })] },
    ...timeline([message("old")]),
    account_data: { events: [{ type: "m.tag", content: {} }] },
  }, {
    next_batch: "t1",
    to_device: { events: [{ type: "m.room_key", sender: "@bob:a", content: {} }] },
    account_data: { events: [{ type: "m.direct", content: {} }] },
  });

for (const setting of ["ignoreInitialSync", "ignoreFirstSync"] as const) {
  Deno.test(`${setting} drops the timeline, and keeps state, account data and messages to the device`, async () => {
    await using here = await syncerStage({ answers: [backlog(), response("t2", "new")] });
    const seen: string[] = [];
    here.api.on((event) => seen.push(event.type));
    here.api.start({ [setting]: true });
    await here.settle();
    assertEquals(seen, ["m.direct", "m.room_key", "m.room.name", "m.tag", "m.room.message"]);
  });
}

Deno.test("ignoreInitialSync delivers the first sync from a stored token, ignoreFirstSync does not", async () => {
  for (
    const [setting, expected] of [["ignoreInitialSync", ["2", "3"]], ["ignoreFirstSync", ["3"]]] as const
  ) {
    await using here = await syncerStage({
      answers: [response("t1", "1"), response("t2", "2"), response("t3", "3")],
    });
    await here.api.syncOnce();
    const texts = heard(here);
    here.api.start({ [setting]: true });
    await here.settle();
    assertEquals(texts, [...expected]);
  }
});

const limited = (token: string, ...texts: string[]) =>
  joined(timeline(texts.map((text) => message(text)), { limited: true, prev_batch: "p" }), {
    next_batch: token,
  });

Deno.test("A limited timeline is filled, or reported as a gap if filling is off", async () => {
  for (const fillGaps of [false, true]) {
    const getMessages = () => Promise.resolve({ start: "s", chunk: [message("3"), message("2")] as never });
    const answers = [response("t1", "1"), limited("t2", "3", "4")];
    await using here = await syncerStage({ answers, requests: { getMessages } });
    const seen = heard(here);
    here.api.on("GAP", ({ room_id, from, to, reason }) => seen.push(`${room_id} ${from} ${to} ${reason}`));
    here.api.start({ fillGaps });
    await here.settle();
    assertEquals(seen, fillGaps ? ["1", "2", "3", "4"] : ["1", `${ROOM} p t1 off`, "3", "4"]);
  }
});

Deno.test("fillGaps does not fill what was before the user came into the room, or what is dropped but for redactions", async () => {
  const asked: unknown[] = [];
  const getMessages: SyncRequests["getMessages"] = (_room, _direction, _from, options) => {
    asked.push(options?.filterJson);
    return Promise.resolve({ start: "s", chunk: [] });
  };
  await using here = await syncerStage({
    answers: [limited("t1", "1"), {
      next_batch: "t2",
      rooms: { join: { "!new": timeline([member(OWN, "join")], { limited: true, prev_batch: "p" }) } },
    }],
    requests: { getMessages },
  });
  here.api.start({ fillGaps: true });
  await here.settle();
  assertEquals([asked, sinces(here)], [[], [undefined, "t1", "t2"]]);
  await here.api.stop();
  here.answers[3] = limited("t3", "3");
  here.api.start({ fillGaps: true, ignoreFirstSync: true });
  await here.settle();
  assertEquals([asked, here.asked.at(-1)?.since], [[{ types: ["m.room.redaction"] }], "t3"]);
});

Deno.test("A gap that can't be read, because the server is gone, has the whole response asked for again", async () => {
  let fails = true;
  const getMessages = () =>
    fails ? Promise.reject(UNREACHABLE) : Promise.resolve({ start: "s", chunk: [message("2")] as never });
  await using here = await syncerStage({
    answers: [response("t1", "1"), limited("t2", "3"), limited("t2", "3")],
    requests: { getMessages },
  });
  const texts = heard(here);
  here.api.start({ fillGaps: true });
  await here.settle();
  assertEquals(texts, ["1"]);
  fails = false;
  await here.clock.tick(5_000);
  assertEquals([texts, sinces(here)], [["1", "2", "3"], [undefined, "t1", "t1", "t2"]]);
});

Deno.test("A first response that has to be asked for again is still the first", async () => {
  let fails = true;
  const prepared = () => fails ? Promise.reject(UNREACHABLE) : Promise.resolve("filter");
  await using here = await syncerStage({
    answers: [response("t1", "old"), response("t2", "new")],
    requests: { createFilter: prepared },
  });
  const texts = heard(here);
  here.api.start({ filterData: {}, ignoreFirstSync: true });
  await here.settle();
  fails = false;
  await here.clock.tick(5_000);
  assertEquals(texts, ["new"]);
});
