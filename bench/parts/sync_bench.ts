/**
 * A sync response, parsed, on its way through the client: checked, committed, and brought to a
 * handler.
 */

import { Client } from "@greenroom/matrix";
import { SyncStream } from "@greenroom/matrix/types";
import { makeInputs, tokenAfter } from "../peers/inputs/inputs.ts";
import { FULL } from "../peers/inputs/plan.ts";

const REPEATS = 50;

/**
 * A client that is given the same responses again and again, each as if it came from a server just
 * now.
 */
async function benchSync(name: string, busyRooms: number, events: number): Promise<void> {
  const sizes = {
    ...FULL,
    rooms: 50,
    incremental: REPEATS,
    busyRooms,
    busyTimeline: events,
    small: 0,
  };
  const [initial, ...bodies] = makeInputs(sizes, 1).map((bytes) => new TextDecoder().decode(bytes));
  let [served, turn] = [0, 0];
  const answer = (url: string): string => {
    if (!url.includes("/sync")) return JSON.stringify({ versions: ["v1.11"] });
    if (served++ === 0) return initial ?? "{}";
    const body = bodies[turn % bodies.length] ?? "{}";
    const repeat = Math.floor(turn++ / bodies.length);
    const token = tokenAfter((turn - 1) % bodies.length + 2);
    // An event that comes again is another one, and so is the token.
    return repeat === 0
      ? body
      : body.replace(token, `${token}_${repeat}`).replaceAll(/"event_id":"[^"]*/g, `$&${repeat}`);
  };
  const client = new Client({
    baseUrl: "http://localhost",
    accessToken: "bench",
    mxid: "@me:example.org",
    deviceId: "BENCH",
    fetch: (input) =>
      Promise.resolve(new Response(answer(String(input instanceof Request ? input.url : input)))),
  });
  let handled = 0;
  client.addEventHandler(() => void handled++, { source: SyncStream.TIMELINE });
  await client.syncOnce();
  const expected = busyRooms * events;
  Deno.bench(name, async () => {
    const before = handled;
    await client.syncOnce();
    if (handled - before !== expected) {
      throw new Error(`Cannot measure a sync: ${handled - before} of ${expected} events were handled`);
    }
  });
}

await benchSync("sync: 1,000 events of 50 rooms", 50, 20);
await benchSync("sync: 5 events of a room", 1, 5);
