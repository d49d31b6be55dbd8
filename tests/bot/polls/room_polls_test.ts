/** Whose events of a poll count in a room, whatever the server gives. */

import { assertEquals, assertRejects } from "@std/assert";
import { type Client, ValueError } from "@greenroom/matrix";
import { POLL_EVENTS, pollEnd, pollResponse, pollStart } from "@greenroom/matrix/bot";
import type { ClientEvent, EncryptionInfo, EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { countPoll, endPoll, sendPoll } from "../../../src/bot/polls/polls.ts";
import { noteEncryption } from "../../../src/types/events/encryption_info.ts";

const ROOM = "!room:a" as RoomID;
const POLL = "$poll" as EventID;
const ENCRYPTED = "m.room.encrypted";
let ids = 0;

/** An event, in clear or as it comes encrypted: with how its key came, or without a key. */
interface Said {
  readonly clear: ClientEvent;
  readonly keySource?: "sender" | "backup" | "bundle" | "none";
}

function said(type: string, content: object, sender: string, more: { at?: number; id?: string } = {}): Said {
  const { at = 10, id = `$${ids++}` } = more;
  const event = { type, event_id: id, sender: `@${sender}:a`, origin_server_ts: at, content };
  return { clear: event as unknown as ClientEvent };
}

const START = said(
  POLL_EVENTS.START,
  pollStart({ question: "Lunch?", answers: ["Pizza", "Pasta"] }),
  "alice",
  { at: 1, id: POLL },
);
const vote = (sender: string, answer: string, at?: number) =>
  said(POLL_EVENTS.RESPONSE, pollResponse(POLL, [answer]), sender, { at });
const end = (sender: string, at?: number) => said(POLL_EVENTS.END, pollEnd(POLL, "over"), sender, { at });
function edit(sender: string, question: string, at?: number): Said {
  const content = {
    ...pollStart({ question: `* ${question}`, answers: ["A"] }),
    "m.new_content": pollStart({ question, answers: ["A"] }),
    "m.relates_to": { rel_type: "m.replace", event_id: POLL },
  };
  return said(POLL_EVENTS.START, content, sender, { at });
}
const encrypted = (each: Said, keySource: Said["keySource"] = "sender"): Said => ({ ...each, keySource });

/** An event as the server gives it. */
function given({ clear, keySource }: Said): ClientEvent {
  if (keySource === undefined) return clear;
  const { "m.relates_to": relation } = clear.content as { "m.relates_to"?: object };
  return { ...clear, type: ENCRYPTED, content: { "m.relates_to": relation } };
}

/** A client in a room whose server gives a poll and what relates to it, the newest first. */
function clientOf(
  start: Said,
  { related = [], edits = [], isEncrypted = false, hasCrypto = true, moderators = [] }: {
    readonly related?: readonly Said[];
    readonly edits?: readonly Said[];
    readonly isEncrypted?: boolean;
    readonly hasCrypto?: boolean;
    readonly moderators?: readonly string[];
  } = {},
) {
  const all = [start, ...related, ...edits];
  const [asked, sent, read] = [[] as string[], [] as [string, object][], [] as EventID[]];
  const client = {
    getEvent: () => Promise.resolve(given(start)),
    isRoomEncrypted: () => Promise.resolve(isEncrypted),
    async *iterateRelations(_room: RoomID, _poll: EventID, { relType }: { relType: string }) {
      for (const each of relType === "m.replace" ? edits : related) {
        read.push(each.clear.event_id);
        yield await Promise.resolve(given(each));
      }
    },
    stateStore: {
      hasPowerLevel(_room: RoomID, user: UserID) {
        asked.push(user);
        return Promise.resolve(moderators.includes(user));
      },
    },
    crypto: hasCrypto ? { decrypt } : undefined,
    sendMessageEvent(_room: RoomID, type: string, content: object) {
      sent.push([type, content]);
      return Promise.resolve(POLL);
    },
  };
  return { client: client as unknown as Client, asked, sent, read };

  function decrypt({ event_id, type }: ClientEvent) {
    if (type !== ENCRYPTED) return Promise.reject(new TypeError("It is in clear"));
    const found = all.find(({ clear }) => clear.event_id === event_id) as Said;
    const { clear, keySource } = found;
    if (keySource === "none") return Promise.resolve({ code: "MISSING_KEY" });
    const { "m.relates_to": _, ...content } = clear.content as { "m.relates_to"?: object };
    const encryption = { keySource } as unknown as EncryptionInfo;
    return Promise.resolve({ event: noteEncryption({ ...clear, content }, { encryption }) });
  }
}

/** The votes for each answer. */
async function counted(...scene: Parameters<typeof clientOf>): Promise<number[]> {
  return (await countPoll(clientOf(...scene).client, ROOM, POLL)).answers.map(({ votes }) => votes);
}

Deno.test("In a room in clear votes count as they come", async () => {
  assertEquals(await counted(START, { related: [vote("bob", "1"), vote("carol", "2")] }), [1, 1]);
});

Deno.test("Of an encrypted poll, or in an encrypted room, only votes count that came encrypted, by a key of their sender's", async () => {
  const related = [
    encrypted(vote("bob", "1")),
    vote("carol", "2"),
    encrypted(vote("dave", "2"), "backup"),
    encrypted(vote("eve", "2"), "bundle"),
    encrypted(vote("frank", "2"), "none"),
  ];
  for (const isEncrypted of [true, false]) {
    assertEquals(await counted(encrypted(START), { related, isEncrypted }), [1, 0]);
  }
  assertEquals(await counted(encrypted(START, "backup"), { related, isEncrypted: true }), [1, 0]);
});

Deno.test("A poll that came in clear into an encrypted room is not counted, nor one that can't be read", async () => {
  const clear = clientOf(START, { isEncrypted: true });
  await assertRejects(() => countPoll(clear.client, ROOM, POLL), ValueError, "it came in clear");
  const closed = [clientOf(encrypted(START, "none")), clientOf(encrypted(START), { hasCrypto: false })];
  for (const { client } of closed) {
    await assertRejects(() => countPoll(client, ROOM, POLL), ValueError, "it is no poll");
  }
});

Deno.test("A poll is edited by its creator, and an encrypted one by what came encrypted", async () => {
  const questionOf = async (...scene: Parameters<typeof clientOf>) =>
    (await countPoll(clientOf(...scene).client, ROOM, POLL)).poll.question;
  assertEquals(await questionOf(START, { edits: [edit("alice", "Dinner?")] }), "Dinner?");
  assertEquals(await questionOf(encrypted(START), { edits: [edit("alice", "Dinner?")] }), "Lunch?");
  assertEquals(
    await questionOf(encrypted(START), { edits: [encrypted(edit("alice", "Dinner?"))] }),
    "Dinner?",
  );
});

Deno.test("A hundred edits of the creator are looked at, however many others have sent", async () => {
  const others = Array.from({ length: 200 }, () => edit("mallory", "Mine?"));
  const own = Array.from({ length: 150 }, (_, at) => edit("alice", `Question ${at}?`, 1_000 - at));
  const { client, read } = clientOf(START, { edits: [...others, ...own] });
  assertEquals((await countPoll(client, ROOM, POLL)).poll.question, "Question 0?");
  assertEquals(read.length, 300);
});

Deno.test("A poll is ended by its creator or who may redact; power is asked for of nobody else", async () => {
  const related = [vote("carol", "1", 30), end("bob", 20), vote("carol", "2", 10)];
  const scene = clientOf(START, { related, moderators: ["@bob:a"] });
  const tally = await countPoll(scene.client, ROOM, POLL);
  assertEquals([tally.endedAt, tally.answers.map(({ votes }) => votes)], [20, [0, 1]]);
  assertEquals(new Set(scene.asked), new Set(["@bob:a"]));
  assertEquals(await counted(START, { related }), [1, 0]);
});

Deno.test("A vote in time counts, also if the end is read after it and a later vote", async () => {
  const related = [vote("carol", "1", 30), vote("carol", "2", 10), end("alice", 20)];
  assertEquals(await counted(START, { related }), [0, 1]);
});

Deno.test("A poll is ended once", async () => {
  const open = clientOf(START);
  await endPoll(open.client, ROOM, POLL);
  assertEquals(open.sent.map(([type]) => type), [POLL_EVENTS.END]);
  const over = clientOf(START, { related: [end("alice")] });
  await endPoll(over.client, ROOM, POLL);
  assertEquals(over.sent, []);
});

Deno.test("A poll says what it relates to, if it does", async () => {
  const { client, sent } = clientOf(START);
  const poll = { question: "Lunch?", answers: ["Pizza"] };
  const relatesTo = { rel_type: "m.thread", event_id: "$thread" as EventID } as const;
  await sendPoll(client, ROOM, poll);
  await sendPoll(client, ROOM, { ...poll, relatesTo });
  const [alone, related] = sent.map(([, content]) => content as Record<string, unknown>);
  assertEquals(["m.relates_to" in (alone ?? {}), related?.["m.relates_to"]], [false, relatesTo]);
});
