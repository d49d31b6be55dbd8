/**
 * A client that walks one of the ways some times more often: `deno run walk.ts WAY EXTRA`. What ran
 * for it is seen by coverage.
 *
 * Everything else happens as often, however large EXTRA is: so what ran more often did so for one
 * more message. A long receipt ends the process inside the last handler: what follows a handler runs
 * once less often than there are more messages, and so is not on the way to it.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID, SyncResponse } from "@greenroom/matrix/types";
import { Homeserver } from "@greenroom/matrix/testing";
import { REPEATS, type Way } from "./way.ts";

const [way = "", extra = "0"] = Deno.args;
const isLong = extra !== "0";
const homeserver = new Homeserver();
const MEGOLM = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };

// Nobody here has an identity that signs devices.
const encryption = (way.startsWith("encrypted") || way === "late key") &&
  { sendTo: "all", accept: "all" } as const;
const clientOf = (name: string): Client =>
  new Client({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    token: homeserver.createUser(name).accessToken,
    encryption,
    log: false,
  });

const alice = clientOf("alice");
const bob = clientOf("bob");
let handled = 0;
bob.on("m.room.message", () => {
  if (++handled === REPEATS + 2) Deno.exit(0);
});

/** Syncs as a client does that keeps its device. */
async function synced(client: Client): Promise<void> {
  const running = client.start();
  await client.ready;
  await client.stop();
  await running;
}

/** Rooms of both, which both have synced. */
async function makeRooms(count: number): Promise<RoomID[]> {
  for (const client of [alice, bob]) await synced(client);
  const rooms: RoomID[] = [];
  for (let made = 0; made < count; made++) {
    const roomId = await alice.createRoom({
      invitees: ["@bob:localhost"],
      initialState: encryption ? [MEGOLM] : [],
    });
    await bob.joinRoom(roomId);
    rooms.push(roomId);
  }
  for (const client of [alice, bob]) await synced(client);
  return rooms;
}

/** The response to Bob's next sync, which is not processed yet. */
async function newsFor(position: { since: string | undefined }): Promise<SyncResponse> {
  const { since } = position;
  const response = await bob.sync({ since, timeout: 0 });
  position.since = response.next_batch;
  return response;
}

/**
 * One message after the other comes in a response of its own; all are handled, or only the first.
 */
async function receive(): Promise<void> {
  const [roomId] = await makeRooms(1);
  const position = { since: await bob.syncStore.getNextBatch() };
  for (let sent = 1; sent <= REPEATS + 2; sent++) {
    await alice.sendText(roomId as RoomID, `${sent}`);
    const news = await newsFor(position);
    if (sent > 2 && !isLong) continue;
    await Promise.all(await bob.handleSync(news));
  }
}

/** The key of each room's first message comes after the message. */
async function receiveLate(): Promise<void> {
  const rooms = await makeRooms(REPEATS + 2);
  const position = { since: await bob.syncStore.getNextBatch() };
  for (const [index, roomId] of rooms.entries()) {
    const follows = index < 2 || isLong;
    await alice.sendText(roomId, "early");
    const news = await newsFor(position);
    const { to_device: keys, ...early } = news;
    if (!follows) continue;
    await Promise.all(await bob.handleSync(early));
    await Promise.all(await bob.handleSync({ next_batch: `${news.next_batch}`, to_device: keys }));
  }
}

/** One message after the other to one room, or the first message to one room after the other. */
async function send({ isFirst }: { isFirst: boolean }): Promise<void> {
  const rooms = await makeRooms(isFirst ? REPEATS + 2 : 1);
  for (let sent = 0; sent < (isLong ? REPEATS + 2 : 2); sent++) {
    await alice.sendText(rooms[isFirst ? sent : 0] as RoomID, `${sent}`);
  }
}

const walks: Record<Way, () => Promise<void>> = {
  "plain receive": receive,
  "plain send": () => send({ isFirst: false }),
  "encrypted send, ready": () => send({ isFirst: false }),
  "encrypted send, first": () => send({ isFirst: true }),
  "encrypted receive": receive,
  "late key": receiveLate,
};

await walks[way as Way]();
Deno.exit(0);
