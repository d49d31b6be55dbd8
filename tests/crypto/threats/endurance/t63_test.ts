/**
 * An attacker who finds anything that a store refuses (a name, a value, a size) ends the bot for
 * good, as long as one refused record has the store refuse the whole commit, again at each start.
 * The response goes on without the refused records, which is reported; a store that is really
 * broken still ends the client, at once.
 *
 * Class of mistake: what may fail because of one message is done for all of them, with one outcome.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, type Store, type StoreMutation } from "@greenroom/matrix";
import { StoreError, ValueError } from "@greenroom/matrix/errors";
import { type SyncBody, victim } from "../victim.ts";

type Refusal = (mutations: readonly StoreMutation[]) => Error | undefined;

/** A store that refuses some commits. */
function refusing(inner: Store, refusal: Refusal): Store {
  return {
    getMany: (keys) => inner.getMany(keys),
    list: (prefix, options) => inner.list(prefix, options),
    async commit(mutations, checks) {
      const error = refusal(mutations);
      if (error !== undefined) throw error;
      return await inner.commit(mutations, checks);
    },
    close: () => inner.close(),
  };
}

const isBad = (mutation: StoreMutation): boolean => JSON.stringify(mutation).includes("poison");

/** What a stranger and a member can have kept: notices, events whose key is missing, state. */
function poison(body: SyncBody, roomId: string): void {
  const event = { sender: "@alice:localhost", origin_server_ts: 1, content: {} };
  ((body.to_device ??= {}).events ??= []).unshift({
    type: "m.room_key.withheld",
    sender: "@mallory:evil.example",
    content: { algorithm: "m.megolm.v1.aes-sha2", room_id: "!r", session_id: "poison", code: "m.unverified" },
  });
  const room = ((body.rooms ??= {}).join ??= {})[roomId] ??= {};
  delete room["org.matrix.msc4222.state_after"]; // what comes in front of the timeline counts
  ((room.timeline ??= {}).events ??= []).unshift(
    { ...event, type: "m.room.topic", event_id: "$1", state_key: "", content: { topic: "poison" } },
    { ...event, type: "org.example.poison", event_id: "$2", state_key: "poison" },
    { ...event, type: "m.room.name", event_id: "$3", state_key: "", content: { name: "Room" } },
    {
      ...event,
      type: "m.room.encrypted",
      event_id: "$4",
      content: { algorithm: "m.megolm.v1.aes-sha2", session_id: "poison", ciphertext: "AAAA" },
    },
  );
}

const REFUSALS: readonly Error[] = [
  new ValueError("Cannot keep it"),
  new TypeError("Value too large"),
  new Error("no"),
];

for (const error of REFUSALS) {
  Deno.test(`T63: a store that refuses some records with a ${error.name}: the bot goes on without them, and says so`, async () => {
    const inner = new MemoryStore();
    await using bot = await victim(refusing(inner, (all) => all.some(isBad) ? error : undefined));
    const { roomId, log } = bot;
    await bot.alice.sendStateEvent(roomId, "m.room.topic", { topic: "no more so" });
    assertEquals(await bot.live("one"), ["one"]);
    assertEquals(await bot.live("two", (body) => poison(body, roomId)), ["two"]);
    assertEquals(await bot.live("three"), ["three"]);
    const state = (type: string) => ["@bot:localhost", "BOT", "state", roomId, type, ""];
    const [name, topic] = await inner.getMany([state("m.room.name"), state("m.room.topic")]);
    assertEquals([(name?.value as SyncBody).content, topic], [{ name: "Room" }, undefined]);
    const told = log.lines.filter(([, message]) =>
      message === "Left out records that the store does not take"
    );
    assertEquals(told.map(([level]) => level), ["error"]);
    const { count, kinds } = told[0]?.[2] ?? {};
    assertEquals([count, kinds], [4, "crypto/parked, crypto/withheld, state"]);
    assert(!JSON.stringify(told).includes("poison"));
  });
}

const BROKEN: Readonly<
  Record<string, [error: Error, isRefused: Refusal | ((all: readonly StoreMutation[]) => boolean)]>
> = {
  "refuses everything": [new Error("EIO"), () => true],
  "refuses whatever it is to write": [new Error("EIO"), (all) => all.length > 0],
  "says that its disk is full when it comes to what is bad": [
    new StoreError("full"),
    (all) => all.some(isBad),
  ],
  "refuses the position": [new TypeError("no"), (all) => all.some(({ key }) => key[2] === "sync")],
  "refuses who holds the device": [new TypeError("no"), (all) => all.some(({ key }) => key[2] === "lease")],
};

for (const [name, [error, isRefused]] of Object.entries(BROKEN)) {
  Deno.test(`T63: a store that ${name} is broken, which ends the client`, async () => {
    let isBroken = false;
    const store = refusing(new MemoryStore(), (all) => isBroken && isRefused(all) ? error : undefined);
    await using bot = await victim(store);
    const { roomId } = bot;
    assertEquals(await bot.live("one"), ["one"]);
    isBroken = true;
    await assertRejects(() => bot.live("two", (body) => poison(body, roomId)), Error, error.message);
    isBroken = false;
    assertEquals(await bot.live("three"), ["two", "three"]);
  });
}

Deno.test("T63: one stranger's notices are refused, as many as there may be: the bot goes on after some tries", async () => {
  let commits = 0;
  const store = refusing(new MemoryStore(), (all) => {
    commits++;
    return all.some(isBad) ? new TypeError("no") : undefined;
  });
  await using bot = await victim(store);
  const notices = (count: number) => (body: SyncBody) => {
    const events = Array.from({ length: count }, (_, index) => ({
      type: "m.room_key.withheld",
      sender: "@mallory:evil.example",
      content: {
        algorithm: "m.megolm.v1.aes-sha2",
        room_id: "!r",
        session_id: `poison${index}`,
        code: "m.no",
      },
    }));
    (body.to_device ??= {}).events = events;
  };
  assertEquals(await bot.live("one"), ["one"]);
  commits = 0;
  assertEquals(await bot.live("two", notices(500)), ["two"]);
  assert(commits < 1_500, `${commits} commits were tried`);
  commits = 0;
  await assertRejects(() => bot.live("three", notices(1_900)), Error, "no");
  assert(commits < 3_000, `${commits} commits were tried`);
});
