/**
 * A sync response is taken in without what has the step fail: few messages and events, and nothing
 * where all fail.
 */

import { assertEquals, assertRejects } from "@std/assert";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import {
  MessageAtFault,
  receiveDespiteFaults,
  type SyncStepInput,
} from "../../../src/crypto/engine/receive_sync.ts";
import type { Logger } from "@greenroom/matrix";
import { type MessageEvent, SyncStream } from "@greenroom/matrix/types";

const event = (index: number): MessageEvent => ({
  type: "m.room.encrypted",
  content: { index },
  sender: "@bob:example.org",
  room_id: "!room:example.org",
  event_id: `$${index}`,
  origin_server_ts: 0,
  source: SyncStream.TIMELINE,
});

/**
 * Receives a response of so many messages and events, some of which make the step fail; returns
 * those that were received, and the log.
 */
async function receive(
  { messages = [], events = [], count = 40, broken }: {
    readonly messages?: readonly number[];
    readonly events?: readonly number[];
    readonly count?: number;
    /** What fails whatever there is: the step, or only its commit. */
    readonly broken?: "step" | "commit";
  },
  logged: string[] = [],
) {
  const note = (text: string) => void logged.push(text);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const taken: SyncStepInput[] = [];
  const fails = ({ input, skip }: SyncStepInput) => {
    if (broken === "step") throw new TypeError("The store is gone");
    for (const index of messages) {
      if (!skip.has(index)) throw new MessageAtFault(index, new TypeError("unread"));
    }
    if (input.encrypted.some(({ content }) => events.includes(Number(content.index)))) {
      throw new TypeError("broken");
    }
  };
  const input = {
    encrypted: Array.from({ length: count }, (_, index) => event(index)),
  } as unknown as CryptoInput;
  const step = {
    take: (intake: SyncStepInput) => {
      taken.push(intake);
      fails(intake);
      if (broken === "commit") throw new TypeError(`The store is gone for step ${taken.length}`);
      return Promise.resolve({
        toDevice: [],
        decrypted: [],
        underway: [],
        recovered: [],
        encryptedRooms: new Set<never>(),
      });
    },
    works: (intake: SyncStepInput) => Promise.try(fails, intake).then(() => true, () => false),
  };
  await receiveDespiteFaults(input, { step, log });
  const { skip, input: { encrypted } } = taken.at(-1) ?? { skip: new Set(), input };
  const emptied = encrypted.filter(({ content }) => content.index === undefined).map(({ event_id }) =>
    event_id
  );
  return { skipped: [...skip], emptied, logged };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

Deno.test("up to ten messages that have the step fail are left out, each with a line in the log; with an eleventh it fails", async () => {
  assertEquals((await receive({ messages: [] })).logged, []);
  const { skipped, logged } = await receive({ messages: upTo(10) });
  assertEquals([skipped, logged.length], [upTo(10), 10]);
  await assertRejects(() => receive({ messages: upTo(11) }), MessageAtFault, "Cannot take in message 10");
});

Deno.test("up to ten events that have the step fail are emptied, no others, with one line in the log; with an eleventh it fails", async () => {
  const one = await receive({ events: [17] });
  assertEquals([one.emptied, one.logged], [["$17"], ["Skipped encrypted events"]]);
  const ten = await receive({ events: upTo(10).map((index) => 4 * index) });
  assertEquals(ten.emptied, upTo(10).map((index) => `$${4 * index}`));
  const logged: string[] = [];
  const eleven = { events: upTo(11).map((index) => 3 * index) };
  await assertRejects(() => receive(eleven, logged), TypeError, "broken");
  assertEquals(logged, []);
});

Deno.test("messages and events of one response may both have the step fail", async () => {
  const { skipped, emptied } = await receive({ messages: [3], events: [0, 39] });
  assertEquals([skipped, emptied], [[3], ["$0", "$39"]]);
});

Deno.test("a step that fails whatever it is given fails as it did, and nothing is said to be skipped", async () => {
  const logged: string[] = [];
  for (const count of [0, 1, 40]) {
    await assertRejects(() => receive({ broken: "step", count }, logged), TypeError, "The store is gone");
  }
  assertEquals(logged, []);
});

Deno.test("a store that does not take the step is no event's fault: it is not tried again, and nothing is said to be skipped", async () => {
  const logged: string[] = [];
  for (const count of [0, 1, 40]) {
    await assertRejects(() => receive({ broken: "commit", count }, logged), TypeError, "for step 1");
  }
  assertEquals(logged, []);
});
