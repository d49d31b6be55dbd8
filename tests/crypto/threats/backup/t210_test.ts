/**
 * A server has a device pass on, as its own word, a session that a device has sent which the server added to
 * a user: this device does not hear such a one, but put its session into the bundle for who is invited, gave
 * it to the user's other devices on request, and wrote it into files as one that was received from its maker.
 * The server then deletes the device, so that nobody can see any more that its user has not signed it.
 *
 * What must hold: a session is vouched for on the way if its maker is heard here. Of any other, a file says
 * no more than of what came from a backup; it goes into no bundle, and to no device that asks.
 *
 * The class of mistake: where a thing comes from is remembered, and not whether that was to be believed.
 */

import { assertEquals } from "@std/assert";
import { bundleOf } from "../../../../src/crypto/history/history.ts";
import { readEntry, writeEntry } from "../../../../src/crypto/key_files/key_files.ts";
import type { AcceptPolicy } from "@greenroom/matrix";
import { aliceAndBob } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";

/** What a bot passes on of a session that a device of Alice's has sent, which she has signed or not. */
async function passedOn(
  accept: AcceptPolicy,
  maker: "verified" | "blacklisted" | undefined,
  via: "itself" | "an own device" | "a file" = "itself",
) {
  const { server, alice, bob } = await aliceAndBob({ policy: { answerKeyRequests: true, accept } });
  const phone = new RawDevice(server, bob.userId, "PHONE").publish();
  const laptop = new RawDevice(server, bob.userId, "LAPTOP").publish();
  server.mailbox(bob).changed.add(bob.userId);
  const tablet = new RawDevice(server, alice.userId, "TABLET").publish();
  server.mailbox(bob).changed.add(alice.userId);
  await bob.sync();
  await bob.ready();
  const { steps } = bob.engine;
  for (const { own } of [phone, laptop]) await steps.setDeviceTrust({ ...own, trust: "verified" });
  if (maker !== undefined) await steps.setDeviceTrust({ ...tablet.own, trust: maker });
  const session = new RawSession();
  const roomKey = { ...session.roomKey(ROOM), shared_history: true };
  const said = session.exported(ROOM, tablet.own);
  if (via === "itself") await bob.sync({ toDevice: [tablet.message(bob, "m.room_key", roomKey)] });
  if (via === "an own device") {
    server.publish(alice, session.event(ROOM, "asked for"), "asked for");
    await bob.sync();
    await bob.sync({ toDevice: [phone.message(bob, "m.forwarded_room_key", said)] });
  }
  if (via === "a file") {
    const { curve25519: senderKey, ed25519: senderEd25519 } = tablet.own;
    const key = { roomId: ROOM, sessionId: session.id, sessionKey: String(said.session_key) };
    await steps.importKeys([{ ...key, senderKey, senderEd25519, sharedHistory: true, source: "export" }]);
  }
  const { sessions } = await steps.exportSessions({ roomId: ROOM, limit: 1_000 });
  const found = sessions.filter(({ content }) => content.session_id === session.id);
  const [exported] = found;
  const inbox = server.mailbox({ userId: bob.userId, deviceId: "LAPTOP" }).toDevice;
  inbox.length = 0;
  const content = {
    action: "request",
    requesting_device_id: "LAPTOP",
    request_id: "1",
    body: { algorithm: "m.megolm.v1.aes-sha2", room_id: ROOM, session_id: session.id },
  };
  await bob.sync({ toDevice: [{ type: "m.room_key_request", sender: bob.userId, content, source: 0 }] });
  return {
    bundled: bundleOf(found).room_keys.length,
    asked: inbox.map((message) => message.content.code ?? laptop.read(message).type),
    file: exported && readEntry(new TextEncoder().encode(writeEntry(exported)))?.source,
  };
}

type PassedOn = Awaited<ReturnType<typeof passedOn>>;
const VOUCHED: PassedOn = { bundled: 1, asked: ["m.forwarded_room_key"], file: "export" };
const WEAK: PassedOn = { bundled: 0, asked: ["m.unavailable"], file: "backup" };

Deno.test("T210: what a device has sent that its user has not signed is passed on as nobody's word", async () => {
  for (const accept of ["cross-signed-or-legacy", "cross-signed"] as const) {
    assertEquals(await passedOn(accept, undefined), WEAK, accept);
    assertEquals(await passedOn(accept, "blacklisted"), WEAK, accept);
  }
});

Deno.test("T210: what another says of a device that is not heard is passed on as nobody's word, what of others as theirs", async () => {
  const accept = "cross-signed-or-legacy";
  for (const via of ["an own device", "a file"] as const) {
    const vouched = via === "a file" ? VOUCHED : { ...VOUCHED, bundled: 0 }; // a forward allows no sharing
    assertEquals(await passedOn(accept, undefined, via), WEAK, via);
    assertEquals(await passedOn(accept, "blacklisted", via), WEAK, via);
    assertEquals(await passedOn(accept, "verified", via), vouched, via);
    assertEquals(await passedOn("all", undefined, via), vouched, via);
    assertEquals(await passedOn("cross-signed", "verified", via), vouched, via);
  }
});

Deno.test("T210: what is heard here is passed on: of devices that count, and with accept: all of others", async () => {
  for (const accept of ["cross-signed-or-legacy", "cross-signed"] as const) {
    assertEquals(await passedOn(accept, "verified"), VOUCHED, accept);
  }
  assertEquals(await passedOn("all", undefined), VOUCHED);
});
