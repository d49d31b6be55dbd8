/** Whose a session is of which only others have said whose it is. */

import { assertEquals } from "@std/assert";
import { encryptionOf } from "../../../src/types/encryption_of.ts";
import type { UserID } from "../../../src/types/ids.ts";
import { Asker, forwarded } from "./asker.ts";
import { ALICE, MALLORY, ME, newDevice, read, ROOM, Sender, told } from "./support.ts";

/** Keys that are said to be those of the device that made a session. */
interface Said {
  readonly senderKey: string;
  readonly senderEd25519: string;
}

/** How an event of a user reads whose session others have said is of a device; "refused" if it must not be that user's. */
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

Deno.test("a session that is said to be of nobody's known device may be the sender's", async () => {
  const asker = new Asker();
  const unknown = newDevice(asker, ALICE);
  for (const senderEd25519 of ["", unknown.ed25519]) {
    const said = { senderKey: unknown.curve25519, senderEd25519 };
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: ALICE }), "unknown-device");
  }
});

Deno.test("a session that is said to be of a device that signs with a user's key is that user's, and nobody else's", async () => {
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

Deno.test("a session that is said to be of this device is nobody else's", async () => {
  const asker = new Asker();
  const { ed25519: senderEd25519, curve25519 } = asker.context.own;
  for (const senderKey of [curve25519, newDevice(asker, ME).curve25519]) {
    const said = { senderKey, senderEd25519 };
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: MALLORY }), "refused");
    assertEquals(await readAs(asker, { said, session: newSession(asker), userId: ME }), "unknown-device");
  }
});
