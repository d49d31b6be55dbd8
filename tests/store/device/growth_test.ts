import { assert, assertEquals } from "@std/assert";
import { type RoomChange, spawnStore } from "../../../src/actors/store/mod.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { ReplayLog } from "../../../src/crypto/megolm/mod.ts";
import { SeenMessages } from "../../../src/crypto/olm/olm_inbox.ts";
import { type RecordCache, Transaction } from "../../../src/crypto/records/mod.ts";
import type { StoreKey, StoreMutation } from "@greenroom/matrix";
import { Membership, type MessageEvent, type RoomID, SyncStream } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { aliceAndBob, type Bot } from "../../crypto/engine/bot.ts";
import { ROOM } from "../../crypto/engine/homeserver.ts";
import { memoryVault } from "../../crypto/support/vault.ts";
import { bytesOf, kindsIn } from "../support/weights.ts";

/** How many messages are weighed. */
const SAMPLE = 1_000;
/** How many messages are taken in between, each. */
const BETWEEN = 100_000;
/** How many messages there have been, as far as a number tells, when messages are weighed again. */
const HISTORY = 1_000_000;
/** How many rooms, sessions, users and devices there are besides. */
const CROWD = 10_000;
/** How much more a message may cost at the end of the history than at its beginning. */
const GROWTH = 1.1;

/** Weighs what is written to a store while something is done, in bytes. */
async function weight(store: MemoryStore, work: () => Promise<unknown>): Promise<number> {
  const commit = store.commit;
  let bytes = 0;
  store.commit = (mutations, checks) => {
    bytes += mutations.reduce((sum, mutation) => sum + bytesOf(mutation), 0);
    return commit.call(store, mutations, checks);
  };
  await work();
  store.commit = commit;
  return bytes;
}

function assertFlat(before: number, after: number): void {
  assert(before > 0);
  assert(after <= GROWTH * before, `${before} bytes became ${after}`);
}

/** A message of a room's, one of many. */
function message(number: number): MessageEvent {
  const event = {
    type: "m.room.encrypted",
    room_id: ROOM,
    event_id: `$${String(number).padStart(43, "0")}`,
    sender: "@alice:example.org",
    origin_server_ts: 1_700_000_000_000 + number,
    content: {},
  };
  return event as unknown as MessageEvent; // the log looks at nothing else
}

/** A vault, with a step for each piece of work on it. */
function steps(store: MemoryStore) {
  const vault = memoryVault(store);
  const cache: RecordCache = new RecentMap(1_000);
  return async (work: (tx: Transaction) => Promise<void>): Promise<void> => {
    const tx = new Transaction(vault, cache);
    await work(tx);
    await tx.commit();
  };
}

Deno.test("The replay record of a message is as large at its millionth index as at its first", async () => {
  const store = new MemoryStore();
  const step = steps(store);
  const take = async (from: number, count: number, size: number): Promise<void> => {
    for (let first = from; first < from + count; first += size) {
      await step(async (tx) => {
        const log = new ReplayLog();
        const session = log.session(ROOM, "session");
        const indices = Array.from({ length: size }, (_, place) => first + place);
        indices.forEach((index) => session.want(index, message(index).sender));
        await log.open(tx);
        for (const index of indices) assert(session.claim(index, message(index)));
        log.save(tx);
      });
    }
  };
  const before = await weight(store, () => take(0, SAMPLE, 1));
  await take(SAMPLE, BETWEEN, 100);
  const { "crypto/replay": records = 0 } = Object.fromEntries(await kindsIn(store));
  assertFlat(before, await weight(store, () => take(HISTORY, SAMPLE, 1)));
  assertEquals((await kindsIn(store)).get("crypto/replay"), records + Math.ceil(SAMPLE / 32));
});

Deno.test("The record of a to-device message is as small after many of a sender as at first", async () => {
  const store = new MemoryStore();
  const step = steps(store);
  const seen = new SeenMessages();
  let number = 0;
  const take = async (count: number, size: number): Promise<void> => {
    for (let left = count; left > 0; left -= size) {
      await step(async (tx) => {
        for (let place = 0; place < size; place++) {
          const hash = new Uint8Array(new Uint32Array([++number, 1, 2, 3]).buffer);
          const arrival = { hash, now: HISTORY + number, userId: "@alice:example.org" } as const;
          await seen.add(tx, "sender", arrival);
        }
      });
    }
  };
  await take(SAMPLE, 1); // until the first are forgotten there is more to be noted each time
  const before = await weight(store, () => take(SAMPLE, 1));
  await take(BETWEEN, 50);
  assertFlat(before, await weight(store, () => take(SAMPLE, 1)));
  assertEquals((await kindsIn(store)).get("crypto/olm-seen"), 4);
});

Deno.test("The Store's cost of a message does not depend on earlier messages, rooms and members", async () => {
  const kv = new MemoryStore();
  const store = spawnStore({ kv });
  await store.open(["@bot:example.org", "BOT"]);
  const state = (roomId: RoomID, name: string) => ({
    type: "m.room.member",
    room_id: roomId,
    state_key: `@${name}:example.org`,
    sender: `@${name}:example.org` as const,
    content: { membership: "join" },
    source: SyncStream.STATE,
  });
  const room = (roomId: RoomID, users: readonly string[]): RoomChange => ({
    roomId,
    membership: Membership.JOIN,
    state: users.map((name) => state(roomId, name)),
    complete: true,
    lossy: false,
  });
  /** Receives one message a sync, whose handlers settle one after the other, with a session. */
  const take = async (from: number): Promise<void> => {
    for (let number = from; number < from + SAMPLE; number++) {
      const nextBatch = `s${String(number).padStart(8, "0")}`;
      await store.commitSync({ nextBatch, repeated: false, rooms: [room(ROOM, ["alice"])] });
      const { event_id } = message(number);
      const value = { heard: HISTORY + number };
      await store.commitSessions({
        mutations: [{ type: "set", key: ["session", "counter", ROOM], value }],
        settled: [`${event_id}-m.room.message.0`],
      });
      await store.noteSettled([`${event_id}-m.room.message.1`]);
      await store.handled(nextBatch);
    }
    await store.flush();
  };
  await take(0);
  const before = await weight(kv, () => take(SAMPLE));
  const kinds = await kindsIn(kv);
  const names = Array.from({ length: CROWD }, (_, number) => `user${number}`);
  const rooms = names.map((name) => room(`!${name}:example.org`, [name, "alice"]));
  await store.commitSync({ nextBatch: "s", repeated: false, rooms: [...rooms, room(ROOM, names)] });
  const crowded = await kindsIn(kv);
  assertFlat(before, await weight(kv, () => take(HISTORY)));
  assertEquals(await kindsIn(kv), crowded);
  assertEquals(crowded.get("settled"), kinds.get("settled"));
  assert((crowded.get("settled") ?? 0) <= 4);
  assertEquals([crowded.get("room"), crowded.get("state")], [CROWD + 1, 3 * CROWD + 1]);
  await store.stop();
});

/**
 * Makes the records of an engine many: of each kind that there is one of for each room, session,
 * user or device.
 */
async function crowd({ store }: Bot): Promise<void> {
  const copied = new Set(["inbound", "outbound_session", "outbound_roster", "replay", "devices", "tracked"]);
  for (const kind of ["olm-session", "olm-seen", "olm-peer", "room_settings"]) copied.add(kind);
  const mutations: StoreMutation[] = [];
  for await (const { key, value } of store.list([])) {
    const [, kind = "", first, ...rest] = key;
    if (!copied.has(kind) || first === undefined) continue;
    for (let number = 0; number < CROWD; number++) {
      const name = /^[!@]/.test(first) ? `${first[0]}other${number}:example.org` : `${first}${number}`;
      const copy: StoreKey = ["crypto", kind, name, ...rest];
      mutations.push({ type: "set", key: copy, value });
    }
  }
  await store.commit(mutations);
}

Deno.test("The cost of an encrypted message does not depend on earlier ones, rooms, sessions and devices", async () => {
  const { alice, bob } = await aliceAndBob();
  const talk = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) {
      const event = await alice.send("Line");
      await Promise.all([alice, bob].map((bot) => bot.sync()));
      assertEquals(bob.outcome(event), "text: Line");
    }
  };
  await talk(10);
  const weigh = async (): Promise<[sent: number, taken: number]> => {
    let taken = 0;
    const sent = await weight(alice.store, async () => {
      taken = await weight(bob.store, () => talk(90)); // within one session, which is good for 100 messages
    });
    return [sent, taken];
  };
  const before = await weigh();
  for (const bot of [alice, bob]) {
    await crowd(bot);
    await bot.restart();
  }
  await talk(10);
  const crowded = await Promise.all([alice, bob].map(({ store }) => kindsIn(store)));
  const after = await weigh();
  for (const [index, bytes] of before.entries()) assertFlat(bytes, after[index] ?? Infinity);
  const grown = await Promise.all([alice, bob].map(({ store }) => kindsIn(store)));
  for (const [index, kinds] of grown.entries()) {
    const more = [...kinds].filter(([kind, count]) => count > (crowded[index]?.get(kind) ?? 0));
    // A block for each 32 messages, kept with its session.
    assertEquals(more.map(([kind]) => kind), ["crypto/replay"]);
  }
});
