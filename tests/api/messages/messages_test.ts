import { assert, assertEquals, assertRejects } from "@std/assert";
import { messagesAPI } from "../../../src/api/messages/messages.ts";
import { NetworkError, NotFoundError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { clientEvent } from "../../support/events.ts";
import { flagSchema } from "../../support/flag_schema.ts";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";
const SEND = `PUT ${ROOM}/send/com.example.cue`;
const sent = { event_id: "$event" };
const page = { chunk: [], start: "s" };

Deno.test("sendMessageEvent() puts the content under the transaction ID it is given, and the event's time if one is set", async () => {
  const { session, log, body } = scripted({ [`${SEND}/t1`]: sent });
  const eventId = await messagesAPI(session).sendMessageEvent("!room", "com.example.cue", { go: 1 }, {
    txnId: "t1",
    timestamp: 12,
  });
  assertEquals([eventId, log(), body()], ["$event", [`${SEND}/t1?ts=12`], { go: 1 }]);
});

Deno.test("sendMessageEvent() makes a new transaction ID for each call and keeps it through all tries", async () => {
  const { session, requests, clock } = scripted({}, {
    retry: { retryable: ({ status }) => status === 404 },
  });
  const api = messagesAPI(session);
  const sending = api.sendMessageEvent("!room", "com.example.cue", {}, { retry: { maxRetries: 2 } });
  await assertRejects(() => untilSettled(clock, sending));
  await assertRejects(() => api.sendMessageEvent("!room", "com.example.cue", {}, { retry: false }));
  const none = { txnId: null as never, retry: false } as const; // as in JSON
  await assertRejects(() => api.sendMessageEvent("!room", "com.example.cue", {}, none));
  const paths = requests.map(({ path }) => path);
  assertEquals(paths.length, 5);
  assertEquals(new Set(paths.slice(0, 3)).size, 1);
  assertEquals(new Set(paths.slice(2)).size, 3);
});

Deno.test("sendMessageEvent() sends again after a lost connection, and gives up where the policy does", async () => {
  const lost = new TypeError("gone");
  const { session, requests, clock } = scripted({ [`${SEND}/t1`]: inTurn(lost, lost, sent) });
  const send = (options?: { retry: false }) =>
    messagesAPI(session).sendMessageEvent("!room", "com.example.cue", {}, { txnId: "t1", ...options });
  await assertRejects(() => send({ retry: false }), NetworkError);
  assertEquals(await untilSettled(clock, send()), "$event");
  assertEquals(requests.length, 3);
});

Deno.test("sendMessageEvent() sends a defined event as its schema returns it, and refuses what the schema refuses", async () => {
  const { session, requests } = scripted({ [`PUT ${ROOM}/send/com.example.flag/t1`]: sent });
  const api = messagesAPI(session);
  const flag = defineEvent({ type: "com.example.flag", class: "message", schema: flagSchema });
  await api.sendMessageEvent("!room", flag, { up: false }, { txnId: "t1" });
  await assertRejects(() => api.sendMessageEvent("!room", flag, {} as never), ValueError, "com.example.flag");
  assertEquals(requests.map(({ body }) => body), [{ up: false, checked: true }]);
});

Deno.test("redact() says why only if there is a reason, and takes extra content and a transaction ID", async () => {
  const { session, requests, log } = scripted({
    "GET /_matrix/client/versions": { versions: ["v1.15"] },
    [`PUT ${ROOM}/redact/$1/t1`]: sent,
  });
  const api = messagesAPI(session);
  assertEquals(await api.redact("!room", "$1", { txnId: "t1" }), "$event");
  await api.redact("!room", "$1", { txnId: "t1", reason: "Spam", extraContent: { "com.example.case": 7 } });
  assertEquals(log().filter((line) => line.startsWith("PUT")), Array(2).fill(`PUT ${ROOM}/redact/$1/t1`));
  assertEquals(requests.flatMap(({ body }) => body ?? []), [{}, { reason: "Spam", "com.example.case": 7 }]);
});

Deno.test("redact() makes a transaction ID of its own", async () => {
  const { session, requests } = scripted();
  await assertRejects(() => messagesAPI(session).redact("!room", "$1"));
  assert(/\/redact\/%241\/gr-[^/]+$/.test(requests[0]?.path ?? ""));
});

Deno.test("getEvent() hands the event out, raises if there is none, and rejects what is no event", async () => {
  const event = clientEvent("1");
  const api = messagesAPI(
    scripted({
      [`GET ${ROOM}/event/$1`]: event,
      [`GET ${ROOM}/event/$2`]: refusal(404, "M_NOT_FOUND"),
      [`GET ${ROOM}/event/$3`]: { ...event, content: "text" },
    }).session,
  );
  assertEquals<unknown>(await api.getEvent("!room", "$1"), event);
  await assertRejects(() => api.getEvent("!room", "$2"), NotFoundError);
  await assertRejects(() => api.getEvent("!room", "$3"), ServiceResponseError, "content");
});

Deno.test("getMessages() requests a page by direction and token, and adds only the given options", async () => {
  const { session, log } = scripted({
    [`GET ${ROOM}/messages`]: page,
    "GET /_matrix/client/versions": { versions: ["v1.3"] },
  });
  const api = messagesAPI(session);
  assertEquals(await api.getMessages("!room", "b", "t1"), page);
  await api.getMessages("!room", "f", undefined);
  await api.getMessages("!room", "f", "t1", { toToken: "t2", limit: 5, filterJson: { types: ["m.x"] } });
  await api.getMessages("!room", "f", "t1", { filterJson: '{"types":["m.x"]}' });
  const filter = "filter=%7B%22types%22%3A%5B%22m.x%22%5D%7D";
  assertEquals(log(), [
    `GET ${ROOM}/messages?dir=b&from=t1`,
    "GET /_matrix/client/versions",
    `GET ${ROOM}/messages?dir=f`,
    `GET ${ROOM}/messages?dir=f&from=t1&to=t2&limit=5&${filter}`,
    `GET ${ROOM}/messages?dir=f&from=t1&${filter}`,
  ]);
});

Deno.test("getMessages() looks the ends of a history up for a server before version 1.3", async () => {
  const { session, log } = scripted({
    [`GET ${ROOM}/messages`]: page,
    "GET /_matrix/client/versions": { versions: ["r0.6.1", "v1.2"] },
    "GET /_matrix/client/v3/sync": { next_batch: "newest" },
    [`GET ${ROOM}/state`]: [clientEvent("create", { type: "m.room.create", state_key: "", content: {} })],
    [`GET ${ROOM}/context/$create`]: { start: "oldest" },
  });
  const api = messagesAPI(session);
  await api.getMessages("!room", "f", undefined);
  await api.getMessages("!room", "b", undefined);
  const asked = log().map((line) => line.replace(/sync\?.*/, "sync"));
  assertEquals(asked, [
    "GET /_matrix/client/versions",
    `GET ${ROOM}/state`,
    `GET ${ROOM}/context/$create?limit=1`,
    `GET ${ROOM}/messages?dir=f&from=oldest`,
    "GET /_matrix/client/v3/sync",
    `GET ${ROOM}/messages?dir=b&from=newest`,
  ]);
});

Deno.test("getMessages() says what to give where it can't find the start of a history", async () => {
  const create = clientEvent("create", { type: "m.room.create", state_key: "", content: {} });
  for (const state of [[], [create]]) {
    const { session } = scripted({
      "GET /_matrix/client/versions": { versions: ["v1.2"] },
      [`GET ${ROOM}/state`]: state,
      [`GET ${ROOM}/context/$create`]: { start: "" }, // as Dendrite says
    });
    await assertRejects(
      () => messagesAPI(session).getMessages("!room", "f", undefined),
      ServiceResponseError,
      "give fromToken",
    );
  }
});

Deno.test("getMessages() rejects a page without events", async () => {
  const { session } = scripted({ [`GET ${ROOM}/messages`]: { start: "s" } });
  await assertRejects(
    () => messagesAPI(session).getMessages("!room", "b", "t1"),
    ServiceResponseError,
    "chunk",
  );
});

Deno.test("Operations on messages refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted();
  const api = messagesAPI(session);
  for (const room of ["", "#alias:example.org", "room"] as string[] as RoomID[]) {
    await assertRejects(() => api.sendMessageEvent(room, "m.x", {}), ValueError, "roomId");
    await assertRejects(() => api.redact(room, "$1"), ValueError, "roomId");
    await assertRejects(() => api.getEvent(room, "$1"), ValueError, "roomId");
    await assertRejects(() => api.getMessages(room, "b", "t1"), ValueError, "roomId");
  }
  for (const event of ["", "1", "@bob:b.org"] as string[] as EventID[]) {
    await assertRejects(() => api.redact("!room", event), ValueError, "eventId");
    await assertRejects(() => api.getEvent("!room", event), ValueError, "eventId");
  }
  for (const limit of [0, -1, 1.5, NaN]) {
    await assertRejects(() => api.getMessages("!room", "b", "t1", { limit }), ValueError, "limit");
  }
  await assertRejects(() => api.sendMessageEvent("!room", "", {}), ValueError, "empty");
  await assertRejects(() => api.sendMessageEvent("!room", "m.x", {}, { txnId: "" }), ValueError, "txnId");
  await assertRejects(
    () => api.sendMessageEvent("!room", eventType("m.x", "state"), {}),
    ValueError,
    "class",
  );
  await assertRejects(() => api.sendMessageEvent("!room", "m.x", [] as object), ValueError, "object");
  assertEquals(requests, []);
});
