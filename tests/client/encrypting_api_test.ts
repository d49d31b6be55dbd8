/**
 * Over 300 lines because all that becomes of a send by what is known of its room is tried here.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import type { RoomEncryptedContent } from "@greenroom/matrix/types";
import type { CryptoMachine } from "../../src/encryption/encryption.ts";
import { encryptingAPI, EncryptionSends } from "../../src/client/encrypting_api.ts";
import { storeUpdatingAPI } from "../../src/client/store_updating_api.ts";
import { ClearRooms } from "../../src/actors/syncer/syncer.ts";
import { coreAPI } from "../../src/api/api.ts";
import { EncryptionError, ForbiddenError, type MatrixError, ValueError } from "@greenroom/matrix/errors";
import { defineEvent } from "../../src/types/events/define_event.ts";
import { recordingLogger, rejectionOf } from "../actors/kernel/support.ts";
import { inTurn, refusal, type Rule, scripted } from "../support/scripted_fetch.ts";
import { numberSchema } from "../actors/support/contents.ts";
import { ROOM, state } from "../actors/support/events.ts";
import { stateStage } from "../actors/support/state_store.ts";

const LOOKUP = `GET /_matrix/client/v3/rooms/${ROOM}/state/m.room.encryption/`;
const SENT = { event_id: "$sent" };
const TEXT = { msgtype: "m.text", body: "hello" } as const;

function envelope(payload: unknown): RoomEncryptedContent {
  return {
    algorithm: "m.megolm.v1.aes-sha2",
    ciphertext: JSON.stringify(payload),
    session_id: "s",
    sender_key: "k",
    device_id: "D",
  };
}

/** Encrypts by writing down what it was given. */
function fakeCrypto() {
  const shared: string[] = [];
  const sent: string[] = [];
  const part: Pick<
    CryptoMachine,
    "isFollowing" | "isRoomEncrypted" | "encrypt" | "sent" | "shareGroupSession"
  > = {
    isFollowing: true,
    isRoomEncrypted: (roomId) => Promise.resolve(roomId !== ROOM),
    encrypt: (roomId, type, content) => Promise.resolve(envelope([roomId, type, content])),
    sent: ({ txnId, hasArrived }) => Promise.resolve(void sent.push(`${txnId} ${hasArrived}`)),
    shareGroupSession(roomId) {
      shared.push(roomId);
      return Promise.resolve({ sessionId: "s", shared: [], withheld: [] });
    },
  };
  return { ...part as CryptoMachine, ids: sent, shared }; // the rest is not asked for here
}

async function stage(lookup: Rule, crypto: CryptoMachine | null = fakeCrypto(), answer: Rule = SENT) {
  const store = await stateStage();
  const { stateStore } = store;
  const rules = { [LOOKUP]: lookup, "GET /_matrix/client/versions": { versions: ["v1.18"] }, "*": answer };
  const { session, requests } = scripted(rules, { retry: false });
  const blacklist = new Set(["m.reaction"]);
  const log = recordingLogger();
  const getProfile = () => Promise.reject(new Error("not asked here"));
  const encryptionSends = new EncryptionSends();
  const core = storeUpdatingAPI(coreAPI(session), { stateStore, encryptionSends, getProfile, log });
  const clearRooms = new ClearRooms(new TestClock());
  let responses = 0;
  const answered = (): void => {
    clearRooms.answered({ since: `s${responses}`, nextBatch: `s${++responses}`, asked: 0 });
  };
  answered();
  let ids = 0;
  const api = encryptingAPI(core, {
    encryptionSends,
    clearRooms,
    encryption: { crypto: crypto ?? undefined },
    stateStore,
    blacklist,
    nextTransactionId: () => `txn${++ids}`,
  });
  const count = (method: string) => requests.filter((request) => request.method === method).length;
  return {
    ...store,
    api,
    answered,
    clearRooms,
    blacklist,
    lookups: () => count("GET"),
    /** The type and content that was sent last; undefined if nothing was. */
    requests,
    sent: (): [string | undefined, unknown] | undefined => {
      const request = requests.findLast(({ method }) => method === "PUT");
      return request && [request.path.split("/send/")[1]?.split("/")[0], request.body];
    },
    [Symbol.asyncDispose]: () => store.store.stop(),
  };
}

const encrypted = (type: string, content: object): [string, unknown] => [
  "m.room.encrypted",
  envelope([ROOM, type, content]),
];

const ENCRYPTION = state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
const NOT_FOUND = refusal(404, "M_NOT_FOUND");

Deno.test("sendMessageEvent() encrypts in a room that is known to be encrypted, without a request", async () => {
  await using here = await stage(NOT_FOUND);
  await here.sync(ENCRYPTION);
  assertEquals(await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT), "$sent");
  assertEquals(here.sent(), encrypted("m.room.message", TEXT));
  assertEquals(here.lookups(), 0);
});

Deno.test("sendMessageEvent() asks the server once whether a room is encrypted, and remembers a yes", async () => {
  await using here = await stage(inTurn({ algorithm: "a" }, NOT_FOUND));
  for (let round = 0; round < 2; round++) {
    await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
    assertEquals(here.sent(), encrypted("m.room.message", TEXT));
  }
  assertEquals(here.lookups(), 1);
  assertEquals(await here.stateStore.getEncryptionInfo(ROOM), { algorithm: "a" });
});

Deno.test("sendMessageEvent() remembers that there is no encryption, until there is", async () => {
  await using here = await stage(NOT_FOUND);
  for (let round = 0; round < 2; round++) {
    await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
    assertEquals(here.sent(), ["m.room.message", TEXT]);
  }
  assertEquals(here.lookups(), 1);
  await here.sync(ENCRYPTION);
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  assertEquals(here.sent(), encrypted("m.room.message", TEXT));
});

Deno.test("sendMessageEvent() asks again when no sync would tell that the room has become encrypted", async () => {
  await using here = await stage(inTurn(NOT_FOUND, { algorithm: "a" }), {
    ...fakeCrypto(),
    isFollowing: false,
  });
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  assertEquals(here.sent(), ["m.room.message", TEXT]);
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  assertEquals([here.sent(), here.lookups()], [encrypted("m.room.message", TEXT), 2]);
});

Deno.test("sendMessageEvent() asks again after a failed sync: a server that was restored may not show that the room has become encrypted", async () => {
  await using here = await stage(inTurn(NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND, { algorithm: "a" }));
  const send = async (): Promise<number> => {
    await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
    return here.lookups();
  };
  assertEquals([await send(), await send()], [1, 1]);
  here.clearRooms.interrupted();
  assertEquals([await send(), await send()], [2, 3], "each time until a sync has come");
  here.answered();
  assertEquals([await send(), await send(), here.sent()], [4, 4, ["m.room.message", TEXT]]);
  here.clearRooms.interrupted();
  here.answered();
  assertEquals([await send(), here.sent()], [5, encrypted("m.room.message", TEXT)]);
});

Deno.test("isEncrypted() says what a room is, and refuses what can't be sent without encryption", async () => {
  await using here = await stage(NOT_FOUND);
  assertFalse(await here.api.isEncrypted(ROOM, {}));
  await here.sync(ENCRYPTION);
  assert(await here.api.isEncrypted(ROOM, {}));
  await using without = await stage(NOT_FOUND, null);
  await without.sync(ENCRYPTION);
  await assertRejects(() => without.api.isEncrypted(ROOM, {}), EncryptionError);
});

Deno.test("sendMessageEvent() encrypts when the room has become encrypted while the server was asked", async () => {
  await using here = await stage(async () => {
    await here.sync(ENCRYPTION);
    return NOT_FOUND;
  });
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  assertEquals(here.lookups(), 1);
  assertEquals(here.sent(), encrypted("m.room.message", TEXT));
});

Deno.test("sendMessageEvent() encrypts what is still to leave when a send before it has found the room encrypted", async () => {
  const slow = Promise.withResolvers<void>();
  let asked = 0;
  await using here = await stage(async () => {
    if (asked++ > 0) return NOT_FOUND; // a cached answer
    await slow.promise;
    return { algorithm: "a" };
  });
  const sends = [1, 2].map((n) =>
    here.api.sendMessageEvent(ROOM, "m.room.message", { ...TEXT, body: `${n}` })
  );
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve();
  assertEquals([asked, here.sent()], [2, undefined]);
  slow.resolve();
  await Promise.all(sends);
  assertEquals(here.sent(), encrypted("m.room.message", { ...TEXT, body: "2" }));
  assertEquals(here.requests.filter(({ path }) => path.includes("m.room.encrypted")).length, 2);
});

Deno.test("An event that was encrypted and is given up before its turn is known not to have arrived", async () => {
  const crypto = fakeCrypto();
  const slow = Promise.withResolvers<RoomEncryptedContent>();
  const { encrypt } = crypto;
  crypto.encrypt = (roomId, type, content, options) =>
    options?.txnId === "slow" ? slow.promise : encrypt(roomId, type, content, options);
  await using here = await stage({ algorithm: "a" }, crypto);
  const first = here.api.sendMessageEvent(ROOM, "m.room.message", TEXT, { txnId: "slow" });
  const given = new AbortController();
  const options = { txnId: "given up", signal: given.signal };
  const second = here.api.sendMessageEvent(ROOM, "m.room.message", TEXT, options);
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve();
  given.abort();
  await assertRejects(() => second, DOMException);
  assertEquals(crypto.ids, ["given up false"]);
  slow.resolve(envelope("slow"));
  await first;
});

const failures: [string, Rule, string][] = [
  ["is forbidden", refusal(403, "M_FORBIDDEN"), "M_FORBIDDEN"],
  ["hits a server error", refusal(500, "M_UNKNOWN"), "M_UNKNOWN"],
  ["hits a 404 that is not M_NOT_FOUND", refusal(404, "M_UNRECOGNIZED"), "M_UNRECOGNIZED"],
  ["fails to connect", new TypeError("no route"), "NETWORK_ERROR"],
  ["is answered by a proxy", new Response("<html>", { status: 200 }), "SERVICE_RESPONSE_ERROR"],
];
for (const [what, lookup, code] of failures) {
  Deno.test(`sendMessageEvent() sends nothing when asking whether the room is encrypted ${what}`, async () => {
    await using here = await stage(lookup);
    const error = await rejectionOf(here.api.sendMessageEvent(ROOM, "m.room.message", TEXT));
    assertEquals((error as MatrixError).code, code);
    assertEquals(here.sent(), undefined);
    assertEquals(await here.stateStore.isEncrypted(ROOM), undefined);
  });
}

Deno.test("sendMessageEvent() does not encrypt what is on the blacklist, and what is not to be encrypted", async () => {
  await using here = await stage(NOT_FOUND);
  await here.sync(ENCRYPTION);
  const reaction = { "m.relates_to": { rel_type: "m.annotation", event_id: "$x", key: "a" } } as const;
  await here.api.sendMessageEvent(ROOM, "m.reaction", reaction);
  assertEquals(here.sent(), ["m.reaction", reaction]);
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT, { disableEncryption: true });
  assertEquals(here.sent(), ["m.room.message", TEXT]);
  here.blacklist.delete("m.reaction");
  await here.api.sendMessageEvent(ROOM, "m.reaction", reaction);
  assertEquals(here.sent(), encrypted("m.reaction", reaction));
});

Deno.test("sendMessageEvent() sends what was encrypted already as it is", async () => {
  await using here = await stage(NOT_FOUND);
  await here.sync(ENCRYPTION);
  const content = await here.api.encrypt(ROOM, "m.room.message", TEXT);
  await here.api.sendMessageEvent(ROOM, "m.room.encrypted", content);
  assertEquals(here.sent(), encrypted("m.room.message", TEXT));
});

Deno.test("sendMessageEvent() sends a redaction in clear, since the server has to read it, and encrypt() refuses one", async () => {
  await using here = await stage(NOT_FOUND);
  await here.sync(ENCRYPTION);
  await here.api.sendMessageEvent(ROOM, "m.room.redaction", { redacts: "$x", reason: "Slip" });
  assertEquals(here.sent(), ["m.room.redaction", { redacts: "$x", reason: "Slip" }]);
  await assertRejects(() => here.api.encrypt(ROOM, "m.room.redaction", {}), EncryptionError, "send it");
});

Deno.test("sendMessageEvent() checks a defined content before it is encrypted", async () => {
  await using here = await stage(NOT_FOUND);
  await here.sync(ENCRYPTION);
  const type = defineEvent({
    type: "com.example.n",
    class: "message",
    schema: numberSchema({ later: true }),
  });
  await here.api.sendMessageEvent(ROOM, type, { n: 4 });
  assertEquals(here.sent(), encrypted("com.example.n", { n: 8 }));
  await assertRejects(() => here.api.sendMessageEvent(ROOM, type, { n: "x" } as never), ValueError);
});

Deno.test("Without encryption, a room that is known to be encrypted is not sent into", async () => {
  await using here = await stage(NOT_FOUND, null);
  await here.sync(ENCRYPTION);
  const { api } = here;
  await assertRejects(() => api.sendMessageEvent(ROOM, "m.room.message", TEXT), EncryptionError);
  for (const call of [() => api.encrypt(ROOM, "m.x", {}), () => api.shareGroupSession(ROOM)]) {
    await assertRejects(call, EncryptionError);
  }
  assertEquals([here.sent(), here.lookups()], [undefined, 0]);
});

Deno.test("Without encryption, an event to an unknown room is sent without a request", async () => {
  await using here = await stage(NOT_FOUND, null);
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  assertEquals(here.sent(), ["m.room.message", TEXT]);
  assertEquals(here.lookups(), 0);
});

Deno.test("shareGroupSession() shares", async () => {
  const crypto = fakeCrypto();
  await using here = await stage(NOT_FOUND, crypto);
  await here.api.shareGroupSession(ROOM);
  assertEquals(crypto.shared, [ROOM]);
});

Deno.test("sendMessageEvent() does not encrypt in another user's name", async () => {
  await using here = await stage({ algorithm: "m.megolm.v1.aes-sha2" });
  const sent = here.api.sendMessageEvent(ROOM, "m.room.message", TEXT, { asUserId: "@ghost:a" });
  await assertRejects(() => sent, EncryptionError, "as @ghost:a");
  assertEquals(here.sent(), undefined);
});

Deno.test("The engine gets the outcome of an encrypted event: that it arrived, or that its send was rejected", async () => {
  const crypto = fakeCrypto();
  await using here = await stage(
    { algorithm: "m.megolm.v1.aes-sha2" },
    crypto,
    inTurn(SENT, refusal(403, "M_FORBIDDEN")),
  );
  await here.api.sendMessageEvent(ROOM, "m.room.message", TEXT);
  await assertRejects(() => here.api.sendMessageEvent(ROOM, "m.room.message", TEXT, { txnId: "refused" }));
  assertEquals(crypto.ids, ["txn1 true", "refused false"]);
});

Deno.test("A send that the server refuses rejects with what it said, also if that can't be noted any more", async () => {
  const crypto: CryptoMachine = {
    ...fakeCrypto(),
    sent: () => Promise.reject(new Error("the client is being closed")),
  };
  await using here = await stage({ algorithm: "m.megolm.v1.aes-sha2" }, crypto, refusal(403, "M_FORBIDDEN"));
  await assertRejects(() => here.api.sendMessageEvent(ROOM, "m.room.message", TEXT), ForbiddenError);
});

Deno.test("isRoomEncrypted() asks the server if nothing is known, with encryption or without", async () => {
  for (const answer of [{ algorithm: "a" }, NOT_FOUND]) {
    for (const crypto of [fakeCrypto(), null]) {
      await using here = await stage(answer, crypto);
      assertEquals(await here.api.isRoomEncrypted(ROOM), answer !== NOT_FOUND);
    }
  }
});
