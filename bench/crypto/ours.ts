/**
 * Greenroom: two devices with everything that a client has, but for HTTP.
 *
 * @module
 */

import type { MessageEvent } from "../../src/types/events/event.ts";
import type { RoomID, TransactionID, UserID } from "../../src/types/ids.ts";
import { readCrowd } from "./crowd.ts";
import { BenchDevice, type StoreKind } from "./device.ts";
import { type Measured, option, serveJobs, timed } from "./job.ts";
import { CONTENT, encryptedEvent, EVENT_TYPE, ROOM } from "./message.ts";
import { Switchboard } from "./switchboard.ts";

const ALICE = "@alice:example.org" as UserID;
const BOB = "@bob:example.org" as UserID;

const store = option("store", "memory") as StoreKind;
const crowd = await readCrowd(option("crowd", ""));
const switchboard = new Switchboard();
const members = (): UserID[] => [ALICE, BOB];
const bob = await BenchDevice.make({ userId: BOB, switchboard, members, store });
/** Who is measured keeps records as was said; who only plays the other part does so in memory. */
const alice = await BenchDevice.make({ userId: ALICE, switchboard, members, store });
const carol = await BenchDevice.make({
  userId: "@carol:example.org" as UserID,
  switchboard,
  members: () => [BOB, "@carol:example.org" as UserID],
  store: "memory",
});

let transactions = 0;

async function ready(device: BenchDevice): Promise<void> {
  await device.crypto.discardGroupSession(ROOM);
  await device.crypto.shareGroupSession(ROOM);
  await bob.sync();
}

/** Messages that Bob has not seen, and has the key of. */
async function received(count: number): Promise<MessageEvent[]> {
  await ready(carol);
  const events: MessageEvent[] = [];
  for (let index = 0; index < count; index++) {
    const content = await carol.crypto.encrypt(ROOM, EVENT_TYPE, CONTENT);
    events.push(encryptedEvent(content, { sender: carol.userId }) as unknown as MessageEvent);
  }
  return events;
}

async function encryptAll(count: number, { andSent }: { readonly andSent: boolean }): Promise<Measured> {
  await ready(alice);
  const ids = Array.from({ length: count }, () => `bench${transactions++}` as TransactionID);
  const took = await timed(async () => {
    for (const txnId of ids) {
      await alice.crypto.encrypt(ROOM, EVENT_TYPE, CONTENT, { txnId });
      if (andSent) await alice.crypto.sent({ roomId: ROOM, txnId, hasArrived: true });
    }
  });
  if (!andSent) {
    for (const txnId of ids) {
      await alice.crypto.sent({ roomId: ROOM, txnId, hasArrived: true });
    }
  }
  return took;
}

async function sync(events: MessageEvent[]): Promise<void> {
  const { decrypted } = await bob.sync(events);
  for (const outcome of decrypted) {
    if (!("event" in outcome)) throw new Error(outcome.reason);
  }
}

await serveJobs({
  encrypt: (count) => encryptAll(count, { andSent: false }),
  encrypt_and_sent: (count) => encryptAll(count, { andSent: true }),
  async decrypt_one(count) {
    const events = await received(count);
    return await timed(async () => {
      for (const event of events) await sync([event]);
    });
  },
  async decrypt_event(count) {
    const events = await received(count);
    return await timed(async () => {
      for (const event of events) {
        const outcome = await bob.crypto.decrypt(event);
        if (!("event" in outcome)) throw new Error(outcome.reason);
      }
    });
  },
  async decrypt_sync(count) {
    const events = await received(count);
    return await timed(() => sync(events));
  },
  async first_message() {
    const users = Object.keys(crowd.deviceKeys) as UserID[];
    const dave = "@dave:example.org" as UserID;
    await using device = await BenchDevice.make({
      userId: dave,
      switchboard: new Switchboard(crowd),
      members: () => [dave, ...users],
      store,
    });
    for (const user of users) await device.crypto.getDevices(user);
    const roomId = "!crowd:example.org" as RoomID;
    const txnId = "first" as TransactionID;
    return await timed(() => device.crypto.encrypt(roomId, EVENT_TYPE, CONTENT, { txnId }));
  },
});
