/** Whose a session is that several devices claim, or of which only others have said whose it is. */

import { assertEquals } from "@std/assert";
import { inboundKey } from "../../../src/crypto/megolm/inbound_record.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";
import type { UserID } from "@greenroom/matrix/types";
import { Asker, forwarded } from "../requests/asker.ts";
import { ALICE, knownSender, MALLORY, ME, newDevice, read, Receiver, ROOM, Sender, told } from "./support.ts";

/** Keys that are said to be those of the device that made a session. */
interface Said {
  readonly senderKey: string;
  readonly senderEd25519: string;
}

/**
 * How an event of a user reads whose session others have said is of a device; "refused" if it must not be
 * that user's.
 */
async function readAs(asker: Asker, { said, session, userId }: {
  readonly said: Said;
  readonly session: Sender;
  readonly userId: UserID;
}): Promise<string> {
  const sessionKey = String(forwarded(asker, session).session_key);
  const { sessionId } = session;
  await asker.step((tx) =>
    asker.inbound.import(tx, { roomId: ROOM, sessionId, sessionKey, source: "forwarded", ...said })
  );
  const decryption = await asker.one(session.say("hello", { sender: userId }));
  if (told(decryption) !== "hello") return "refused";
  return String(encryptionOf(read(decryption))?.senderTrust);
}

const newSession = (asker: Asker) => new Sender(asker, newDevice(asker, ALICE));

Deno.test("a session that is said to be of a device that claims it for another user is not the sender's", async () => {
  const asker = new Asker();
  const mallory = asker.devices.put(newDevice(asker, MALLORY));
  const session = newSession(asker);
  const { session_id, session_key } = session.roomKey;
  await asker.key(new Sender(asker, mallory), { session_id, session_key });
  const said = { senderKey: mallory.curve25519, senderEd25519: "" };
  assertEquals(await readAs(asker, { said, session, userId: ALICE }), "refused");
});

Deno.test("a session that names no known device may be the sender's", async () => {
  const asker = new Asker();
  const unknown = newDevice(asker, ALICE);
  for (const senderEd25519 of ["", unknown.ed25519]) {
    const said = { senderKey: unknown.curve25519, senderEd25519 };
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: ALICE }), "unknown-device");
  }
});

Deno.test("a session that names a device with a user's signing key is that user's only", async () => {
  const asker = new Asker();
  const alice = asker.devices.put(newDevice(asker, ALICE));
  const senderKey = newDevice(asker, ALICE).curve25519;
  for (
    const said of [{ senderKey, senderEd25519: alice.ed25519 }, {
      senderKey: alice.curve25519,
      senderEd25519: alice.ed25519,
    }]
  ) {
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: MALLORY }), "refused");
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: ALICE }), "unknown-device");
  }
});

Deno.test("a session that names this device is no other user's", async () => {
  const asker = new Asker();
  const { ed25519: senderEd25519, curve25519 } = asker.context.own;
  for (const senderKey of [curve25519, newDevice(asker, ME).curve25519]) {
    const said = { senderKey, senderEd25519 };
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: MALLORY }), "refused");
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: ME }), "unknown-device");
  }
});

/** Has a device claim the session of another one. */
async function claim(receiver: Receiver, { session, device }: {
  readonly session: Sender;
  readonly device: Sender["device"];
}): Promise<void> {
  const { session_id, session_key } = session.roomKey;
  await receiver.key(new Sender(receiver, device), { session_id, session_key });
}

for (const claims of [["unsigned", "verified"], ["verified", "unsigned"]] as const) {
  Deno.test(`of devices of a user, ${claims.join(" and ")}, that claim a session the most trusted one counts`, async () => {
    const receiver = new Receiver();
    const [one, two] = claims.map((trust) =>
      receiver.devices.put(newDevice(receiver, ALICE, { deviceId: trust, trust }))
    );
    if (one === undefined || two === undefined) throw new TypeError("There are two");
    const session = new Sender(receiver, one);
    await receiver.key(session);
    await claim(receiver, { session, device: two });
    const encryption = encryptionOf(read(await receiver.one(session.say("hello"))));
    assertEquals([encryption?.senderTrust, encryption?.senderDevice], ["verified", "verified"]);
  });
}

Deno.test("a message of a device that signs with another key than it named does not make its session stay", async () => {
  const receiver = new Receiver({ unused: { ofUser: 1, inAll: 100 } });
  const session = new Sender(receiver, newDevice(receiver, ALICE));
  await receiver.key(session);
  receiver.devices.put({ ...session.device, ed25519: newDevice(receiver, ALICE).ed25519 });
  const event = session.say("hello");
  assertEquals(told(await receiver.one(event)), "UNTRUSTED");
  await knownSender(receiver, ALICE, { deviceId: "OTHER" });
  assertEquals(told(await receiver.one(event)), "MISSING_KEY");
});

Deno.test("a session moves to a user whose device came to be trusted more than its present owner's", async () => {
  const receiver = new Receiver();
  const session = await knownSender(receiver, MALLORY, { trust: "unsigned" });
  const alice = receiver.devices.put(newDevice(receiver, ALICE, { trust: "unsigned" }));
  await claim(receiver, { session, device: alice });
  const ownerAfter = async (sender: UserID) => {
    await receiver.one(session.say("hello", { sender }));
    const record = await receiver.step((tx) => tx.get(inboundKey(ROOM, session.sessionId)));
    return record?.claims[0]?.userId;
  };
  assertEquals([await ownerAfter(MALLORY), await ownerAfter(ALICE)], [MALLORY, MALLORY]);
  receiver.devices.put({ ...alice, trust: "verified" });
  assertEquals(await ownerAfter(ALICE), ALICE);
});
