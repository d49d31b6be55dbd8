/**
 * An account with many rooms by both ways of syncing: `deno run -A bench/sliding.ts [ROOMS]`.
 *
 * On Synapse, each room with two members and five messages: from the start of the first sync to the first event
 * in a handler and to the last, and how many bytes come, after decompression; then the same for one more message.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { Synapse } from "../tools/synapse.ts";

const MESSAGES = 5;
/** Each twice: of the first of both Synapse has nothing in its caches. */
const WAYS = ["classic", "sliding", "classic", "sliding"] as const;

/** A fetch that counts the bytes of answers. */
function counting(): { readonly fetch: typeof globalThis.fetch; bytes: number } {
  const counter = {
    bytes: 0,
    fetch: async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const response = await fetch(input, init);
      const body = new Uint8Array(await response.arrayBuffer());
      counter.bytes += body.length;
      return new Response(body, response);
    },
  };
  return counter;
}

async function measure(rooms: number): Promise<Record<string, string | number>[]> {
  await using synapse = await Synapse.start();
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { newUser } = await import("../tests/e2e/support/synapse.ts");
  const { baseUrl } = synapse;
  const alice = await newUser(synapse, "alice", { unlimited: "people" });
  const bot = await newUser(synapse, "bot", { unlimited: "measured" });
  await using person = new Client({ baseUrl, accessToken: alice.accessToken, log: false });
  await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
  let last: RoomID | undefined;
  for (let room = 0; room < rooms; room++) {
    last = await person.createRoom({ invitees: [bot.userId] });
    await joiner.joinRoom(last);
    for (let message = 0; message < MESSAGES; message++) await person.sendText(last, `message ${message}`);
  }
  const rows = [];
  for (const sync of WAYS) {
    const counter = counting();
    await using client = new Client({
      ...{ baseUrl, accessToken: bot.accessToken, log: false, sync, fetch: counter.fetch },
    });
    let first: number | undefined;
    client.on("m.room.message", () => void (first ??= performance.now()));
    const pass = async (): Promise<{ first: string; all: string; kB: string }> => {
      const began = performance.now();
      [first, counter.bytes] = [undefined, 0];
      await client.syncOnce();
      const all = performance.now() - began;
      const kB = (counter.bytes / 1000).toFixed(1);
      return { first: `${Math.round((first ?? NaN) - began)} ms`, all: `${Math.round(all)} ms`, kB };
    };
    const start = await pass();
    if (last !== undefined) await person.sendText(last, "one more");
    const next = await pass();
    rows.push({
      sync,
      rooms,
      "first event": start.first,
      "all handled": start.all,
      "kB at the start": start.kB,
      "kB of one message": next.kB,
    });
  }
  return rows;
}

if (import.meta.main) console.table(await measure(Number(Deno.args[0] ?? 200)));
