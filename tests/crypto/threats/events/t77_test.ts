/**
 * T77: The server shows an event again, so that it is handled again.
 *
 * A member's statement ("pay him") is repeated by the server, as often as it likes: as it was, with
 * another content, in clear, as a redacted copy, in another room or section, twice in one response,
 * and after so many other events that a client which remembers only the latest has forgotten it. An
 * encrypted event is handled once: which index of its session was delivered is kept for as long as
 * the session, also after a restart. What the server can write itself, in clear, it need not
 * repeat.
 *
 * The class of mistake: a bounded memory is taken for a protection, and the attacker chooses what
 * fills it.
 */

import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { begin } from "../../../client/support/encrypted_room.ts";
import { message } from "../../../actors/support/events.ts";
import { type ClientStage, clientStage, heard } from "../../../client/support/stage.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { knownSender, Receiver } from "../../megolm/support.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const ROOM_ENCRYPTION = {
  type: "m.room.encryption",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
} as const;

/** What a server puts into a room's part of the next sync response. */
type Part = (
  event: JsonObject,
) => { readonly section?: "join" | "leave"; readonly events: readonly JsonObject[] };

/** A server that keeps the first encrypted event of a room, and shows what a test sets. */
function showing({ homeserver }: ClientStage) {
  let first: JsonObject | undefined;
  const parts: Part[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await homeserver.fetch(request);
    if (!new URL(request.url).pathname.endsWith("/sync") || !response.ok) return response;
    const body = await response.json();
    for (
      const [roomId, room] of Object.entries<{ timeline?: { events?: JsonObject[] } }>(body.rooms?.join ?? {})
    ) {
      const events = room.timeline?.events ?? [];
      first ??= structuredClone(events.find(({ type }) => type === "m.room.encrypted"));
      if (first === undefined || parts.length === 0) continue;
      for (
        const { section = "join", events: shown } of parts.splice(0).map((part) =>
          part(structuredClone(first ?? {}))
        )
      ) {
        if (section === "join") events.unshift(...structuredClone(shown) as JsonObject[]);
        else body.rooms.leave = { [roomId]: { timeline: { events: structuredClone(shown) } } };
      }
    }
    return Response.json(body);
  };
  return { fetch, show: (...more: Part[]) => void parts.push(...more) };
}

/** So many events that were not sent. */
function flood(count: number, round: string): JsonObject[] {
  return Array.from({ length: count }, (_, index) => message(`${round}${index}`.padStart(43, "x")));
}

/**
 * Alice, and a bot whose server shows events again, in an encrypted room in which Alice has said
 * "pay him".
 */
async function scene(stage: ClientStage) {
  const server = showing(stage);
  const store = new MemoryStore();
  const bot = (): Client => stage.client("bot", { encryption: EVERYBODY, store, fetch: server.fetch });
  const alice = stage.client("alice", { encryption: EVERYBODY });
  const first = bot();
  for (const client of [alice, first]) await begin(stage, client);
  const roomId = await alice.createRoom({ invitees: ["@bot:localhost"], initialState: [ROOM_ENCRYPTION] });
  await first.joinRoom(roomId);
  await stage.settle();
  const texts = heard(first);
  await alice.sendText(roomId, "pay him");
  await stage.until(() => texts.includes("pay him"));
  return { ...server, alice, bot, first, roomId, texts };
}

const again: Part = (event) => ({ events: [event] });
const CHANGED = { content: { msgtype: "m.text", body: "pay me" }, type: "m.room.message" };
const REDACTED = { content: {}, unsigned: { redacted_because: message("gone") } };

/** What a server can show of an event that was there before. */
const VARIATIONS: Record<string, Part> = {
  "as it was": again,
  "with another content": (event) => ({
    events: [{ ...event, content: { ...event.content as JsonObject, ciphertext: "AwgA" } }],
  }),
  "in clear": (event) => ({ events: [{ ...event, ...CHANGED }] }),
  "under another ID": (event) => ({ events: [{ ...event, event_id: `$${"again".padEnd(43, "x")}` }] }),
  "at another time": (event) => ({
    events: [{ ...event, origin_server_ts: Number(event.origin_server_ts) + 1 }],
  }),
  "as another sender's": (event) => ({ events: [{ ...event, sender: "@bot:localhost" }] }),
  "as a redacted copy": (event) => ({ events: [{ ...event, ...REDACTED }] }),
  "in the section of rooms that were left": (event) => ({ section: "leave", events: [event] }),
  "twice in one response": (event) => ({ events: [event, event] }),
};

for (const [name, variation] of Object.entries(VARIATIONS)) {
  for (const flooded of [0, 100]) {
    const how = flooded === 0 ? "at once" : `after ${flooded} events of its own`;
    Deno.test(`T77: an encrypted event that the server shows again ${name}, ${how}, is handled once`, async () => {
      await using stage = clientStage();
      const { alice, bot, first, roomId, texts, show } = await scene(stage);
      if (flooded > 0) show(() => ({ events: flood(flooded, "flood") }));
      await alice.sendText(roomId, "one");
      await stage.until(() => texts.includes("one"));
      show(variation);
      await alice.sendText(roomId, "two");
      await stage.until(() => texts.includes("two"));
      if (flooded > 0) show(() => ({ events: flood(flooded, "before") }));
      await alice.sendText(roomId, "last");
      await stage.until(() => texts.includes("last"));
      assertEquals(texts, ["pay him", "one", "two", "last"]);
      await first.close();
      const next = bot();
      const later = heard(next);
      show(variation); // with the first response
      await alice.sendText(roomId, "away");
      await begin(stage, next);
      await stage.until(() => later.includes("away"));
      if (flooded > 0) show(() => ({ events: flood(flooded, "more") }));
      await alice.sendText(roomId, "three");
      await stage.until(() => later.includes("three"));
      show(variation);
      await alice.sendText(roomId, "four");
      await stage.until(() => later.includes("four"));
      assertEquals(later, ["away", "three", "four"]);
    });
  }
}

Deno.test("T77: what is new and comes twice in one response is handled once", async () => {
  await using stage = clientStage();
  const homeserver = stage.homeserver.fetch;
  const doubling: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await homeserver(request);
    if (!new URL(request.url).pathname.endsWith("/sync") || !response.ok) return response;
    const body = await response.json();
    for (const room of Object.values<{ timeline?: { events: JsonObject[] } }>(body.rooms?.join ?? {})) {
      room.timeline?.events.push(...room.timeline.events.filter(({ type }) => type === "m.room.encrypted"));
    }
    return Response.json(body);
  };
  const [alice, bot] = [
    stage.client("alice", { encryption: EVERYBODY }),
    stage.client("bot", { encryption: EVERYBODY, fetch: doubling }),
  ];
  for (const client of [alice, bot]) await begin(stage, client);
  const roomId = await alice.createRoom({ invitees: ["@bot:localhost"], initialState: [ROOM_ENCRYPTION] });
  await bot.joinRoom(roomId);
  await stage.settle();
  const texts = heard(bot);
  await alice.sendText(roomId, "pay him");
  await alice.sendText(roomId, "thank you");
  await stage.until(() => texts.includes("thank you"));
  await stage.settle();
  assertEquals(texts, ["pay him", "thank you"]);
});

Deno.test("T77: what was only looked at, or came with another event, is handled when it comes itself", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("pay him");
  const root = sender.say("root");
  const { source: _, ...latest } = sender.wrap({
    type: "m.room.message",
    content: { body: "in the thread", "m.relates_to": { rel_type: "m.thread", event_id: root.event_id } },
  });
  const bundle = { "m.thread": { latest_event: latest, count: 1, current_user_participated: false } };
  const rooted = { ...root, unsigned: { "m.relations": bundle } };
  const events = [event, rooted, { ...latest, source: event.source }] as never[];
  await receiver.decrypt(event, rooted as never);
  const handOut = async (handledBefore: boolean) => {
    const again = new Set<number>();
    await receiver.step((tx) => receiver.inbound.decryption.decryptAll(tx, events, { handledBefore, again }));
    return [...again];
  };
  const [REPEATED, NEW] = [false, true];
  assertEquals(await handOut(NEW), []);
  assertEquals(await handOut(NEW), [0, 1, 2]);
  assertEquals(await handOut(REPEATED), []); // a process has ended before they were handled
  receiver.restart();
  assertEquals(await handOut(NEW), [0, 1, 2]);
});
