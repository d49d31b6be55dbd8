import { assertEquals, assertRejects } from "@std/assert";
import { roomStateAPI } from "../../../src/api/rooms/state_events.ts";
import { NotFoundError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { refusal, scripted } from "../../support/scripted_fetch.ts";
import { clientEvent } from "../../support/events.ts";
import { flagSchema } from "../../support/flag_schema.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";
const sent = { event_id: "$event" };

Deno.test("getMembers() lists all members now, or those that its options name", async () => {
  const content = { membership: "join" };
  const members = [clientEvent("join", { type: "m.room.member", state_key: "@bob:b.org", content })];
  const { session, log } = scripted({ [`GET ${ROOM}/members`]: { chunk: members } });
  const api = roomStateAPI(session);
  assertEquals<unknown>(await api.getMembers("!room"), members);
  await api.getMembers("!room", { at: "t1", membership: "join", notMembership: "ban" });
  assertEquals(log(), [
    `GET ${ROOM}/members`,
    `GET ${ROOM}/members?at=t1&membership=join&not_membership=ban`,
  ]);
});

Deno.test("getJoinedMembers() says of each member that it has joined", async () => {
  const joined = { "@bob:b.org": { display_name: "Bob", avatar_url: "mxc://b.org/1" }, "@eve:e.org": {} };
  const { session } = scripted({ [`GET ${ROOM}/joined_members`]: { joined } });
  assertEquals<unknown>(await roomStateAPI(session).getJoinedMembers("!room"), {
    "@bob:b.org": { display_name: "Bob", avatar_url: "mxc://b.org/1", membership: "join" },
    "@eve:e.org": { membership: "join" },
  });
});

Deno.test("Answers about state that break their promise are rejected", async () => {
  const api = roomStateAPI(
    scripted({
      [`GET ${ROOM}/joined_members`]: { joined: { "@bob:b.org": null } },
      [`GET ${ROOM}/members`]: { chunk: {} },
      [`GET ${ROOM}/state`]: {},
      [`GET ${ROOM}/state/m.room.name/`]: { name: "content, not the event" },
      [`PUT ${ROOM}/state/m.room.name/`]: { event_id: 7 },
    }).session,
  );
  await assertRejects(() => api.getJoinedMembers("!room"), ServiceResponseError, "joined");
  await assertRejects(() => api.getMembers("!room"), ServiceResponseError, "chunk");
  await assertRejects(() => api.getState("!room"), ServiceResponseError, "list");
  await assertRejects(
    () => api.getStateEvent("!room", "m.room.name", { format: "event" }),
    ServiceResponseError,
    "type",
  );
  await assertRejects(
    () => api.sendStateEvent("!room", "m.room.name", { name: "x" }),
    ServiceResponseError,
    "event_id",
  );
});

Deno.test("getState() hands out the bare list", async () => {
  const state = [clientEvent("name", { type: "m.room.name", state_key: "", content: { name: "Stage" } })];
  const { session } = scripted({ [`GET ${ROOM}/state`]: state });
  assertEquals<unknown>(await roomStateAPI(session).getState("!room"), state);
});

Deno.test("getStateEvent() uses the empty state key by default, and can return the whole event", async () => {
  const whole = clientEvent("1", { type: "m.room.name", state_key: "", content: { name: "Stage" } });
  const { session, log } = scripted({
    [`GET ${ROOM}/state/m.room.name/`]: ({ query }) => query === "format=event" ? whole : whole.content,
    [`GET ${ROOM}/state/m.room.member/@bob:b.org`]: { membership: "join" },
  });
  const api = roomStateAPI(session);
  const { name } = await api.getStateEvent("!room", "m.room.name");
  const { membership } = await api.getStateEvent("!room", "m.room.member", { stateKey: "@bob:b.org" });
  const { sender, content } = await api.getStateEvent("!room", "m.room.name", { format: "event" });
  assertEquals([name, membership, sender, content.name], ["Stage", "join", "@bob:b.org", "Stage"]);
  assertEquals(log(), [
    `GET ${ROOM}/state/m.room.name/`,
    `GET ${ROOM}/state/m.room.member/@bob:b.org`,
    `GET ${ROOM}/state/m.room.name/?format=event`,
  ]);
});

Deno.test("getStateEvent() raises if there is no such state", async () => {
  const { session } = scripted({ [`GET ${ROOM}/state/m.room.name/`]: refusal(404, "M_NOT_FOUND") });
  await assertRejects(() => roomStateAPI(session).getStateEvent("!room", "m.room.name"), NotFoundError);
});

Deno.test("sendStateEvent() uses the empty state key by default", async () => {
  const { session, log, requests } = scripted({
    [`PUT ${ROOM}/state/m.room.topic/`]: sent,
    [`PUT ${ROOM}/state/m.space.child/!child`]: sent,
  });
  const api = roomStateAPI(session);
  assertEquals(await api.sendStateEvent("!room", "m.room.topic", { topic: "Curtains" }), "$event");
  await api.sendStateEvent("!room", "m.space.child", {}, { stateKey: "!child", timestamp: 12 });
  assertEquals(log(), [`PUT ${ROOM}/state/m.room.topic/`, `PUT ${ROOM}/state/m.space.child/!child?ts=12`]);
  assertEquals(requests.map(({ body }) => body), [{ topic: "Curtains" }, {}]);
});

Deno.test("sendStateEvent() sends a defined event as its schema returns it, and refuses what the schema refuses", async () => {
  const { session, requests } = scripted({ [`PUT ${ROOM}/state/com.example.flag/`]: sent });
  const api = roomStateAPI(session);
  const flag = defineEvent({ type: "com.example.flag", class: "state", schema: flagSchema });
  await api.sendStateEvent("!room", flag, { up: true });
  await assertRejects(
    () => api.sendStateEvent("!room", flag, { up: "yes" } as never),
    ValueError,
    "com.example.flag",
  );
  assertEquals(requests.map(({ body }) => body), [{ up: true, checked: true }]);
});

Deno.test("Operations on state refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted();
  const api = roomStateAPI(session);
  for (const room of ["", "#alias:example.org", "room"] as string[] as RoomID[]) {
    await assertRejects(() => api.getMembers(room), ValueError, "roomId");
    await assertRejects(() => api.getJoinedMembers(room), ValueError, "roomId");
    await assertRejects(() => api.getState(room), ValueError, "roomId");
    await assertRejects(() => api.getStateEvent(room, "m.room.name"), ValueError, "roomId");
    await assertRejects(() => api.sendStateEvent(room, "m.room.name", { name: "x" }), ValueError, "roomId");
  }
  await assertRejects(() => api.getStateEvent("!room", ""), ValueError, "empty");
  await assertRejects(() => api.sendStateEvent("!room", "", {}), ValueError, "empty");
  await assertRejects(() => api.getStateEvent("!room", "m.x", { stateKey: ".." }), ValueError, "stateKey");
  await assertRejects(() => api.sendStateEvent("!room", "..", {}), ValueError, "eventType");
  await assertRejects(
    () => api.sendStateEvent("!room", eventType("m.x", "message"), {}),
    ValueError,
    "class",
  );
  await assertRejects(() => api.getStateEvent("!room", eventType("m.x", "message")), ValueError, "class");
  for (const content of [null, [], "text", undefined]) {
    await assertRejects(
      () => api.sendStateEvent("!room", "com.example", content as unknown as object),
      ValueError,
      "object",
    );
  }
  assertEquals(requests, []);
});
