/**
 * What encryption costs with everything that a client has around it, its store in memory.
 * `bench:crypto` has more.
 */

import type { MessageEvent } from "../../src/types/events/event.ts";
import type { TransactionID, UserID } from "../../src/types/ids.ts";
import { BenchDevice } from "../crypto/device.ts";
import { CONTENT, encryptedEvent, EVENT_TYPE, ROOM } from "../crypto/message.ts";
import { Switchboard } from "../crypto/switchboard.ts";

const ALICE = "@alice:example.org" as UserID;
const BOB = "@bob:example.org" as UserID;
/** A session serves 10,000 messages; the key of another is shared long before. */
const RENEWAL = 5_000;

const switchboard = new Switchboard();
const members = () => [ALICE, BOB];
const bob = await BenchDevice.make({ userId: BOB, switchboard, members, store: "memory" });
const alice = await BenchDevice.make({ userId: ALICE, switchboard, members, store: "memory" });
let sent = 0;

async function encrypt(): Promise<MessageEvent> {
  if (sent % RENEWAL === 0) {
    await alice.crypto.discardGroupSession(ROOM);
    await alice.crypto.shareGroupSession(ROOM);
    await bob.sync();
  }
  const txnId = `bench${sent++}` as TransactionID;
  const content = await alice.crypto.encrypt(ROOM, EVENT_TYPE, CONTENT, { txnId });
  await alice.crypto.sent({ roomId: ROOM, txnId, hasArrived: true });
  return encryptedEvent(content, { sender: ALICE }) as unknown as MessageEvent; // as a sync brings it
}

Deno.bench("encrypt: one message of 200 bytes, until it has arrived", async () => {
  await encrypt();
});

Deno.bench("decrypt: a sync with one event of 200 bytes", async (bench) => {
  const event = await encrypt();
  bench.start();
  const { decrypted: [outcome] } = await bob.sync([event]);
  bench.end();
  if (outcome === undefined || !("event" in outcome)) throw new Error("Cannot decrypt what was encrypted");
});
