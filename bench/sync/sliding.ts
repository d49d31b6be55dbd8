/**
 * An account with many rooms by both ways of syncing: `deno run -A bench/sync/sliding.ts [ROOMS]`.
 *
 * On Synapse, each room with two members and five messages, 2,000 rooms if no number is given. Measured
 * is from the start of a sync to the first event in a handler and to the last, how many bytes come,
 * after decompression, and the most that the heap has held: at the first start; for one more message;
 * and at the start after a day away, in which two messages came in every fourth room. Synapse has
 * nothing in its caches at each start.
 *
 * @module
 */

import { Client, MemoryStore } from "@greenroom/matrix";
import { systemClock } from "../../src/base/clock.ts";
import { largeAccount } from "./large_account.ts";

/** One of so many rooms has messages while the bot is away. */
const BUSY = 4;
/** How many each of them has. */
const NEWS = 2;
const WAYS = ["classic", "sliding"] as const;
/** A clock that is a day ahead. */
const NEXT_DAY = { ...systemClock, now: () => Date.now() + 86_400_000 };

/** A fetch that counts the bytes of answers, and what the heap holds when they have come. */
function counting(): { readonly fetch: typeof globalThis.fetch; bytes: number; heap: number } {
  const counter = {
    bytes: 0,
    heap: 0,
    fetch: async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const response = await fetch(input, init);
      const body = new Uint8Array(await response.arrayBuffer());
      counter.bytes += body.length;
      counter.heap = Math.max(counter.heap, heap());
      return new Response(body, response);
    },
  };
  return counter;
}

function heap(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** What a sync of a process has taken. */
interface Pass {
  readonly sync: string;
  readonly when: string;
  readonly events: number;
  readonly "first event, ms": number;
  readonly "all handled, ms": number;
  readonly "answers, kB": number;
  readonly "heap held, MB": string;
}

async function measure(rooms: number): Promise<Pass[]> {
  await using account = await largeAccount(rooms);
  const { synapse, person, bot } = account;
  const { baseUrl } = synapse;
  await using talker = new Client({ baseUrl, accessToken: person.accessToken, log: false });
  const ids = await talker.getJoinedRooms();
  const passes: Pass[] = [];
  const stores = new Map(WAYS.map((sync) => [sync, new MemoryStore()]));
  /** A process of the bot, which syncs until nothing is left; and then does something more. */
  const run = async (
    sync: typeof WAYS[number],
    when: string,
    { clock = systemClock, more }: {
      readonly clock?: typeof systemClock;
      readonly more?: (pass: (when: string) => Promise<void>) => Promise<void>;
    } = {},
  ): Promise<void> => {
    await synapse.restart();
    const counter = counting();
    const before = heap();
    const store = stores.get(sync);
    const { accessToken } = bot;
    const { fetch } = counter;
    await using client = new Client({ baseUrl, accessToken, log: false, sync, fetch, store, clock });
    let first: number | undefined;
    let events = 0;
    client.on("m.room.message", () => {
      events++;
      first ??= performance.now();
      counter.heap = Math.max(counter.heap, heap());
    });
    const pass = async (when: string): Promise<void> => {
      const began = performance.now();
      [first, counter.bytes, counter.heap, events] = [undefined, 0, 0, 0];
      await client.syncOnce();
      const all = performance.now() - began;
      passes.push({
        sync,
        when,
        events,
        "first event, ms": Math.round((first ?? NaN) - began),
        "all handled, ms": Math.round(all),
        "answers, kB": Math.round(counter.bytes / 1000),
        "heap held, MB": ((counter.heap - before) / 1e6).toFixed(1),
      });
    };
    await pass(when);
    await more?.(pass);
  };
  for (const sync of WAYS) {
    await run(sync, "first start", {
      more: async (pass) => {
        const [room] = ids;
        if (room !== undefined) await talker.sendText(room, "one more");
        await pass("one more message");
      },
    });
  }
  for (const [index, room] of ids.entries()) {
    if (index % BUSY !== 0) continue;
    for (let count = 0; count < NEWS; count++) await talker.sendText(room, `news ${count}`);
  }
  for (const sync of WAYS) await run(sync, "after a day away", { clock: NEXT_DAY });
  return passes;
}

if (import.meta.main) console.table(await measure(Number(Deno.args[0] ?? 2_000)));
