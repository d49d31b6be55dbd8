import { assertEquals, assertFalse } from "@std/assert";
import { Outbox } from "../../../src/crypto/requests/requests.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { type RecordCache, recordKey } from "../../../src/crypto/records/mod.ts";
import type { RoomID, TransactionID } from "@greenroom/matrix/types";
import { memoryVault, step } from "../support/vault.ts";

const ROOM = "!room:example.org" satisfies RoomID;
const OTHER_ROOM = "!other:example.org" satisfies RoomID;
const TXN = "txn" as TransactionID;

const event = (roomId: RoomID, ciphertext: string) => {
  const content = { algorithm: "m.megolm.v1.aes-sha2", ciphertext, session_id: "session" } as const;
  return { kind: "roomEvent", roomId, content } as const;
};

Deno.test("the outbox finds an event by its room and transaction ID, once the step is durable", async () => {
  const vault = memoryVault();
  const outbox = new Outbox();
  await step(vault, (tx) => {
    outbox.add(tx, event(ROOM, "here"), { txnId: TXN, now: 0 });
    outbox.add(tx, event(OTHER_ROOM, "there"), { txnId: TXN, now: 0 });
    outbox.add(tx, { kind: "toDevice", eventType: "m.dummy", messages: {} }, { txnId: TXN, now: 0 });
    assertEquals(outbox.roomEvent(ROOM, TXN), undefined);
  });
  assertEquals(outbox.roomEvent(ROOM, TXN)?.content.ciphertext, "here");
  assertEquals(outbox.roomEvent(OTHER_ROOM, TXN)?.content.ciphertext, "there");
  assertEquals(outbox.roomEvent(ROOM, "another" as TransactionID), undefined);
});

Deno.test("the outbox forgets an event that has arrived, and finds the others", async () => {
  const vault = memoryVault();
  const outbox = new Outbox();
  const [first, second] = await step(vault, (tx) => [
    outbox.add(tx, event(ROOM, "first"), { txnId: TXN, now: 0 }),
    outbox.add(tx, event(ROOM, "second"), { txnId: "next" as TransactionID, now: 0 }),
  ]);
  await step(vault, (tx) => outbox.remove(tx, first ?? ""));
  assertEquals(outbox.roomEvent(ROOM, TXN), undefined);
  assertEquals(outbox.roomEvent(ROOM, "next" as TransactionID)?.id, second);
  assertEquals(outbox.pending().map(({ id }) => id), [second]);
});

Deno.test("the outbox finds events that an earlier process has left", async () => {
  const vault = memoryVault();
  const before = new Outbox();
  const id = await step(vault, (tx) => before.add(tx, event(ROOM, "left"), { txnId: TXN, now: 0 }));
  const outbox = new Outbox();
  await step(vault, (tx) => outbox.load(tx));
  assertEquals(outbox.roomEvent(ROOM, TXN)?.id, id);
  await step(vault, (tx) => outbox.remove(tx, id));
  assertEquals(outbox.roomEvent(ROOM, TXN), undefined);
});

Deno.test("an event that was put in by a step that failed is not in the outbox", async () => {
  const vault = memoryVault();
  const outbox = new Outbox();
  await step(vault, (tx) => {
    outbox.add(tx, event(ROOM, "never"), { txnId: TXN, now: 0 });
    throw new RangeError("failed");
  }).catch(() => {});
  assertEquals(outbox.roomEvent(ROOM, TXN), undefined);
  assertEquals(outbox.pending(), []);
});

Deno.test("messages in the outbox displace no other records in memory", async () => {
  const vault = memoryVault();
  const outbox = new Outbox();
  const cache: RecordCache = new RecentMap(10);
  const session = recordKey<string>("session", "one");
  await step(vault, cache, (tx) => tx.set(session, "used by each message"));
  for (let index = 0; index < 20; index++) {
    const txnId = `txn${index}` as TransactionID;
    const id = await step(vault, cache, (tx) => outbox.add(tx, event(ROOM, "passes"), { txnId, now: 0 }));
    await step(vault, cache, (tx) => outbox.remove(tx, id));
  }
  const unread = { ...vault, getMany: () => Promise.reject(new TypeError("it was not remembered")) };
  assertEquals(await step(unread, cache, (tx) => tx.get(session)), "used by each message");
});

Deno.test("the outbox says whether the key of a session is on its way", async () => {
  const outbox = new Outbox();
  const [sharing] = await step(memoryVault(), (tx) => [
    outbox.add(tx, { kind: "toDevice", eventType: "m.room.encrypted", messages: {}, sessionId: "one" }, {
      txnId: TXN,
      now: 0,
    }),
    outbox.add(tx, { kind: "toDevice", eventType: "m.dummy", messages: {} }, { txnId: TXN, now: 0 }),
    outbox.add(tx, event(ROOM, "said"), { txnId: TXN, now: 0 }),
  ]);
  assertEquals(["one", "two"].map((sessionId) => outbox.isSharing(sessionId)), [true, false]);
  await step(memoryVault(), (tx) => outbox.remove(tx, sharing ?? ""));
  assertFalse(outbox.isSharing("one"));
});
