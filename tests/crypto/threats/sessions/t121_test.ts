/**
 * Who merely claims a session overrules what is known of its owner: this device has Alice's session from a
 * backup, a file or another device, and Mallory, who got its key once, sends it as her own.
 *
 * What must hold: once a message of Alice's has come, a claim without one takes from Alice neither that the
 * session is hers where it is exported, nor her word whether its history may be shared, for or against.
 * Before that, sharing needs the word of all who may be its maker.
 *
 * The class of mistake: what came last, or more directly, was taken for better founded than what was shown.
 */

import { assert, assertEquals } from "@std/assert";
import { ALICE, MALLORY, newDevice, Receiver, ROOM, Sender, told } from "../../megolm/support.ts";

/** What is not said in a room key allows nothing. */
type Word = boolean | undefined;
const FORBIDDEN = false;

/** A receiver of Alice's session by hearsay, and Mallory, who can send its key. */
function scene(source: "backup" | "export" | "forwarded" = "backup") {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const mallory = new Sender(
    receiver,
    receiver.devices.put(newDevice(receiver, MALLORY, { trust: "verified" })),
  );
  const { session_id, session_key } = alice.roomKey;
  const ref = { roomId: ROOM, sessionId: alice.sessionId };
  const { curve25519: senderKey, ed25519: senderEd25519 } = alice.device;
  return {
    receiver,
    alice,
    mallory,
    /** The session comes from elsewhere, as Alice's. */
    async hears(sharedHistory: Word) {
      using session = receiver.context.vodozemac.megolm.createInbound(session_key);
      const sessionKey = session.exportAt() ?? "";
      await receiver.step((tx) =>
        receiver.inbound.import(tx, { ...ref, sessionKey, senderKey, senderEd25519, source, sharedHistory })
      );
    },
    /** Mallory sends the key. */
    claims: (shared_history: boolean) => receiver.key(mallory, { session_id, session_key, shared_history }),
    /** Whose it is where it is exported, and whether it may be shared. */
    async exported() {
      const session = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref));
      assert(session !== undefined);
      const isHers = session.senderEd25519 === senderEd25519 && session.content.sender_key === senderKey;
      return [isHers ? "Alice's" : "Mallory's", session.sharedHistory];
    },
  };
}

Deno.test("T121: once a message of the owner has come, a claim neither takes the session nor its owner's word on sharing", async () => {
  for (const source of ["backup", "export", "forwarded"] as const) {
    for (const word of [true, false]) {
      for (const isClaimedFirst of [true, false]) {
        const { receiver, alice, hears, claims, exported } = scene(source);
        if (isClaimedFirst) await claims(!word);
        await hears(word);
        assertEquals(told(await receiver.one(alice.say("hello"))), "hello");
        if (!isClaimedFirst) await claims(!word);
        for (let time = 0; time < 2; time++) {
          assertEquals(await exported(), ["Alice's", word], `${source} ${isClaimedFirst}`);
          receiver.restart();
        }
        assertEquals(told(await receiver.one(alice.say("again"))), "again");
      }
    }
  }
});

Deno.test("T121: before any message a session is shared only if all who may be its maker allow it", async () => {
  for (const [hers, claimed] of [[false, true], [true, false], [true, true], [undefined, true]] as const) {
    const { hears, claims, exported } = scene();
    await hears(hers);
    await claims(claimed);
    assertEquals((await exported())[1], hers === true && claimed);
  }
});

Deno.test("T121: the owner's own key counts from the first message on, whatever was heard", async () => {
  const { receiver, alice, hears, exported } = scene();
  await hears(FORBIDDEN);
  await receiver.one(alice.say("by hearsay"));
  await receiver.key(alice, { shared_history: true });
  assertEquals(await exported(), ["Alice's", false]);
  await receiver.one(alice.say("by the key"));
  assertEquals(await exported(), ["Alice's", true]);
});

Deno.test("T121: a claim beside that of a user whose messages have come has no word on sharing", async () => {
  const { receiver, alice, claims, exported } = scene();
  await receiver.key(alice, { shared_history: true });
  await receiver.one(alice.say("hello"));
  await claims(FORBIDDEN);
  assertEquals(await exported(), ["Alice's", true]);
});
