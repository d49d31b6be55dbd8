/**
 * Redactions that are sent as events: by a Synapse that takes them in all rooms, and one as it is by default.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { UnsupportedFeatureError } from "@greenroom/matrix/errors";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { Synapse } from "../../../tools/synapse.ts";
import { type Player, Scene } from "../../operations/support/scene.ts";
import { eventually } from "../../operations/support/wait.ts";
import { synapseHost } from "../support/host.ts";
import { missing, type SynapseServer, synapseTest } from "../support/synapse.ts";

/** A user who encrypts, an encrypted room of a version, and which requests redact. */
async function stage(scene: Scene, roomVersion: string) {
  const paths: string[] = [];
  const alice = await scene.player("alice", {
    encryption: true,
    unlimited: "people",
    async fetch(input, init) {
      const { pathname } = new URL(String(input));
      const redacts = /\/rooms\/[^/]+\/(redact|send\/m\.room\.redaction)\//.exec(pathname)?.[1];
      if (redacts !== undefined) paths.push(redacts);
      return await fetch(input, init);
    },
  });
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const initialState = [{ type: "m.room.encryption", state_key: "", content }];
  const roomId = await alice.createRoom({ roomVersion, initialState });
  return { alice, roomId, paths };
}

async function isGone(alice: Player, roomId: RoomID, eventId: EventID): Promise<unknown> {
  const { content, unsigned } = await alice.getEvent(roomId, eventId);
  return [content, unsigned?.redacted_because?.type, unsigned?.redacted_because?.content["com.example.case"]];
}

const GONE = [{}, "m.room.redaction", 7];

/** Redacts in every way, in an encrypted room. */
async function redacted(server: SynapseServer, roomVersion: string): Promise<string[]> {
  await using scene = new Scene(synapseHost(server));
  const { alice, roomId, paths } = await stage(scene, roomVersion);
  const [first, second] = [await alice.sendText(roomId, "one"), await alice.sendText(roomId, "two")];
  const content = { redacts: first, reason: "Slip", "com.example.case": 7 };
  await alice.sendMessageEvent(roomId, "m.room.redaction", content);
  await alice.redact(roomId, second, { extraContent: { "com.example.case": 7 } });
  assertEquals([await isGone(alice, roomId, first), await isGone(alice, roomId, second)], [GONE, GONE]);
  return paths;
}

async function redactedLater(server: SynapseServer, roomVersion: string): Promise<void> {
  await using scene = new Scene(synapseHost(server));
  const { alice, roomId } = await stage(scene, roomVersion);
  const redacts = await alice.sendText(roomId, "secret");
  const content = { redacts, "com.example.case": 7 };
  const id = await alice.createDelayedEvent(roomId, "m.room.redaction", content, { delay: 3_600_000 });
  await alice.sendDelayedEvent(id);
  assertEquals(
    await eventually(
      () => isGone(alice, roomId, redacts),
      (now) => JSON.stringify(now) === JSON.stringify(GONE),
    ),
    GONE,
  );
}

Deno.test({
  name:
    "A Synapse that takes redactions as events gets them so, in encrypted rooms of any version, now and later",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc4169_enabled"], print() {} });
    for (const version of ["10", "12"]) {
      assertEquals(await redacted(synapse, version), ["send/m.room.redaction", "send/m.room.redaction"]);
      await redactedLater(synapse, version);
    }
  },
});

synapseTest(
  "Synapse as it is gets requests for redactions, and later ones only in newer rooms",
  async (server) => {
    for (const version of ["10", "12"]) assertEquals(await redacted(server, version), ["redact", "redact"]);
    await redactedLater(server, "12");
    await assertRejects(() => redactedLater(server, "10"), UnsupportedFeatureError, "com.beeper.msc4169");
  },
);
