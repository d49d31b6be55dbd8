/**
 * Over 300 lines because all stories watch the same requests.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { type Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { EVERYBODY } from "../../support/everybody.ts";
import { isSlide, slideOf, SLIDING, spelling } from "../../support/sliding.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const BOT = "@bot:localhost";

/** A request by sliding sync. */
interface Slide extends ReturnType<typeof slideOf> {
  /** The rooms of its answer. */
  rooms: string[];
}

/** A fetch that notes requests by sliding sync, and may answer in place of the homeserver. */
function watched(
  here: ClientStage,
  { answer = () => undefined, change = (body) => body }: {
    readonly answer?: (slide: Slide) => Response | undefined;
    // deno-lint-ignore no-explicit-any -- an answer is changed as a server could
    readonly change?: (body: any) => unknown;
  } = {},
): { readonly fetch: typeof globalThis.fetch; readonly slides: Slide[]; readonly paths: string[] } {
  const slides: Slide[] = [];
  const paths: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    paths.push(url.pathname);
    if (!isSlide(url)) return await here.homeserver.fetch(request);
    const slide: Slide = { ...slideOf(url, await request.clone().json()), rooms: [] };
    slides.push(slide);
    const response = answer(slide) ?? await here.homeserver.fetch(request);
    if (!response.ok) return response;
    const body = await change(await response.json()) as { readonly rooms?: object };
    slide.rooms = Object.keys(body.rooms ?? {});
    return Response.json(body);
  };
  return { fetch, slides, paths };
}

/** Rooms of Alice's that the bot is in, each with a message: the last is the newest. */
async function roomsOf(here: ClientStage, count: number): Promise<{ alice: Client; rooms: RoomID[] }> {
  const alice = here.client("alice");
  const joiner = here.client("bot");
  const rooms: RoomID[] = [];
  for (let index = 0; index < count; index++) {
    const room = await alice.createRoom({ invitees: [BOT] });
    await joiner.joinRoom(room);
    await alice.sendText(room, `old ${index}`);
    rooms.push(room);
  }
  return { alice, rooms };
}

function bot(here: ClientStage, options: Partial<ClientOptions>): Client {
  return here.client("bot", { mxid: BOT, sync: "sliding", ...options });
}

function unknownPosition(): Response {
  return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
}

Deno.test("The newest room comes first, and then more and more, in one pass: each event once, the newest first", async () => {
  await using here = clientStage(SLIDING);
  const { rooms } = await roomsOf(here, 130);
  const { fetch, slides } = watched(here);
  const client = bot(here, { fetch, store: new MemoryStore() });
  const order: string[] = [];
  client.on("m.room.message", ({ content }) => void order.push(content.body));
  const { left } = await client.syncOnce();
  assertEquals(left, undefined);
  assertEquals(slides.map(({ last, rooms }) => [last, rooms.length]), [
    [0, 1],
    [4, 4],
    [24, 20],
    [124, 100],
    [224, 5],
  ]);
  for (const count of [1, 5, 25, 125]) {
    assertEquals(
      order.slice(0, count).toSorted(),
      rooms.slice(-count).map((_, index) => `old ${130 - count + index}`).toSorted(),
    );
  }
  assertEquals(new Set(order).size, 130);
  assertEquals(order.length, 130);
  assertEquals((await client.stateStore.getJoinedRooms()).toSorted(), rooms.toSorted());
});

for (const isFirst of [true, false]) {
  Deno.test(`A server that counts rooms which it never shows is asked no more than once for all of them, ${isFirst ? "at first" : "on another connection"}`, async () => {
    await using here = clientStage(SLIDING);
    const { alice, rooms: [room] } = await roomsOf(here, 3);
    const store = new MemoryStore();
    const change = (body: { readonly lists: { readonly rooms: { count: number } } }) => {
      body.lists.rooms.count = 3_000;
      return body;
    };
    let isForgotten = !isFirst;
    const { fetch, slides } = watched(here, {
      change,
      answer: ({ pos }) => {
        if (isFirst || pos === null || !isForgotten) return undefined;
        isForgotten = false;
        return unknownPosition();
      },
    });
    if (!isFirst) await bot(here, { store }).syncOnce();
    const client = bot(here, { fetch, store });
    const texts = heard(client);
    await client.syncOnce();
    await alice.sendText(room as RoomID, "new");
    await client.syncOnce();
    await client.syncOnce();
    assertEquals(texts.toSorted(), isFirst ? ["new", "old 0", "old 1", "old 2"] : ["new"]);
    const asked = slides.map(({ last }) => last ?? Infinity).filter((last) => last > 24);
    assertEquals(asked.length, isFirst ? 3 : 4, asked.join());
  });
}

Deno.test("A message in a room that has not been shown yet is heard once, and so is one in a room that has been", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms } = await roomsOf(here, 30);
  const [oldest, newest] = [rooms[0], rooms.at(-1)] as [RoomID, RoomID];
  let said = false;
  const { fetch } = watched(here, {
    change: (body) => {
      if (!said) {
        said = true;
        // Both before the second answer.
        void alice.sendText(oldest, "in the oldest");
        void alice.sendText(newest, "in the newest");
      }
      return body;
    },
  });
  const client = bot(here, { fetch, store: new MemoryStore() });
  const texts = heard(client);
  await client.syncOnce();
  await here.settle();
  await client.syncOnce();
  assertEquals(
    texts.toSorted(),
    [
      ...rooms.map((_, index) => `old ${index}`),
      "in the newest",
      "in the oldest",
    ].toSorted(),
  );
});

Deno.test("With ignoreInitialSync nothing old is heard of any room, and what is new of each", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms } = await roomsOf(here, 30);
  let said = false;
  const { fetch } = watched(here, {
    change: (body) => {
      if (!said) void alice.sendText(rooms.at(-1) as RoomID, "new"); // behind the first answer
      said = true;
      return body;
    },
  });
  const client = bot(here, { fetch, store: new MemoryStore() });
  const texts = heard(client);
  const joins: string[] = [];
  client.on("JOIN", ({ state_key }) => void joins.push(state_key));
  await client.syncOnce({ ignoreInitialSync: true });
  await here.settle();
  await client.syncOnce({ ignoreInitialSync: true });
  await alice.sendText(rooms[0] as RoomID, "newer");
  await client.syncOnce({ ignoreInitialSync: true });
  assertEquals([texts, joins], [["new", "newer"], []]);
});

// By the merged spelling, none are given.
if (spelling !== "merged") {
  Deno.test("Receipts of a room that the bot was kicked from do not bring it back", async () => {
    await using here = clientStage(SLIDING);
    const { alice, rooms: [room] } = await roomsOf(here, 2);
    assert(room !== undefined);
    let rooms = 0;
    const { fetch } = watched(here, {
      change: (body) => {
        rooms += Object.keys(body.extensions.receipts.rooms).length;
        return body;
      },
    });
    const client = bot(here, { fetch, store: new MemoryStore() });
    const seen: string[] = [];
    client.on("KICK", ({ state_key }) => void seen.push(`KICK ${state_key}`));
    client.on("JOIN", ({ state_key }) => void seen.push(`JOIN ${state_key}`));
    client.on("m.receipt", () => void seen.push("receipt"));
    await client.syncOnce({ ignoreInitialSync: true });
    await alice.kickUser(room, BOT);
    await client.syncOnce();
    const eventId = await alice.sendText(room, "behind its back");
    await alice.sendReceipt(room, eventId);
    await client.syncOnce();
    assert(rooms > 0, "the server shows the receipt");
    assertEquals(seen, [`KICK ${BOT}`]);
    assert(!(await client.stateStore.getJoinedRooms()).includes(room));
  });
}

Deno.test("A ban and a withdrawn invitation that only the state shows are told", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms: [room] } = await roomsOf(here, 1);
  assert(room !== undefined);
  for (const name of ["carol", "dan"]) here.client(name);
  const { fetch } = watched(here, {
    // deno-lint-ignore no-explicit-any -- as above
    change: (body: any) => {
      for (const room of Object.values<Record<string, { type: string }[]>>(body.rooms)) {
        for (const name of ["timeline", "timeline_events"]) {
          room[name] = room[name]?.filter(({ type }) => type !== "m.room.member") ?? [];
        }
      }
      return body;
    },
  });
  const client = bot(here, { fetch, store: new MemoryStore() });
  const seen: string[] = [];
  for (const type of ["USER_INVITED", "BAN", "KICK", "DISINVITE"] as const) {
    client.on(type, ({ state_key }) => void seen.push(`${type} ${state_key}`));
  }
  await client.syncOnce();
  for (const name of ["carol", "dan"]) await alice.inviteUser(room, `@${name}:localhost`);
  await client.syncOnce();
  await alice.banUser(room, "@carol:localhost");
  await alice.kickUser(room, "@dan:localhost");
  await client.syncOnce();
  assertEquals(seen.toSorted(), [
    "BAN @carol:localhost",
    "DISINVITE @dan:localhost",
    "USER_INVITED @carol:localhost",
    "USER_INVITED @dan:localhost",
  ]);
});

Deno.test("A connection that is lost again and again is begun anew after waits that grow, and nothing is lost", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms } = await roomsOf(here, 25);
  let refuses = false;
  const { fetch, slides } = watched(here, {
    answer: ({ pos }) => refuses && pos !== null ? unknownPosition() : undefined,
  });
  const client = bot(here, { fetch, store: new MemoryStore() });
  const texts = heard(client);
  client.start();
  await here.until(() => texts.length === 25);
  await here.settle();
  refuses = true;
  slides.length = 0;
  for (let index = 0; index < 12; index++) await alice.sendText(rooms[3] as RoomID, `line ${index}`);
  const begun = (): number => slides.filter(({ pos }) => pos === null).length;
  await here.settle();
  await here.clock.tick(1_000);
  assertEquals(begun(), 1, "the first time at once");
  await here.clock.tick(2_000);
  assertEquals(begun(), 1);
  await here.clock.tick(3_000);
  await here.settle();
  assertEquals(begun(), 2, "then after five seconds");
  await here.clock.tick(5_000);
  await here.settle();
  assertEquals(begun(), 2);
  await here.clock.tick(6_000);
  await here.settle();
  assertEquals(begun(), 3, "then after ten");
  refuses = false;
  await here.clock.tick(60_000);
  await alice.sendText(rooms[24] as RoomID, "after");
  await here.until(() => texts.includes("after"));
  assertEquals(texts.slice(25), [...Array.from({ length: 12 }, (_, index) => `line ${index}`), "after"]);
});

Deno.test("What happened while a connection was lost is told: a room that was left, one that was joined, a name, a kick", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms } = await roomsOf(here, 4);
  const [left, named, kicked, quiet] = rooms as [RoomID, RoomID, RoomID, RoomID];
  const store = new MemoryStore();
  let isLost = false;
  const { fetch, paths } = watched(here, {
    answer: ({ pos }) => {
      if (!isLost || pos === null) return undefined;
      isLost = false;
      return unknownPosition();
    },
  });
  const seen: string[] = [];
  const pass = async (): Promise<Client> => {
    const client = bot(here, { fetch, store });
    client.on("m.room.message", ({ content }) => void seen.push(content.body));
    client.on("m.room.name", ({ content }) => void seen.push(`name ${content.name}`));
    for (const type of ["JOIN", "LEAVE", "KICK"] as const) {
      client.on(type, ({ room_id }) => void seen.push(`${type} ${rooms.indexOf(room_id as RoomID)}`));
    }
    await client.syncOnce();
    return client;
  };
  await (await pass()).close();
  const other = here.client("bot");
  for (let index = 0; index < 15; index++) await alice.sendText(left, `before ${index}`);
  await other.leaveRoom(left);
  await alice.sendStateEvent(named, "m.room.name", { name: "News" });
  await alice.kickUser(kicked, BOT);
  const late = await alice.createRoom({ invitees: [BOT] });
  await alice.sendText(late, "not for the bot");
  await other.joinRoom(late);
  await alice.sendText(late, "for the bot");
  rooms.push(late);
  isLost = true;
  seen.length = 0;
  const client = await pass();
  assertEquals(
    seen.toSorted(),
    [
      ...Array.from({ length: 15 }, (_, index) => `before ${index}`),
      "JOIN 4",
      "KICK 2",
      "LEAVE 0",
      "for the bot",
      "name News",
    ].toSorted(),
  );
  assertEquals((await client.stateStore.getJoinedRooms()).toSorted(), [named, quiet, late].toSorted());
  assertEquals(paths.filter((path) => path.endsWith("/joined_rooms")).length, 1);
  seen.length = 0;
  await client.syncOnce();
  assertEquals(seen, []);
});

function withoutCounts(body: { extensions: { e2ee?: { device_one_time_keys_count?: unknown } } }): unknown {
  delete body.extensions.e2ee?.device_one_time_keys_count;
  return body;
}

for (
  const [name, change, uploads] of [
    ["as the server says", (body: unknown) => body, 0],
    ["by asking, if it does not", withoutCounts, 1],
  ] as const
) {
  Deno.test(`One-time keys are counted ${name}`, async () => {
    await using here = clientStage(SLIDING);
    here.client("bot");
    const { fetch, paths } = watched(here, { change });
    const client = bot(here, { fetch, store: new MemoryStore(), encryption: EVERYBODY });
    const counts: number[] = [];
    client.on("DEVICE_OTK_COUNT", ({ signed_curve25519 }) => void counts.push(signed_curve25519));
    await client.syncOnce();
    const before = paths.filter((path) => path.endsWith("/keys/upload")).length;
    await client.syncOnce();
    await client.syncOnce();
    assertEquals(paths.filter((path) => path.endsWith("/keys/upload")).length, before);
    assert(before >= uploads);
    assert(counts.every((count) => count > 0), counts.join());
  });
}

Deno.test("A handler that is still at work when its process is killed is called again, however many positions were used since", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms: [room, other] } = await roomsOf(here, 2);
  assert(room !== undefined && other !== undefined);
  const store = new MemoryStore();
  const called: string[] = [];
  const begin = (): Client => {
    const client = bot(here, { store, closeTimeout: 0, lease: { duration: 1_000 } });
    client.on("m.room.message", async ({ content }) => {
      called.push(content.body);
      if (content.body === "slow" && called.filter((text) => text === "slow").length === 1) {
        await new Promise(() => {});
      }
    });
    client.on("com.example.cue", async ({ content }) => {
      called.push(`cue ${content.act}`);
      if (called.filter((text) => text === "cue 1").length === 1) await new Promise(() => {});
    });
    client.start().catch(() => {});
    return client;
  };
  const first = begin();
  await here.until(() => called.length === 2);
  await here.clock.tick(6_000);
  called.length = 0;
  await alice.sendText(room, "slow");
  await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act: 1 } } });
  await here.until(() => called.length === 2);
  for (let index = 0; index < 5; index++) {
    await alice.sendText(other, `quick ${index}`);
    await here.until(() => called.includes(`quick ${index}`));
    await here.clock.tick(6_000);
  }
  // What has settled is noted with a response.
  for (let second = 0; second < 70; second++) await here.clock.tick(1_000);
  await first.close();
  const before = called.splice(0);
  assertEquals(before.toSorted(), ["cue 1", "quick 0", "quick 1", "quick 2", "quick 3", "quick 4", "slow"]);
  begin();
  await here.until(() => called.includes("slow") && called.includes("cue 1"));
  await here.settle();
  assertEquals(called.toSorted(), ["cue 1", "slow"]);
});

Deno.test("What a room says while others are shown for the first time is heard once, however much it is", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms } = await roomsOf(here, 130);
  const busy = rooms.at(-1) as RoomID;
  const said: string[] = [];
  const say = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) {
      said.push(`line ${said.length}`);
      await alice.sendText(busy, said.at(-1) as string);
    }
  };
  const portions = [70, 15]; // behind the first answer, and behind the second
  const { fetch, slides } = watched(here, {
    change: async (body) => {
      await say(portions.shift() ?? 0);
      return body;
    },
  });
  const client = bot(here, { fetch, store: new MemoryStore() });
  const texts = heard(client);
  await client.syncOnce();
  assertEquals(slides.map(({ rooms }) => rooms.includes(busy)), [true, true, true, false, false]);
  assertEquals(texts.filter((text) => text.startsWith("line")), said);
});

Deno.test("What was said in clear before its room was encrypted comes again after a crash, and what came behind does not", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms: [room] } = await roomsOf(here, 1);
  assert(room !== undefined);
  const store = new MemoryStore();
  const [called, refused]: [string[], string[]] = [[], []];
  const begin = (): Client => {
    const client = bot(here, { store, closeTimeout: 0, encryption: EVERYBODY, lease: { duration: 1_000 } });
    client.on("m.room.message", async ({ content }) => {
      called.push(content.body);
      await new Promise(() => {});
    });
    client.on("UNENCRYPTED", ({ event }) => void refused.push(String(event.content.body)));
    client.start().catch(() => {});
    return client;
  };
  const first = begin();
  await here.until(() => called.length === 1);
  await alice.sendText(room, "in clear");
  await here.until(() => called.length === 2);
  await alice.sendStateEvent(room, "m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
  await here.settle();
  await alice.sendText(room, "too late", { disableEncryption: true });
  await here.until(() => refused.length === 1);
  await first.close();
  assertEquals([called.splice(0), refused.splice(0)], [["old 0", "in clear"], ["too late"]]);
  begin();
  await here.until(() => refused.length === 1);
  await here.settle();
  assertEquals([called, refused], [["old 0", "in clear"], ["too late"]]);
});
