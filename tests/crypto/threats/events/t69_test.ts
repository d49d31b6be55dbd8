/**
 * T69: A device without its user's signature sends an encrypted message to the bot's device, past
 * the bot's policy.
 *
 * With `accept: "cross-signed"` a room's event of such a device reaches no handler, but an
 * application's own message to the device did: a stolen password, or a server that adds a device,
 * was enough to command a bot that takes commands so. The policy holds for everything that is
 * decrypted, and handlers see of each message which device encrypted it.
 *
 * The class of mistake: a policy is applied at one of the two places where decrypted things come
 * out.
 */

import { assertEquals } from "@std/assert";
import { type AcceptPolicy, encryptionOf } from "@greenroom/matrix";
import type { MatrixEvent } from "@greenroom/matrix/types";
import { joined } from "../../../actors/support/events.ts";
import { syncerStage } from "../../../actors/support/syncer_stage.ts";
import { recordingLogger } from "../../../actors/kernel/support.ts";
import { Bot } from "../../engine/bot.ts";
import { EngineServer } from "../../engine/homeserver.ts";
import { RawDevice } from "../../engine/raw_device.ts";

/** What an unsigned device of Carol's says to Alice's, and what is left of it. */
async function commanded(accept: AcceptPolicy) {
  const server = new EngineServer();
  const log = recordingLogger();
  const alice = await Bot.open(server, {
    userId: "@alice:example.org",
    deviceId: "ALICE",
    policy: { accept },
    log,
  });
  const carol = new RawDevice(server, "@carol:example.org", "CAROL").publish();
  server.member(carol.own.userId, "join");
  await alice.sync();
  await alice.ready(); // Carol's device is known from now on
  const command = () => carol.message(alice, "org.example.command", { do: "everything" });
  const { toDevice } = await alice.sync({ toDevice: [command()] });
  return { alice, carol, command, toDevice, log };
}

for (const accept of ["cross-signed", "cross-signed-or-legacy"] as const) {
  Deno.test(`T69: with accept "${accept}" a message of an unsigned device reaches no handler, and is reported`, async () => {
    const { alice, carol, command, toDevice, log } = await commanded(accept);
    assertEquals(toDevice, []);
    const dropped = log.lines.filter(([, text]) => text.startsWith("Dropped a message of a device"));
    assertEquals(dropped.map(([level, , data]) => [level, data?.device]), [["warn", "CAROL"]]);
    const { userId, deviceId, ed25519 } = carol.own;
    await alice.engine.steps.setDeviceTrust({ userId, deviceId, ed25519, trust: "verified" });
    const { toDevice: [message] } = await alice.sync({ toDevice: [command()] });
    assertEquals(message?.encryption?.senderTrust, "verified");
  });
}

Deno.test('T69: with accept "all" it says which device encrypted it, and how far that is to be trusted', async () => {
  const { carol, toDevice: [message] } = await commanded("all");
  assertEquals(message?.encryption, {
    senderTrust: "unsigned-device",
    senderKey: carol.own.curve25519,
    senderDevice: "CAROL",
  });
});

Deno.test("T69: handlers see of a message to the device how it was encrypted, and of one in clear that it was not", async () => {
  const INFO = { senderTrust: "verified", senderKey: "k", senderDevice: "D" } as const;
  const sent = ["org.example.encrypted", "org.example.clear"].map((type) => ({
    type,
    sender: "@bob:a",
    content: {},
  }));
  await using here = await syncerStage({
    answers: [joined({}, { to_device: { events: sent } })],
    crypto: {
      receiveSync: ({ toDevice }) =>
        Promise.resolve({
          toDevice: toDevice.map((event) =>
            event.type.endsWith("clear") ? { event } : { event, encryption: INFO }
          ),
          decrypted: [],
          underway: [],
          recovered: [],
          encryptedRooms: new Set(),
        }),
    },
  });
  const seen: unknown[] = [];
  here.api.addEventHandler((event: MatrixEvent) => void seen.push([event.type, encryptionOf(event)]));
  await here.api.syncOnce();
  assertEquals(seen, [["org.example.encrypted", INFO], ["org.example.clear", undefined]]);
});
