import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { eventType } from "@greenroom/matrix";
import type { FaultEffect } from "@greenroom/matrix/testing";
import { type ClientStage, clientStage } from "../support/stage.ts";

/** Everything that can go wrong with a request, by name. */
const FAULTS: Record<string, FaultEffect> = {
  "a 429 with Retry-After": {
    kind: "status",
    status: 429,
    body: { errcode: "M_LIMIT_EXCEEDED", error: "Slow down" },
    headers: { "retry-after": "3" },
  },
  "a 500": { kind: "status", status: 500 },
  "a 502": { kind: "status", status: 502 },
  "a proxy's 504 in HTML": { kind: "html", status: 504 },
  "a proxy's page with status 200": { kind: "html", status: 200 },
  "an empty answer": { kind: "body", body: "" },
  "an answer without what it must have": { kind: "body", body: {} },
  "an answer of another type": { kind: "body", body: [1, 2, 3] },
  "an answer whose members are of other types": {
    kind: "body",
    body: { next_batch: 7, event_id: 7, rooms: "x" },
  },
  "a delay": { kind: "delay", ms: 45_000 },
  "a connection that is cut before": { kind: "drop" },
  "a connection that is cut after": { kind: "drop-after" },
  "an answer that breaks off": { kind: "truncate" },
  "an answer that breaks off unnoticed": { kind: "truncate", clean: true },
  "an answer that breaks off at once": { kind: "truncate", bytes: 0 },
  "a request that arrives twice": { kind: "duplicate" },
  "a request that is withheld": { kind: "hold" },
  "an answer that is withheld": { kind: "hold-after" },
  "a redirect into nothing": { kind: "redirect", location: "/nowhere" },
  "a redirect in a circle": { kind: "redirect", location: "/_matrix/client/v3/sync" },
};

/** Moves time on until something has happened, an hour at most. */
async function pass(here: ClientStage, condition: () => boolean): Promise<void> {
  for (let second = 0; second < 3_600 && !condition(); second += 5) {
    await here.settle();
    if (!condition()) await here.clock.tick(5_000);
  }
  assert(condition(), `It did not recover: ${condition}`);
}

async function roomOf(alice: Client, bot: Client): Promise<RoomID> {
  const room = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(room);
  return room;
}

for (const [name, effect] of Object.entries(FAULTS)) {
  Deno.test(`A sync that meets ${name} recovers, and loses and repeats nothing`, async () => {
    await using here = clientStage();
    const [alice, bot] = [here.client("alice"), here.client("bot")];
    const room = await roomOf(alice, bot);
    await bot.syncOnce();
    const { device_id = "" } = await bot.whoami();
    const seen: string[] = [];
    bot.on("m.room.message", ({ content }) => seen.push(content.body));
    bot.on("m.room.topic", ({ content }) => seen.push(`topic ${content.topic}`));
    bot.on(eventType("com.example.poke", "to_device"), ({ content }) => seen.push(`poke ${content.n}`));
    const times = name === "a redirect in a circle" ? 12 : 3; // a circle has more than one hit for a request
    using fault = here.homeserver.faults.add({ ...effect, match: { path: "/sync" }, times, skip: 1 });
    bot.start();
    await here.settle();
    const poke = async (n: number) =>
      await alice.sendToOneDevice("com.example.poke", "@bot:localhost", device_id, { n });
    await alice.sendText(room, "1");
    await here.settle();
    await alice.sendText(room, "2");
    await poke(3);
    await alice.sendStateEvent(room, "m.room.topic", { topic: "4" });
    await pass(here, () => fault.hits === times || effect.kind === "duplicate");
    await alice.sendText(room, "5");
    await poke(6);
    await pass(here, () => seen.includes("5") && seen.includes("poke 6"));
    await here.settle();
    assertEquals(seen.toSorted(), ["1", "2", "5", "poke 3", "poke 6", "topic 4"]);
    assertEquals(seen.filter((text) => /^\d$/.test(text)), ["1", "2", "5"]);
  });

  Deno.test(`A send that meets ${name} is sent once, or not at all and rejected`, async () => {
    await using here = clientStage();
    const [alice, bot] = [here.client("alice"), here.client("bot")];
    const room = await roomOf(alice, bot);
    using fault = here.homeserver.faults.add({ ...effect, match: { path: "/send/" }, times: 2 });
    const results: ("sent" | "rejected")[] = [];
    for (const text of ["1", "2", "3"]) {
      let settled = false;
      alice.sendText(room, text).then(() => results.push("sent"), () => results.push("rejected")).then(() =>
        settled = true
      );
      await pass(here, () => settled);
    }
    assert(fault.hits >= 1);
    const sent = here.homeserver.room(room).messages.map(({ content }) => content.body);
    assertEquals(sent, [...new Set(sent)]);
    for (const [index, text] of ["1", "2", "3"].entries()) {
      if (results[index] === "sent") assert(sent.includes(text), `${text} is missing`);
    }
    assertEquals(results.at(-1), "sent");
  });
}

Deno.test("Handlers that send while the server is in trouble send each answer once", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const room = await roomOf(alice, bot);
  await bot.syncOnce();
  let answered = 0;
  bot.on("m.room.message", async ({ sender, room_id, content }) => {
    if (sender !== "@alice:localhost") return;
    await bot.sendNotice(room_id, `re ${content.body}`);
    answered++;
  });
  const match = { user: "@bot:localhost" } as const;
  using _first = here.homeserver.faults.add({ kind: "drop-after", match, times: 4, skip: 1 });
  using _second = here.homeserver.faults.add({ kind: "status", status: 503, match, times: 4, skip: 6 });
  using _third = here.homeserver.faults.add({ kind: "truncate", match, times: 4, skip: 9 });
  bot.start();
  const texts = Array.from({ length: 8 }, (_, index) => String(index));
  for (const text of texts) {
    await alice.sendText(room, text);
    await here.clock.tick(2_000);
  }
  const answers = () =>
    here.homeserver.room(room).messages.map(({ content }) => String(content.body)).filter((body) =>
      body.startsWith("re ")
    );
  await pass(here, () => answered >= texts.length); // the server has an answer before the handler knows that
  assertEquals(answers().toSorted(), texts.map((text) => `re ${text}`));
});
