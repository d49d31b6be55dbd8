import { assertEquals, assertRejects } from "@std/assert";
import { accountDataAPI } from "../../../src/api/account/account_data.ts";
import { NotFoundError, UnrecognizedError, ValueError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { flagSchema } from "../../support/flag_schema.ts";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

const USER = "/_matrix/client/v3/user/@alice:example.org";
const TAGS = `${USER}/rooms/!room/tags`;

Deno.test("Account data belongs to the account unless there is a room", async () => {
  const data = { volume: 11 };
  const { session, log, body } = scripted({
    [`GET ${USER}/account_data/com.example.settings`]: data,
    [`PUT ${USER}/account_data/com.example.settings`]: {},
    [`GET ${USER}/rooms/!room/account_data/com.example.settings`]: data,
    [`PUT ${USER}/rooms/!room/account_data/com.example.settings`]: {},
  });
  const api = accountDataAPI(session);
  assertEquals(await api.getAccountData("com.example.settings"), data);
  await api.setAccountData("com.example.settings", data);
  assertEquals(body(), data);
  assertEquals(await api.getAccountData("com.example.settings", { roomId: "!room" }), data);
  await api.setAccountData("com.example.settings", data, { roomId: "!room" });
  assertEquals(body(), data);
  assertEquals(log(), [
    `GET ${USER}/account_data/com.example.settings`,
    `PUT ${USER}/account_data/com.example.settings`,
    `GET ${USER}/rooms/!room/account_data/com.example.settings`,
    `PUT ${USER}/rooms/!room/account_data/com.example.settings`,
  ]);
});

Deno.test("getAccountData() raises if there is none", async () => {
  const { session } = scripted({ [`GET ${USER}/account_data/m.direct`]: refusal(404, "M_NOT_FOUND") });
  await assertRejects(() => accountDataAPI(session).getAccountData("m.direct"), NotFoundError);
});

Deno.test("setAccountData() sends defined data as its schema returns it, and refuses what the schema refuses", async () => {
  const { session, requests } = scripted({ [`PUT ${USER}/account_data/com.example.flag`]: {} });
  const api = accountDataAPI(session);
  const flag = defineEvent({ type: "com.example.flag", class: "account_data", schema: flagSchema });
  await api.setAccountData(flag, { up: true });
  await assertRejects(() => api.setAccountData(flag, {} as never), ValueError, "com.example.flag");
  assertEquals(requests.map(({ body }) => body), [{ up: true, checked: true }]);
});

Deno.test("getRoomTags() gives no tags where the server has none, however it says so", async () => {
  const path = `GET ${TAGS}`;
  for (const answer of [{}, { tags: {} }, { tags: null }, refusal(404, "M_NOT_FOUND")]) {
    const api = accountDataAPI(scripted({ [path]: answer }).session);
    assertEquals(await api.getRoomTags("!room"), { tags: {} });
    assertEquals(await api.getRoomTag("!room", "m.favourite"), undefined);
  }
  const unknown = accountDataAPI(scripted({ [path]: refusal(404, "M_UNRECOGNIZED") }).session);
  await assertRejects(() => unknown.getRoomTags("!room"), UnrecognizedError);
});

Deno.test("getRoomTags() lists a room's tags, and getRoomTag() looks one up among them", async () => {
  const tags = { "m.favourite": { order: 0.5 }, "u.work": {} };
  const { session, log } = scripted({ [`GET ${TAGS}`]: { tags } });
  const api = accountDataAPI(session);
  assertEquals(await api.getRoomTags("!room"), { tags });
  assertEquals(await api.getRoomTag("!room", "m.favourite"), { order: 0.5 });
  assertEquals(await api.getRoomTag("!room", "m.lowpriority"), undefined);
  assertEquals(await api.getRoomTag("!room", "toString"), undefined);
  assertEquals(log(), Array(4).fill(`GET ${TAGS}`));
  const untagged = scripted({ [`GET ${TAGS}`]: {} });
  assertEquals(await accountDataAPI(untagged.session).getRoomTag("!room", "m.favourite"), undefined);
});

Deno.test("setRoomTag() sends what is known of the tag, if anything, and removeRoomTag() removes it", async () => {
  const { session, log, requests } = scripted({ [`PUT ${TAGS}/u.a/b`]: {}, [`DELETE ${TAGS}/u.a/b`]: {} });
  const api = accountDataAPI(session);
  await api.setRoomTag("!room", "u.a/b");
  await api.setRoomTag("!room", "u.a/b", { info: { order: 1 } });
  await api.removeRoomTag("!room", "u.a/b");
  assertEquals(log(), [`PUT ${TAGS}/u.a/b`, `PUT ${TAGS}/u.a/b`, `DELETE ${TAGS}/u.a/b`]);
  assertEquals(requests.map(({ body }) => body), [{}, { order: 1 }, {}]);
  assertEquals(requests[0]?.path.split("/").at(-1), "u.a%2Fb");
});

Deno.test("Operations on account data act for the user that the request acts for", async () => {
  const { session, log } = scripted({}, { mxid: "" });
  await assertRejects(() => accountDataAPI(session).getRoomTags("!room", { asUserId: "@ghost:example.org" }));
  assertEquals(log(), [
    "GET /_matrix/client/v3/user/@ghost:example.org/rooms/!room/tags?user_id=%40ghost%3Aexample.org",
  ]);
});

Deno.test("Operations on account data refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted({}, { mxid: "" });
  const api = accountDataAPI(session);
  for (const type of ["", "m.room.name", eventType("com.example", "state")]) {
    await assertRejects(() => api.getAccountData(type), ValueError);
    await assertRejects(() => api.setAccountData(type, {}), ValueError);
  }
  await assertRejects(() => api.setAccountData("com.example", [] as object), ValueError, "object");
  const room = "#alias:example.org" as string as RoomID;
  await assertRejects(() => api.getAccountData("m.tag", { roomId: room }), ValueError, "roomId");
  await assertRejects(() => api.setAccountData("com.example", {}, { roomId: room }), ValueError, "roomId");
  await assertRejects(() => api.getRoomTags(room), ValueError, "roomId");
  await assertRejects(() => api.getRoomTag(room, "u.x"), ValueError, "roomId");
  await assertRejects(() => api.setRoomTag(room, "u.x"), ValueError, "roomId");
  assertEquals(requests, []);
  const known = accountDataAPI(scripted().session);
  for (const tag of ["", ".", ".."]) {
    await assertRejects(() => known.setRoomTag("!room", tag), ValueError, "tag");
    await assertRejects(() => known.removeRoomTag("!room", tag), ValueError, "tag");
  }
});
