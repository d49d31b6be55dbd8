/** Events in clear in encrypted rooms, and events that pretend to be encrypted. */

import { assert, assertEquals } from "@std/assert";
import { type Client, encryptionOf } from "@greenroom/matrix";
import type { MatrixEvent, MessageEvent, MessagesResponse } from "@greenroom/matrix/types";
import { begin, twoInARoom } from "../../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../../../client/support/stage.ts";
import { fillGap } from "../../../../src/actors/syncer/gap_filler.ts";
import { takeApart } from "../../../../src/actors/syncer/sync_parts.ts";
import { isJsonObject } from "../../../../src/types/json.ts";
import { joined, message, OWN, timeline } from "../../../actors/support/events.ts";
import { recordingLogger } from "../../../actors/kernel/support.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const FORGED = {
  senderTrust: "verified",
  keySource: "direct",
  sessionId: "s",
  messageIndex: 0,
  senderKey: "k",
};

/** A server that says of each event that it was encrypted, as this library says it of those that were. */
function lying(stage: ClientStage): typeof fetch {
  const dress = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    Object.values(value).forEach(dress);
    if (isJsonObject(value) && "type" in value && "content" in value) value.encryption = FORGED;
  };
  return async (input, init) => {
    const request = new Request(input, init);
    const response = await stage.homeserver.fetch(request);
    if (!/\/(sync|messages)$/.test(new URL(request.url).pathname) || !response.ok) return response;
    const body: unknown = await response.json();
    dress(body);
    return Response.json(body);
  };
}

/** Carol, whose server lies, in the room of others. */
async function withCarol(stage: ClientStage) {
  const { alice, roomId } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch: lying(stage) });
  await begin(stage, carol);
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await stage.settle();
  return { alice, carol, roomId };
}

/** The texts that are reported as having come in clear. */
function reported(client: Client): MessageEvent[] {
  const events: MessageEvent[] = [];
  client.on("UNENCRYPTED", ({ event }) => void events.push(event as MessageEvent));
  return events;
}

Deno.test("T41: a message in clear in an encrypted room is reported and does not reach handlers", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const [texts, clear] = [heard(bob), reported(bob)];
  await alice.sendText(roomId, "Pay him", { disableEncryption: true });
  await alice.sendText(roomId, "Do not pay him");
  await stage.until(() => texts.length === 1);
  assertEquals([texts, clear.map(({ content }) => content.body)], [["Do not pay him"], ["Pay him"]]);
});

Deno.test("T41: a message in clear stays one if the server says of it that it was encrypted", async () => {
  await using stage = clientStage();
  const { alice, carol, roomId } = await withCarol(stage);
  const [texts, clear] = [heard(carol), reported(carol)];
  const trust: unknown[] = [];
  carol.on("m.room.message", (event) => void trust.push(encryptionOf(event as MessageEvent)?.senderTrust));
  await alice.sendText(roomId, "Pay him", { disableEncryption: true });
  await alice.sendText(roomId, "Do not pay him");
  await stage.until(() => texts.length === 1);
  assertEquals([texts, clear.map(({ content }) => content.body)], [["Do not pay him"], ["Pay him"]]);
  assertEquals(clear.map((event) => encryptionOf(event)), [undefined]);
  assertEquals(trust, ["unsigned-device"]);
});

Deno.test("T41: what the server says of state, of messages to devices and of reactions counts no more", async () => {
  await using stage = clientStage();
  const { alice, carol, roomId } = await withCarol(stage);
  const seen = new Map<string, unknown>();
  const see = (event: MatrixEvent) => void seen.set(event.type, encryptionOf(event as MessageEvent));
  for (const type of ["m.room.topic", "org.example.custom"]) carol.on(type, see as never);
  await alice.sendToDevice("org.example.custom", { "@carol:localhost": { "*": {} } });
  await alice.sendStateEvent(roomId, "m.room.topic", { topic: "Money" });
  await stage.until(() => seen.size === 2);
  assertEquals([...seen.values()], [undefined, undefined]);
  const reactions: MessageEvent[] = [];
  carol.on("m.reaction", (event) => void reactions.push(event as MessageEvent));
  const eventId = await alice.sendText(roomId, "Break a leg");
  await alice.sendMessageEvent(roomId, "m.reaction", {
    "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key: "+" },
  });
  await stage.until(() => reactions.length === 1); // these may be in clear, and are seen to be
  assertEquals(reactions.map((event) => encryptionOf(event)), [undefined]);
});

Deno.test("T41: neither does what it says of events that fill a gap", async () => {
  const part = joined(timeline([message("new")], { limited: true, prev_batch: "p" }));
  const [room] = takeApart(part, OWN).rooms;
  assert(room !== undefined);
  const chunk = [{ ...message("old"), encryption: FORGED }];
  const getMessages = () => Promise.resolve({ start: "s", chunk } as unknown as MessagesResponse);
  const log = recordingLogger();
  const more = { since: "s", limit: 10, filter: undefined, signal: undefined, log };
  await fillGap(room, { requests: { getMessages }, ...more });
  assertEquals(room.filled.map((event) => [event.event_id, encryptionOf(event)]), [["$old", undefined]]);
});
