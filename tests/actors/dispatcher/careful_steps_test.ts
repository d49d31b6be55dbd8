import { assertEquals } from "@std/assert";
import { HandlerRegistry, spawnDispatcher } from "../../../src/actors/dispatcher/dispatcher.ts";
import type { Attempt } from "../../../src/actors/store/store_protocol.ts";
import type { StoreHandlers, SyncBatch } from "../../../src/actors/store/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { SyncStream } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";
import { MEGOLM, message, ROOM } from "../support/events.ts";
import { forgetfulDeliverer } from "../support/nothing_kept.ts";
import { answeredBy } from "../../support/answered_by.ts";

/** A Dispatcher, and what it begins of a response that so many processes did not live to see handled. */
async function begunWith(
  { crashes, types }: { readonly crashes: number; readonly types: readonly string[] },
) {
  const registry = new HandlerRegistry();
  const attempts: string[] = [];
  const delivered: unknown[] = [];
  const store = answeredBy<StoreHandlers>((kind, body) => {
    if (kind === "attempt") attempts.push((body as Attempt).id);
    const answers: Record<string, unknown> = {
      settled: [],
      quarantined: [],
      attempt: { lives: 0, verdict: "begin" },
    };
    return Promise.resolve(answers[kind]);
  });
  const log = recordingLogger();
  const dispatcher = spawnDispatcher({
    deliverer: forgetfulDeliverer(registry, log),
    store,
    encryption: { crypto: undefined },
    comesAgain: true,
    maxPending: 100,
    isOver: () => false,
    clock: new TestClock(),
    log,
  });
  for (const type of types) registry.add(type, () => void delivered.push(type));
  await dispatcher.dispatch(batch(crashes));
  await dispatcher.stop();
  return { attempts, delivered };
}

function batch(crashes: number): SyncBatch {
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  const events = [message("1"), { ...message("2"), type: "m.room.encrypted", content: MEGOLM }]
    .map((event) => ({ ...event, room_id: ROOM, source }));
  const toDevice = { type: "m.dummy", sender: "@a:a", content: {}, source: SyncStream.TO_DEVICE };
  return {
    nextBatch: "n",
    crashes,
    internal: [{ type: "DEVICE_LISTS", data: { changed: [], left: [], source: SyncStream.INTERNAL } }],
    global: [toDevice, toDevice, { type: "m.direct", content: {}, source: SyncStream.ACCOUNT_DATA }],
    rooms: [{
      roomId: ROOM,
      gap: undefined,
      events,
      ignored: undefined,
      remarks: new Map([[1, { type: "UNDECRYPTABLE", data: { event: events[1] } }]]),
      ephemeral: [],
      sticky: [],
      accountData: [],
    }],
  } as unknown as SyncBatch;
}

const TYPES = ["DEVICE_LISTS", "m.dummy", "m.direct", "m.room.message", "m.room.encrypted", "UNDECRYPTABLE"];

Deno.test("Careful delivery names each part of a response, the same in every process", async () => {
  const { attempts, delivered } = await begunWith({ crashes: 2, types: TYPES });
  assertEquals(attempts, [
    "[null,null,null,null] DEVICE_LISTS",
    '["m.dummy",null,"@a:a",null]',
    '["m.dummy",null,"@a:a",null] 1',
    '["m.direct",null,null,null]',
    "$1",
    "$2",
    "$2 UNDECRYPTABLE",
  ]);
  assertEquals(delivered.length, attempts.length);
  assertEquals((await begunWith({ crashes: 7, types: TYPES })).attempts, attempts);
});

Deno.test("Careful delivery begins with the second process that has ended, and notes only what has handlers", async () => {
  for (const crashes of [0, 1]) {
    const { attempts, delivered } = await begunWith({ crashes, types: TYPES });
    assertEquals([attempts, delivered.length], [[], 7]);
  }
  const { attempts, delivered } = await begunWith({ crashes: 2, types: ["UNDECRYPTABLE"] });
  assertEquals([attempts, delivered], [["$2 UNDECRYPTABLE"], ["UNDECRYPTABLE"]]);
  assertEquals((await begunWith({ crashes: 2, types: [] })).attempts, []);
});
