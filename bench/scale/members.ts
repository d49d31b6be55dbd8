/**
 * A bot in an encrypted room of so many members, of whom the first have 2,000 devices: prints what the first
 * send takes, what the next one, and what memory.
 *
 * The homeserver is a function.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { makeCrowd } from "../crypto/crowd.ts";
import { Switchboard } from "../crypto/switchboard.ts";
import { memoryInUse, processorTime } from "../support/process.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

const ME = "@bot:example.org";
const DEVICE = "SCALE";
const ROOM = "!room:example.org";
const DEVICES = 2_000;
/** Fewer than a session has: its successor is shared with all devices again. */
const SENDS = 90;
const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

const members = Number(Deno.args[0]);
const switchboard = new Switchboard(await makeCrowd(DEVICES));
/** The answer to the question who is in the room, ready: its making is not measured. */
const chunk = JSON.stringify({
  chunk: [ME, ...Array.from({ length: members }, (_, index) => `@user${index}:example.org`)].map((userId) =>
    stateEvent("m.room.member", userId, { membership: "join" })
  ),
});

function stateEvent(type: string, stateKey: string, content: object): object {
  return {
    ...{ type, state_key: stateKey, event_id: `$${type}${stateKey}`, sender: ME, origin_server_ts: 1 },
    ...{ content, room_id: ROOM },
  };
}

const FIRST = {
  next_batch: "s0",
  rooms: {
    join: {
      [ROOM]: {
        state: {
          events: [
            stateEvent("m.room.create", "", { room_version: "11" }),
            stateEvent("m.room.encryption", "", MEGOLM),
            stateEvent("m.room.member", ME, { membership: "join" }),
          ],
        },
        timeline: { events: [], limited: false },
      },
    },
  },
  device_one_time_keys_count: { signed_curve25519: 50 },
  device_unused_fallback_key_types: ["signed_curve25519"],
};

let shared = 0;
let sent = 0;

const server: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.endsWith("/sync")) {
    if (!searchParams.has("since")) return Response.json(FIRST);
    return await new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  }
  if (pathname.endsWith("/members")) return new Response(chunk);
  if (pathname.includes("/state/m.room.encryption")) return Response.json(MEGOLM);
  if (pathname.includes("/state/m.room.history_visibility")) {
    return Response.json({ history_visibility: "shared" });
  }
  if (pathname.includes("/send/")) return Response.json({ event_id: `$sent${++sent}` });
  if (pathname.endsWith("/whoami")) return Response.json({ user_id: ME, device_id: DEVICE });
  const body = request.method === "GET" ? {} : await request.json();
  if (pathname.endsWith("/keys/upload")) return Response.json(switchboard.upload(ME, DEVICE, body));
  if (pathname.endsWith("/keys/query")) {
    return Response.json(switchboard.query(Object.keys(body.device_keys)));
  }
  if (pathname.endsWith("/keys/claim")) return Response.json(switchboard.claim(body.one_time_keys));
  if (pathname.includes("/sendToDevice/")) {
    for (const devices of Object.values(body.messages)) shared += Object.keys(devices as object).length;
    return Response.json({});
  }
  return Response.json({ filter_id: "1", versions: ["v1.11"] });
};

const folder = await Deno.makeTempDir({ prefix: "greenroom-scale-" });
const store = await SqliteStore.open(`${folder}/members.db`);
const client = new Client({
  ...{ baseUrl: "http://localhost", accessToken: "token", mxid: ME, deviceId: DEVICE, fetch: server, store },
  ...{ encryption: EVERYBODY, log: false },
});
const running = client.start();
await client.ready;
await client.crypto?.idle();
const first = processorTime();
await client.sendText(ROOM, "hello");
const firstSend = processorTime() - first;
if (shared !== DEVICES) throw new Error(`Cannot measure: ${shared} devices got the key, not ${DEVICES}`);
const more = processorTime();
for (let send = 0; send < SENDS; send++) await client.sendText(ROOM, "hello");
const next = (processorTime() - more) * 1_000 / SENDS;
const memory = memoryInUse().heap / 1_000_000;
await client.close();
await running;
await store.close();
await Deno.remove(folder, { recursive: true });
console.log(JSON.stringify({ "first, CPU ms": firstSend, "heap, MB": memory, "next, CPU µs": next }));
