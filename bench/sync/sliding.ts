/**
 * An account with many rooms by both ways of syncing: `deno run -A bench/sync/sliding.ts [ROOMS]`.
 *
 * On Synapse, each room with two members and five messages: from the start of the first sync to the first event
 * in a handler and to the last, how many bytes come, after decompression, and the most that the heap has held;
 * then the same for one more message.
 *
 * @module
 */

import { Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { Synapse } from "../../tools/synapse.ts";

const MESSAGES = 5;
/** How many rooms are made at once. */
const AT_ONCE = 4;
/** Each twice: of the first of both Synapse has nothing in its caches. */
const WAYS = ["classic", "sliding", "classic", "sliding"] as const;

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

async function measure(rooms: number): Promise<Record<string, string | number>[]> {
  await using synapse = await Synapse.start();
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { newUser } = await import("../../tests/e2e/support/synapse.ts");
  const { baseUrl } = synapse;
  const alice = await newUser(synapse, "alice", { unlimited: "people" });
  const bot = await newUser(synapse, "bot", { unlimited: "measured" });
  await using person = new Client({ baseUrl, accessToken: alice.accessToken, log: false });
  await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
  let [begun, last] = [0, undefined as RoomID | undefined];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (begun++ < rooms) {
      const room = last = await person.createRoom({ invitees: [bot.userId] });
      await joiner.joinRoom(room);
      for (let message = 0; message < MESSAGES; message++) await person.sendText(room, `message ${message}`);
    }
  }));
  const rows = [];
  for (const sync of WAYS) {
    const counter = counting();
    const before = heap();
    await using client = new Client({
      ...{
        baseUrl,
        accessToken: bot.accessToken,
        log: false,
        sync,
        fetch: counter.fetch,
        store: new MemoryStore(),
      },
    });
    let first: number | undefined;
    let events = 0;
    client.on("m.room.message", () => {
      events++;
      first ??= performance.now();
      counter.heap = Math.max(counter.heap, heap());
    });
    const pass = async (): Promise<{ first: number; all: number; kB: string }> => {
      const began = performance.now();
      [first, counter.bytes, counter.heap] = [undefined, 0, 0];
      await client.syncOnce();
      const all = performance.now() - began;
      return {
        first: Math.round((first ?? NaN) - began),
        all: Math.round(all),
        kB: (counter.bytes / 1000).toFixed(1),
      };
    };
    const start = await pass();
    const held = counter.heap - before;
    if (last !== undefined) await person.sendText(last, "one more");
    const next = await pass();
    rows.push({
      sync,
      rooms,
      events,
      "first event": `${start.first} ms`,
      "all handled": `${start.all} ms`,
      "kB at the start": start.kB,
      "MB held": (held / 1e6).toFixed(1),
      "one more": `${next.first} ms`,
      "kB of one more": next.kB,
    });
  }
  return rows;
}

if (import.meta.main) console.table(await measure(Number(Deno.args[0] ?? 500)));
