import { assertEquals, assertRejects } from "@std/assert";
import { receiptsAPI } from "../../../src/api/messages/receipts.ts";
import { ForbiddenError, ValueError } from "@greenroom/matrix/errors";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";
const TYPING = `PUT ${ROOM}/typing/@alice:example.org`;

Deno.test("sendReceipt() sends a public receipt for all threads by default", async () => {
  const { session, log, requests } = scripted({
    [`POST ${ROOM}/receipt/m.read/$1`]: {},
    [`POST ${ROOM}/receipt/m.read.private/$1`]: {},
    [`POST ${ROOM}/receipt/m.fully_read/$1`]: {},
  });
  const api = receiptsAPI(session);
  await api.sendReceipt("!room", "$1");
  await api.sendReceipt("!room", "$1", { receiptType: "m.read.private", threadId: "main" });
  await api.sendReceipt("!room", "$1", { threadId: "$root" });
  await api.sendReceipt("!room", "$1", { receiptType: "m.fully_read" });
  assertEquals(log(), [
    `POST ${ROOM}/receipt/m.read/$1`,
    `POST ${ROOM}/receipt/m.read.private/$1`,
    `POST ${ROOM}/receipt/m.read/$1`,
    `POST ${ROOM}/receipt/m.fully_read/$1`,
  ]);
  assertEquals(requests.map(({ body }) => body), [{}, { thread_id: "main" }, { thread_id: "$root" }, {}]);
});

Deno.test("setFullyReadMarker() sends the receipts that it is given along", async () => {
  const { session, requests } = scripted({ [`POST ${ROOM}/read_markers`]: {} });
  const api = receiptsAPI(session);
  await api.setFullyReadMarker("!room", "$1");
  await api.setFullyReadMarker("!room", "$1", { readReceipt: "$2", privateReadReceipt: "$3" });
  assertEquals(requests.map(({ body }) => body), [
    { "m.fully_read": "$1" },
    { "m.fully_read": "$1", "m.read": "$2", "m.read.private": "$3" },
  ]);
});

Deno.test("setTyping() stops typing unless there is a timeout, which is in milliseconds", async () => {
  const { session, log, requests } = scripted({
    [TYPING]: {},
    [`PUT ${ROOM}/typing/@ghost:example.org`]: {},
  });
  const api = receiptsAPI(session);
  await api.setTyping("!room");
  await api.setTyping("!room", { timeout: 0 });
  await api.setTyping("!room", { timeout: -1 });
  await api.setTyping("!room", { timeout: 5000 });
  await api.setTyping("!room", { timeout: 1, asUserId: "@ghost:example.org" });
  const stop = { typing: false };
  assertEquals(requests.map(({ body }) => body), [
    stop,
    stop,
    stop,
    { typing: true, timeout: 5000 },
    { typing: true, timeout: 1 },
  ]);
  assertEquals(log().at(-1), `PUT ${ROOM}/typing/@ghost:example.org?user_id=%40ghost%3Aexample.org`);
});

Deno.test("Receipts and markers are sent again after a lost connection", async () => {
  const answers = inTurn(new TypeError("gone"), {});
  const { session, clock, requests } = scripted({ [`POST ${ROOM}/receipt/m.read/$1`]: answers });
  await untilSettled(clock, receiptsAPI(session).sendReceipt("!room", "$1"));
  assertEquals(requests.length, 2);
});

Deno.test("setTyping() reports a refusal", async () => {
  const { session } = scripted({ [TYPING]: refusal(403, "M_FORBIDDEN") });
  await assertRejects(() => receiptsAPI(session).setTyping("!room"), ForbiddenError);
});

Deno.test("Operations on receipts refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted({}, { mxid: "" });
  const api = receiptsAPI(session);
  const room = "room" as RoomID;
  const event = "1" as EventID;
  await assertRejects(() => api.sendReceipt(room, "$1"), ValueError, "roomId");
  await assertRejects(() => api.sendReceipt("!room", event), ValueError, "eventId");
  await assertRejects(() => api.sendReceipt("!room", "$1", { threadId: event }), ValueError, "eventId");
  const marked = { receiptType: "m.fully_read", threadId: "main" } as const;
  await assertRejects(() => api.sendReceipt("!room", "$1", marked), ValueError, "thread");
  await assertRejects(() => api.setFullyReadMarker(room, "$1"), ValueError, "roomId");
  await assertRejects(() => api.setFullyReadMarker("!room", event), ValueError, "eventId");
  await assertRejects(() => api.setFullyReadMarker("!room", "" as EventID), ValueError, "eventId");
  await assertRejects(
    () => api.setFullyReadMarker("!room", "$1", { readReceipt: event }),
    ValueError,
    "eventId",
  );
  await assertRejects(() => api.setTyping(room), ValueError, "roomId");
  for (const timeout of [1.5, NaN, Infinity]) {
    await assertRejects(() => api.setTyping("!room", { timeout }), ValueError, "integer");
  }
  assertEquals(requests, []);
});
