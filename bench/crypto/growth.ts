/**
 * Greenroom among many rooms, devices and sessions: `--size=` of each.
 *
 * Alice and Bob are in that many rooms, each with a session of Alice's; and in one more with a
 * crowd of that many devices, whose keys both know, and which all have the key of Alice's session
 * there. What is measured goes through all rooms in turn, so that nothing can be at hand that would
 * not be at hand for a bot in as many rooms. Each room's session has been used once before, since
 * its first message writes more than a later one, and among few rooms there would soon be none but
 * later ones; what the first one costs is measured by itself. What a sync brings has the same shape
 * at each size: 500 events are of ten rooms, and the next 500 of ten others.
 *
 * @module
 */

import type { MessageEvent } from "../../src/types/events/event.ts";
import type { RoomID, TransactionID, UserID } from "../../src/types/ids.ts";
import { type Crowd, readCrowd } from "./crowd.ts";
import { BenchDevice, type StoreKind } from "./device.ts";
import { type Measured, option, serveJobs, timed } from "./job.ts";
import { CONTENT, encryptedEvent, EVENT_TYPE } from "./message.ts";
import { Switchboard } from "./switchboard.ts";

const ALICE = "@alice:example.org" as UserID;
const BOB = "@bob:example.org" as UserID;
const FULL_ROOM = "!crowd:example.org" as RoomID;
/**
 * How many rooms get their sessions before Bob receives them: as many messages as a server gives
 * with a sync.
 */
const ROOMS_A_SYNC = 100;
/** In how many rooms there is talk at once. */
const BUSY_ROOMS = 10;

const store = option("store", "memory") as StoreKind;
const size = Number(option("size", "10"));
const crowd: Crowd = await readCrowd(option("crowd", ""));
const crowdUsers = Object.keys(crowd.deviceKeys).slice(0, Math.ceil(size / 10)) as UserID[];
const switchboard = new Switchboard(crowd);
const members = (roomId: RoomID): UserID[] =>
  roomId === FULL_ROOM ? [ALICE, BOB, ...crowdUsers] : [ALICE, BOB];
const alice = await BenchDevice.make({ userId: ALICE, switchboard, members, store });
const bob = await BenchDevice.make({ userId: BOB, switchboard, members, store });
const rooms = Array.from({ length: size }, (_, index) => `!room${index}:example.org` as RoomID);
for (const user of crowdUsers) await bob.crypto.getDevices(user);
await alice.crypto.shareGroupSession(FULL_ROOM);
await sync(await received(1, () => FULL_ROOM)); // of keys that no message has used, not all are kept
for (let start = 0; start < size; start += ROOMS_A_SYNC) {
  const some = rooms.slice(start, start + ROOMS_A_SYNC).values();
  await sync(await received(Math.min(ROOMS_A_SYNC, size - start), () => some.next().value ?? FULL_ROOM));
}

// What the preparations have left behind, more of it among more rooms, is not what the messages
// cost.
(globalThis as { gc?: () => void }).gc?.();

let turn = 0;
let transactions = 0;

function nextRoom(): RoomID {
  // A step that shares no factor with the number of rooms comes to every room, and not to
  // neighbours.
  return rooms[(turn++ * 7_919) % rooms.length] ?? FULL_ROOM;
}

/** The next room, with a new, unused session that both have. */
async function renewedRoom(): Promise<RoomID> {
  const room = nextRoom();
  await alice.crypto.discardGroupSession(room);
  await alice.crypto.shareGroupSession(room);
  return room;
}

async function received(count: number, roomOf: () => RoomID | Promise<RoomID>): Promise<MessageEvent[]> {
  const events: MessageEvent[] = [];
  for (let index = 0; index < count; index++) {
    const roomId = await roomOf();
    const content = await alice.crypto.encrypt(roomId, EVENT_TYPE, CONTENT);
    events.push(encryptedEvent(content, { sender: ALICE, roomId }) as unknown as MessageEvent);
  }
  await bob.sync(); // should a session have been replaced
  return events;
}

async function encryptIn(count: number, roomOf: () => RoomID): Promise<Measured> {
  const orders = Array.from({ length: count }, () => ({
    roomId: roomOf(),
    txnId: `bench${transactions++}` as TransactionID,
  }));
  await alice.sync(); // it has gone on: else all rooms would be looked at anew
  const took = await timed(async () => {
    for (const { roomId, txnId } of orders) {
      await alice.crypto.encrypt(roomId, EVENT_TYPE, CONTENT, { txnId });
    }
  });
  for (const { roomId, txnId } of orders) await alice.crypto.sent({ roomId, txnId, hasArrived: true });
  return took;
}

async function sync(events: MessageEvent[]): Promise<void> {
  for (const outcome of (await bob.sync(events)).decrypted) {
    if (!("event" in outcome)) throw new Error(outcome.reason);
  }
}

async function decryptOne(count: number, roomOf: () => RoomID | Promise<RoomID>): Promise<Measured> {
  const events = await received(count, roomOf);
  return await timed(async () => {
    for (const event of events) await sync([event]);
  });
}

await serveJobs({
  encrypt: (count) => encryptIn(count, nextRoom),
  encrypt_crowd: (count) => encryptIn(count, () => FULL_ROOM),
  decrypt_one: (count) => decryptOne(count, nextRoom),
  decrypt_first: (count) => decryptOne(count, renewedRoom),
  decrypt_crowd: (count) => decryptOne(count, () => FULL_ROOM),
  async decrypt_sync(count) {
    const busy = Array.from({ length: BUSY_ROOMS }, nextRoom);
    let next = 0;
    const events = await received(count, () => busy[next++ % BUSY_ROOMS] ?? FULL_ROOM);
    return await timed(() => sync(events));
  },
});
