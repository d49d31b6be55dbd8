import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Client, MemoryStore, type Store } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { TestClock } from "@greenroom/matrix/testing";
import type { JsonObject } from "@greenroom/matrix/types";
import { joined, member, message, OWN, ROOM, state, timeline } from "../../actors/support/events.ts";

/** A server that is a list of sync responses, by the token before, and of pages of history, by theirs. */
function server(
  syncs: Record<string, JsonObject>,
  pages: Record<string, JsonObject> = {},
): { fetch: typeof fetch; asked: string[] } {
  const asked: string[] = [];
  const fetch = (...given: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const { pathname, searchParams } = new URL(new Request(...given).url);
    if (pathname.endsWith("/sync")) {
      const since = searchParams.get("since") ?? "";
      return Promise.resolve(Response.json(syncs[since] ?? { next_batch: since }));
    }
    if (pathname.endsWith("/messages")) {
      const from = searchParams.get("from") ?? "";
      asked.push(from);
      return Promise.resolve(Response.json(pages[from] ?? { start: from, chunk: [] }));
    }
    return Promise.resolve(Response.json({ versions: ["v1.11"], user_id: OWN }));
  };
  return { fetch, asked };
}

/** How one response follows another. */
interface Way {
  /** Whether there is a new client for each. */
  readonly restarts?: boolean;
  readonly store?: Store;
}

function clientOf(fetch: typeof globalThis.fetch, store?: Store): Client {
  return new Client({
    baseUrl: "https://server.example",
    fetch,
    accessToken: "t",
    mxid: OWN,
    clock: new TestClock(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...(store && { store }),
  });
}

/** What is heard of each of some syncs. */
async function hears(
  fetch: typeof globalThis.fetch,
  count: number,
  { restarts = false, store }: Way = {},
): Promise<string[][]> {
  const begin = (texts: string[]): Client => {
    const client = clientOf(fetch, store);
    client.on("m.room.message", ({ content }) => void texts.push(content.body));
    client.on("JOIN", ({ state_key }) => void (state_key === OWN && texts.push("JOIN")));
    return client;
  };
  const heard: string[][] = [];
  let texts: string[] = [];
  let client = begin(texts);
  for (let index = 0; index < count; index++) {
    await client.syncOnce();
    heard.push(texts.splice(0));
    if (!restarts || index === count - 1) continue;
    await client.close();
    texts = [];
    client = begin(texts);
  }
  await client.close();
  if (store instanceof SqliteStore) await store.close();
  return heard;
}

/** The ways in which two responses follow one another. */
const WAYS: [string, () => Way | Promise<Way>][] = [
  ["live", () => ({})],
  ["with a store", () => ({ store: new MemoryStore() })],
  ["after a restart", () => ({ restarts: true, store: new MemoryStore() })],
  ["after a restart on SQLite", async () => ({ restarts: true, store: await SqliteStore.open(":memory:") })],
];

const isIn = { state: { events: [member(OWN, "join")] } };

/** Messages, and own joins: those that say what the user was before, or not. */
function eventsOf(texts: readonly string[], says = true): JsonObject[] {
  const before = says ? { unsigned: { prev_content: { membership: "invite" } } } : {};
  return texts.map((text) => text === "JOIN" ? member(OWN, "join", before) : message(text));
}

function lines(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
}

function known(count: number): string[] {
  return lines("o", count);
}

/** Known events, of which so many are remembered, and new ones, in any order, some of them twice. */
const orders = fc.record({
  old: fc.integer({ min: 1, max: 90 }),
  picks: fc.array(fc.record({ isNew: fc.boolean(), index: fc.nat(63) }), { minLength: 1, maxLength: 16 }),
}).map(({ old, picks }) => ({
  old,
  order: picks.map(({ isNew, index }) => isNew ? `n${index % 8}` : `o${old - 1 - index % Math.min(old, 64)}`),
}));

function newsIn(order: readonly string[]): string[] {
  return [...new Set(order.filter((text) => !text.startsWith("o")))];
}

/** A history from new to old, in pages, by the tokens that begin with a name. */
function pagesOf(name: string, newestFirst: readonly string[], size: number): Record<string, JsonObject> {
  const pages: Record<string, JsonObject> = {};
  for (let index = 0; index === 0 || index < newestFirst.length; index += size) {
    const token = (at: number): string => at === 0 ? name : `${name}_${at}`;
    pages[token(index)] = {
      start: token(index),
      chunk: eventsOf(newestFirst.slice(index, index + size)).map((event) => ({ ...event, room_id: ROOM })),
      ...(index + size < newestFirst.length && { end: token(index + size) }),
    };
  }
  return pages;
}

for (const [way, optionsOf] of WAYS) {
  Deno.test(`Whatever is shown again among new events, each new one is heard once: ${way}`, async () => {
    await fc.assert(
      fc.asyncProperty(orders, async ({ old, order }) => {
        const { fetch } = server({
          "": joined({ ...isIn, ...timeline(eventsOf(known(old))) }, { next_batch: "t1" }),
          t1: joined(timeline(eventsOf(order)), { next_batch: "t2" }),
          t2: joined(timeline(eventsOf([...order].reverse())), { next_batch: "t3" }),
        });
        const [, second, third] = await hears(fetch, 3, await optionsOf());
        assertEquals([second, third], [newsIn(order), []]);
      }),
      {
        numRuns: 30,
        examples: [
          [{ old: 3, order: ["n0", "n1", "n2", "o0"] }],
          [{ old: 3, order: ["n0", "o0", "n1", "n2"] }],
          [{ old: 70, order: ["n0", "n1", "o6", "n2"] }],
        ],
      },
    );
  });

  Deno.test(`The same holds in a gap, whether or not the server reads on beyond it: ${way}`, async () => {
    const gaps = fc.record({
      order: orders,
      cut: fc.nat(16),
      size: fc.constantFrom(1, 2, 7, 100),
      readsOn: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(gaps, async ({ order: { old, order }, cut, size, readsOn }) => {
        const before = [...lines("h", 150), ...known(old)].reverse();
        const gap = order.slice(0, cut).reverse();
        const { fetch } = server({
          "": joined({ ...isIn, ...timeline(eventsOf(known(old))) }, { next_batch: "t1" }),
          t1: joined(timeline(eventsOf(order.slice(cut)), { limited: true, prev_batch: "gap" }), {
            next_batch: "t2",
          }),
        }, { ...pagesOf("gap", readsOn ? [...gap, ...before] : gap, size), ...pagesOf("t1", before, size) });
        const [, heard] = await hears(fetch, 2, await optionsOf());
        assertEquals(heard, newsIn(order));
      }),
      { numRuns: 30 },
    );
  });

  for (const says of [true, false]) {
    const kind = says ? "with" : "without";
    Deno.test(`However often the own join is shown, what stands behind the first is heard once, ${kind} what was before: ${way}`, async () => {
      const joins = fc.record({
        history: fc.nat(3),
        marks: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        filled: fc.nat(12),
      });
      await fc.assert(
        fc.asyncProperty(joins, async ({ history, marks, filled }) => {
          const behind = marks.flatMap((isJoin, index) => isJoin ? ["JOIN", `n${index}`] : [`n${index}`]);
          const order = [...lines("h", history), "JOIN", ...behind];
          // What a timeline shows of a join was not missed.
          const cut = order.lastIndexOf("JOIN") < filled ? filled : 0;
          const { fetch } = server({
            "": { next_batch: "t1" },
            t1: joined(
              timeline(
                eventsOf(order.slice(cut), says),
                cut === 0 ? {} : { limited: true, prev_batch: "gap" },
              ),
              { next_batch: "t2" },
            ),
            t2: joined(timeline(eventsOf([...order.slice(cut === 0 ? 0 : history), "last"], says)), {
              next_batch: "t3",
            }),
          }, pagesOf("gap", order.slice(0, cut).reverse(), 100));
          const [, second, third] = await hears(fetch, 3, await optionsOf());
          assertEquals([second, third], [["JOIN", ...behind.filter((text) => text !== "JOIN")], ["last"]]);
        }),
        {
          numRuns: 30,
          examples: [
            [{ history: 0, marks: [false, false, false, true], filled: 0 }],
            [{ history: 2, marks: [false, true, true], filled: 0 }],
          ],
        },
      );
    });
  }
}

Deno.test("State that is shown again does not replace what is newer, also not after a restart", async () => {
  const store = new MemoryStore();
  const [old, now] = ["old", "new"].map((name) => state("m.room.name", { name })) as [JsonObject, JsonObject];
  const { fetch } = server({
    "": joined({ ...isIn, ...timeline([old, now, message("o")]) }, { next_batch: "t1" }),
    t1: joined(timeline([old, message("n0")]), { next_batch: "t2" }),
    t2: joined(timeline([message("n1"), old]), { next_batch: "t3" }),
  });
  for (let life = 0; life < 3; life++) {
    const client = clientOf(fetch, store);
    await client.syncOnce();
    const name = await client.stateStore.getState(ROOM, "m.room.name");
    assertEquals(name?.content, { name: "new" });
    await client.close();
  }
});

for (
  const [where, first] of [["the very first response", ""], ["a room that is joined later", "t0"]] as const
) {
  Deno.test(`State that a timeline shows a second time does not replace what is newer in it: ${where}`, async () => {
    const [old, now] = ["old", "new"].map((name) => state("m.room.name", { name })) as [
      JsonObject,
      JsonObject,
    ];
    const { fetch } = server({
      "": { next_batch: "t0" },
      [first]: joined(timeline([member(OWN, "join"), old, message("o"), now, old]), { next_batch: "t1" }),
    });
    const client = clientOf(fetch, new MemoryStore());
    await client.syncOnce();
    await client.syncOnce();
    const name = await client.stateStore.getState(ROOM, "m.room.name");
    assertEquals(name?.content, { name: "new" });
    await client.close();
  });
}
