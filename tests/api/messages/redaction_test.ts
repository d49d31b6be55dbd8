import { assertEquals, assertRejects } from "@std/assert";
import { delayedEventsAPI } from "../../../src/api/messages/mod.ts";
import { messagesAPI } from "../../../src/api/messages/messages.ts";
import type { RequestOptions } from "@greenroom/matrix";
import { UnsupportedFeatureError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { scripted } from "../../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";
const VERSIONS = "GET /_matrix/client/versions";
const OLD = { versions: ["v1.15"], unstable_features: { "com.beeper.msc4169": false } };
const FEATURE = { versions: ["v1.15"], unstable_features: { "com.beeper.msc4169": true } };
const STABLE = { versions: ["v1.18"] };

function server(versions: object, create: object = {}) {
  const { session, requests } = scripted({
    [VERSIONS]: versions,
    [`GET ${ROOM}/state/m.room.create/`]: create,
    "*": { event_id: "$sent", delay_id: "d1" },
  }, { retry: false });
  const puts = () =>
    requests.filter(({ method }) => method === "PUT").map(({ path, query, body }) => [
      decodeURIComponent(path).slice(ROOM.length) + (query && `?${query}`),
      body,
    ]);
  const isEncrypted = (_room: RoomID, _options: RequestOptions, type: string) =>
    Promise.resolve(type !== "m.room.redaction");
  return { ...messagesAPI(session), ...delayedEventsAPI(session, isEncrypted), puts, requests };
}

const content = { redacts: "$1", reason: "Slip", "com.example.case": 7 } as const;
const options = { txnId: "t" };

Deno.test("sendMessageEvent() sends a redaction as the event it is, where servers take one in rooms of any version", async () => {
  for (const versions of [STABLE, FEATURE]) {
    const { sendMessageEvent, puts } = server(versions);
    await sendMessageEvent("!room", "m.room.redaction", content, options);
    assertEquals(puts(), [["/send/m.room.redaction/t", content]]);
  }
  const { sendMessageEvent, puts } = server(OLD);
  await sendMessageEvent("!room", "m.room.redaction", content, options);
  assertEquals(puts(), [["/redact/$1/t", { reason: "Slip", "com.example.case": 7 }]]);
});

Deno.test("redact() is a request for a redaction, but with content of its own an event where it can be", async () => {
  const extraContent = { "com.example.case": 7 };
  const { redact, puts, requests } = server(STABLE);
  await redact("!room", "$1", { ...options, reason: "Slip" });
  assertEquals(requests.length, 1); // nothing had to be found out
  await redact("!room", "$1", { ...options, reason: "Slip", extraContent });
  assertEquals(puts(), [["/redact/$1/t", { reason: "Slip" }], ["/send/m.room.redaction/t", content]]);
  const old = server(OLD);
  await old.redact("!room", "$1", { ...options, reason: "Slip", extraContent });
  assertEquals(old.puts(), [["/redact/$1/t", { reason: "Slip", "com.example.case": 7 }]]);
});

Deno.test("createDelayedEvent() has a redaction sent later in clear, also in an encrypted room", async () => {
  const later = { delay: 5, txnId: "t" };
  const sent = [["/send/m.room.redaction/t?org.matrix.msc4140.delay=5", content]];
  for (const versions of [STABLE, FEATURE]) {
    const { createDelayedEvent, puts } = server(versions);
    assertEquals(await createDelayedEvent("!room", "m.room.redaction", content, later), "d1");
    assertEquals(puts(), sent);
  }
  const modern = server(OLD, { room_version: "11" });
  await modern.createDelayedEvent("!room", "m.room.redaction", content, later);
  assertEquals(modern.puts(), sent);
});

Deno.test("createDelayedEvent() says that a server takes no redaction in a room of an old version", async () => {
  for (const create of [{ room_version: "10" }, {}]) {
    const { createDelayedEvent, puts } = server(OLD, create);
    await assertRejects(
      () => createDelayedEvent("!room", "m.room.redaction", content, { delay: 5 }),
      UnsupportedFeatureError,
      "v1.18 of the specification nor com.beeper.msc4169",
    );
    assertEquals(puts(), []);
  }
});
