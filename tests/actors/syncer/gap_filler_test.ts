import { assert, assertEquals, assertRejects } from "@std/assert";
import { fillGap, GapPages, type GapReader } from "../../../src/actors/syncer/gap_filler.ts";
import { type RoomPart, takeApart, type TimelineEvent } from "../../../src/actors/syncer/sync_parts.ts";
import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import { requestError } from "../../../src/errors/errcodes.ts";
import { NetworkError, RequestTimeoutError, ServiceResponseError } from "@greenroom/matrix/errors";
import {
  type JsonObject,
  type MessagesResponse,
  PaginationDirection,
  SyncStream,
} from "@greenroom/matrix/types";
import { joined, message, OWN, ROOM, timeline } from "../support/events.ts";

/** A room whose timeline has a gap in front of it, which ends at `prev_batch`. */
function gap(more: JsonObject = { limited: true, prev_batch: "p" }): RoomPart {
  const [room] = takeApart(joined(timeline([message("new")], more)), OWN).rooms;
  assert(room !== undefined);
  return room;
}

type Page = { chunk: unknown[]; end?: string } | Error;

/** Gives one page after the other, and keeps what it was asked. */
function reader(pages: Page[], more: Partial<Pick<GapReader, "limit" | "filter">> = {}) {
  const asked: unknown[][] = [];
  const getMessages: SyncRequests["getMessages"] = (...args) => {
    asked.push(args);
    const page = pages[asked.length - 1];
    if (page instanceof Error) return Promise.reject(page);
    return Promise.resolve({ start: "s", ...page } as MessagesResponse);
  };
  return {
    asked,
    requests: { getMessages },
    since: "since",
    limit: 1_000,
    filter: undefined,
    signal: undefined,
    ...more,
  };
}

function ids(room: RoomPart): string[] {
  return room.filled.map(({ event_id }) => event_id);
}

function refused(status: number, errcode: string): Error {
  return requestError({ operation: "getMessages", method: "GET", path: "/", status, body: { errcode } });
}

Deno.test("fillGap() reads back to the last token and has the events in order, as of the timeline", async () => {
  const room = gap();
  const filter = { types: ["m.room.message"] };
  const pages = reader([{ chunk: [message("4"), message("3")], end: "p2" }, {
    chunk: [message("2"), message("1")],
  }], {
    filter,
  });
  await fillGap(room, pages);
  assertEquals(ids(room), ["$1", "$2", "$3", "$4"]);
  assertEquals([room.limited, room.prevBatch], [false, undefined]);
  const options = { toToken: "since", limit: 100, filterJson: filter, signal: undefined };
  assertEquals(pages.asked, [[ROOM, "b", "p", options], [ROOM, "b", "p2", options]]);
  const tags = room.filled.map(({ source, room_id }) => [source, room_id]);
  assertEquals(tags[0], [SyncStream.JOINED_ROOM | SyncStream.TIMELINE, ROOM]);
});

Deno.test("fillGap() leaves out what is no event", async () => {
  const room = gap();
  const chunk = [
    message("2"),
    null,
    {},
    { ...message("x"), sender: 7 },
    message("1"),
  ];
  await fillGap(room, reader([{ chunk }]));
  assertEquals(ids(room), ["$1", "$2"]);
});

Deno.test("fillGap() stops at its limit, and leaves the rest marked as a gap", async () => {
  const room = gap();
  const page = (from: number, end: string) => ({
    chunk: Array.from({ length: 100 }, (_, index) => message(String(from - index))),
    end,
  });
  const pages = reader([page(500, "a"), { ...page(400, "b"), chunk: page(400, "b").chunk.slice(0, 50) }], {
    limit: 150,
  });
  await fillGap(room, pages);
  assertEquals(pages.asked.map(([, , , options]) => (options as { limit: number }).limit), [100, 50]);
  assertEquals([room.filled.length, ids(room)[0], room.limited, room.prevBatch], [150, "$351", true, "b"]);
});

Deno.test("fillGap() counts each event towards its limit once, and no empty page", async () => {
  const room = gap();
  const pages = reader([
    { chunk: [], end: "a" },
    { chunk: [message("4"), message("3")], end: "b" },
    { chunk: [message("3"), message("2")], end: "c" },
    { chunk: [message("1")], end: "d" },
  ], { limit: 3 });
  assertEquals(await fillGap(room, pages), { reason: "limit" });
  assertEquals([...new Set(ids(room))], ["$2", "$3", "$4"]);
  assertEquals([room.limited, room.prevBatch], [true, "c"]);
});

Deno.test("fillGap() holds at most twice its limit where pages say the same again and again", async () => {
  const room = gap();
  const again = Array.from({ length: 99 }, (_, index) => message(`again ${index}`));
  const pages = Array.from({ length: 50 }, (_, index) => ({
    chunk: [...again, message(`${index}`)],
    end: `p${index}`,
  }));
  const end = await fillGap(room, reader(pages, { limit: 200 }));
  assertEquals([end.reason, room.filled.length], ["limit", 400]);
});

Deno.test("fillGap() goes on behind an empty page, and gives up on a server that has no other", async () => {
  const room = gap();
  await fillGap(room, reader([{ chunk: [], end: "p2" }, { chunk: [message("1")] }]));
  assertEquals(ids(room), ["$1"]);
  const empty = reader(Array.from({ length: 99 }, (_, index) => ({ chunk: [], end: `p${index}` })));
  await fillGap(gap(), empty);
  assertEquals(empty.asked.length, 10);
  const standing = reader([{ chunk: [message("1")], end: "p" }]);
  const still = gap();
  await fillGap(still, standing);
  assertEquals([standing.asked.length, still.limited], [1, false]);
});

const refusals: [string, Error][] = [
  ["refuses", refused(403, "M_FORBIDDEN")],
  ["fails", refused(500, "M_UNKNOWN")],
  ["answers nonsense", new ServiceResponseError("no chunk")],
  ["takes too long", new RequestTimeoutError("no progress")],
];
for (const [what, error] of refusals) {
  Deno.test(`fillGap() keeps what it has read when the server ${what}, and leaves the rest marked as a gap`, async () => {
    const room = gap();
    const pages = reader([{ chunk: [message("2")], end: "p2" }, error]);
    assertEquals(await fillGap(room, pages), { reason: "refused", error });
    assertEquals([ids(room), room.limited, room.prevBatch], [["$2"], true, "p2"]);
  });
}

Deno.test("fillGap() fails when the server can't be reached, the token is dead, or its signal aborts", async () => {
  const unreachable = new NetworkError("The connection failed");
  assertEquals(await assertRejects(() => fillGap(gap(), reader([unreachable]))), unreachable);
  const dead = refused(401, "M_UNKNOWN_TOKEN");
  assertEquals(await assertRejects(() => fillGap(gap(), reader([dead]))), dead);
  const ended = new DOMException("stop", "AbortError");
  assertEquals(await assertRejects(() => fillGap(gap(), reader([ended]))), ended);
});

Deno.test("fillGap() asks nothing where there is no token to begin with", async () => {
  const pages = reader([]);
  await fillGap(gap({ limited: true }), pages);
  assertEquals(pages.asked, []);
});

Deno.test("fillGap() takes of a page what belongs to the gap, and stops before the first page that has nothing of it", async () => {
  const room = gap();
  const pages = reader([{ chunk: ["5", "4", "3"].map((text) => message(text)), end: "p2" }, {
    chunk: [message("2")],
    end: "p3",
  }]);
  const sift = (events: readonly TimelineEvent[]) => {
    const found = events.filter(({ event_id }) => ["$5", "$3"].includes(event_id));
    return { events: found, isBefore: found.length === 0 };
  };
  assertEquals(await fillGap(room, { ...pages, sift }), { reason: "closed" });
  assertEquals([ids(room), room.limited, pages.asked.length], [["$3", "$5"], false, 2]);
});

Deno.test("fillGap() stops behind the event that is to be the last", async () => {
  const room = gap();
  const pages = reader([{ chunk: [message("3")], end: "p2" }, {
    chunk: [message("2"), message("1")],
    end: "p3",
  }]);
  const endAmong = (events: readonly TimelineEvent[]) =>
    events.findIndex(({ event_id }) => event_id === "$2");
  assertEquals(await fillGap(room, { ...pages, endAmong }), { reason: "end" });
  assertEquals(ids(room), ["$2", "$3"]);
});

Deno.test("GapPages reads a page once and then has it as it came; what is too much to be kept is read again", async () => {
  const long = message("long", { content: { body: "x".repeat(30_000_000) } });
  const { requests, asked } = reader([{ chunk: [message("1")] }, { chunk: [long] }, { chunk: [long] }]);
  const ask = (pages: GapPages, from: string) => pages.getMessages(ROOM, PaginationDirection.BACKWARD, from);
  const first = new GapPages(requests, []);
  for (const from of ["a", "b", "c"]) await ask(first, from);
  assertEquals(first.news?.map(([what]) => JSON.parse(what)[1]), ["a", "b"]);
  const again = new GapPages(requests, first.news ?? []);
  const { chunk: [event] } = await ask(again, "a");
  assertEquals([event?.event_id, asked.length, again.news], ["$1", 3, undefined]);
});
