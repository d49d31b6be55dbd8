/**
 * T85: The outcome of sending `m.room.encryption` is unknown, and clear text follows it.
 *
 * The server accepts it and lets the response be lost, by a time-out or an error of its own, or
 * answers late; until a sync shows it, which a malicious server can delay for ever, events for the
 * room would go out in clear. From the call on, none does: events that are sent meanwhile wait for
 * the outcome, and with an unknown outcome the room counts as encrypted. Only a server that refuses
 * leaves the room as it was.
 *
 * The class of mistake: an error is taken for "it has not happened".
 */

import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { type Client, MatrixError, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { begin } from "../../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../../client/support/stage.ts";
import { hiding } from "../hiding.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const CONTENT = { algorithm: "m.megolm.v1.aes-sha2" };

/**
 * A server that hides that rooms are encrypted, and answers to sending their encryption as a test
 * sets.
 */
function answering(
  stage: ClientStage,
  answer: (taken: () => Promise<Response>) => Promise<Response>,
): typeof fetch {
  const hidden = hiding(stage);
  return async (input, init) => {
    const request = new Request(input, init);
    const isTold = request.method === "PUT" && request.url.includes("/state/m.room.encryption");
    return isTold ? await answer(() => hidden(request)) : await hidden(request);
  };
}

function arrived({ homeserver }: ClientStage, roomId: RoomID): string[] {
  return homeserver.room(roomId).messages.map(({ type }) => type);
}

const encrypt = (client: Client, roomId: RoomID, options: { signal?: AbortSignal } = {}) =>
  client.sendStateEvent(roomId, "m.room.encryption", CONTENT, { retry: false, ...options });

const refusal = (status: number, errcode: string) => Response.json({ errcode, error: "No" }, { status });

/** What a server, or the network, makes of a send that has arrived. */
const LOST: Record<string, (taken: () => Promise<Response>) => Promise<Response>> = {
  "an answer that is lost": async (taken) => {
    await taken();
    throw new TypeError("connection closed before message completed");
  },
  "a gateway that has given up": async (taken) => {
    await taken();
    return refusal(504, "M_UNKNOWN");
  },
  "an answer that says nothing": async (taken) => {
    await taken();
    return Response.json({});
  },
  "a limit, after tries of unknown outcome": async (taken) => {
    await taken();
    return refusal(429, "M_LIMIT_EXCEEDED");
  },
};

for (const [name, answer] of Object.entries(LOST)) {
  Deno.test(`T85: after ${name} nothing goes to the room in clear, over a restart too`, async () => {
    await using stage = clientStage();
    const store = new MemoryStore();
    const options = { encryption: EVERYBODY, store, fetch: answering(stage, answer) };
    for (const follows of [true, false]) {
      const alice = stage.client("alice", options);
      if (follows) await begin(stage, alice);
      const roomId = await alice.createRoom();
      await stage.settle();
      await alice.sendText(roomId, "before");
      await assertRejects(() => encrypt(alice, roomId), MatrixError);
      await alice.sendText(roomId, "behind");
      await stage.settle();
      await alice.sendText(roomId, "later");
      await alice.close();
      const again = stage.client("alice", options);
      await again.sendText(roomId, "after a restart");
      await again.close();
      assertEquals(
        arrived(stage, roomId),
        ["m.room.message", ...Array(3).fill("m.room.encrypted")],
        `${follows}`,
      );
    }
  });
}

Deno.test("T85: what is sent while it is under way waits, and is encrypted", async () => {
  await using stage = clientStage();
  const gate = Promise.withResolvers<void>();
  const fetch = answering(stage, async (taken) => {
    const response = await taken();
    await gate.promise;
    return response;
  });
  const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
  await begin(stage, alice);
  const [roomId, other] = [await alice.createRoom(), await alice.createRoom()];
  await stage.settle();
  const encrypted = encrypt(alice, roomId);
  const sent = alice.sendText(roomId, "meanwhile");
  await stage.settle();
  await alice.sendText(other, "in another room");
  assertEquals([arrived(stage, roomId), arrived(stage, other)], [[], ["m.room.message"]]);
  gate.resolve();
  await Promise.all([encrypted, sent]);
  assertEquals(arrived(stage, roomId), ["m.room.encrypted"]);
});

Deno.test("T85: a send that was given up counts, and one that was never made does not", async () => {
  await using stage = clientStage();
  const fetch = answering(stage, async (taken) => {
    await taken();
    giveUp.abort();
    throw giveUp.signal.reason;
  });
  const giveUp = new AbortController();
  const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
  const [roomId, other] = [await alice.createRoom(), await alice.createRoom()];
  await assertRejects(() => encrypt(alice, other, { signal: AbortSignal.abort() }));
  await assertRejects(() => encrypt(alice, roomId, { signal: giveUp.signal }));
  for (const room of [roomId, other]) await alice.sendText(room, "behind");
  assertEquals([arrived(stage, roomId), arrived(stage, other)], [["m.room.encrypted"], ["m.room.message"]]);
});

Deno.test("T85: a room stays as it was if the server refuses, or what was to be sent is no such event", async () => {
  await using stage = clientStage();
  const fetch = answering(stage, () => Promise.resolve(refusal(403, "M_FORBIDDEN")));
  const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
  const roomId = await alice.createRoom();
  await assertRejects(() => encrypt(alice, roomId));
  await assertRejects(() => alice.sendStateEvent(roomId, "m.room.encryption", null as never));
  await alice.sendStateEvent(roomId, "m.room.encryption", CONTENT, { stateKey: "elsewhere" }).catch(() => {});
  await alice.sendText(roomId, "hello");
  assertEquals(arrived(stage, roomId), ["m.room.message"]);
  assertFalse(await alice.stateStore.isEncrypted(roomId));
});
