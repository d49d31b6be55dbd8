/** Keys of a file or a backup: what waits for them, and what the log says. */

import { assertEquals } from "@std/assert";
import { newSession } from "../backup/stage.ts";
import { aliceAndBob } from "../engine/bot.ts";
import { ROOM } from "../engine/homeserver.ts";
import { RawSession } from "../engine/raw_device.ts";
import { testContext } from "../support/context.ts";

Deno.test("what waits for an earlier key is read when one comes, in place of the later one that is here", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const raw = new RawSession();
  const { session_key, session_id } = raw.roomKey(ROOM);
  const event = server.publish(alice, raw.event(ROOM, "hello"), "txn");
  using inbound = testContext().vodozemac.megolm.createInbound(String(session_key));
  const sessionId = String(session_id);
  const { curve25519: senderKey } = alice.engine.identity();
  const key = { roomId: ROOM, sessionId, senderKey, senderEd25519: "", source: "export" } as const;
  await bob.engine.steps.importKeys([{ ...key, sessionKey: inbound.exportAt(1) ?? "" }]);
  await bob.sync({ encrypted: [event] });
  assertEquals(bob.outcome(event), "KEY_TOO_NEW");
  const { improved, recovered } = await bob.engine.steps.importKeys([{
    ...key,
    sessionKey: inbound.exportAt(0) ?? "",
  }]);
  assertEquals([improved, recovered.length], [1, 1]);
});

Deno.test("the log says why keys were refused, and nothing where none was", async () => {
  const told: unknown[] = [];
  const warn = (...of: unknown[]) => void told.push(of);
  const { bob } = await aliceAndBob({ log: { debug() {}, info() {}, warn, error() {} } });
  const key = newSession().from(0);
  told.length = 0;
  await bob.engine.steps.importKeys([key]);
  assertEquals(told, []);
  await bob.engine.steps.importKeys([{ ...key, sessionKey: "none" }]);
  assertEquals(told.length, 1);
});
