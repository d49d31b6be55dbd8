import { assertEquals, assertRejects } from "@std/assert";
import { capabilitiesAPI, thirdPartyAPI, voipAPI } from "../../../src/api/server/server.ts";
import { devicesAPI, openIdAPI, pushersAPI } from "../../../src/api/account/account.ts";
import { relationsAPI, reportingAPI, searchAPI } from "../../../src/api/messages/mod.ts";
import { roomExtrasAPI, spacesAPI } from "../../../src/api/rooms/rooms.ts";
import {
  ForbiddenError,
  NetworkError,
  NotFoundError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { RoomAlias, RoomID, UserID } from "@greenroom/matrix/types";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v1/rooms/!room";
const ROOM3 = "/_matrix/client/v3/rooms/!room";
const PUSHERS = "POST /_matrix/client/v3/pushers/set";

Deno.test("getRelations() asks by kind and type, and refuses a type without a kind", async () => {
  const page = { chunk: [], next_batch: "t2", prev_batch: "t0", recursion_depth: 2 };
  const { session, log } = scripted({ "*": page });
  const { getRelations } = relationsAPI(session);
  assertEquals(await getRelations("!room", "$event"), page);
  await getRelations("!room", "$event", {
    relType: "m.thread",
    recurse: true,
    from: "t1",
    to: "t3",
    limit: 5,
    direction: "f",
  });
  await getRelations("!room", "$event", { relType: "m.annotation", eventType: "m.reaction", recurse: false });
  await assertRejects(
    () => getRelations("!room", "$event", { eventType: "m.reaction" }),
    ValueError,
    "relType",
  );
  await assertRejects(() => getRelations("!room", "$event", { limit: 0 }), ValueError);
  assertEquals(log(), [
    `GET ${ROOM}/relations/$event`,
    `GET ${ROOM}/relations/$event/m.thread?from=t1&to=t3&limit=5&dir=f&recurse=true`,
    `GET ${ROOM}/relations/$event/m.annotation/m.reaction`,
  ]);
});

Deno.test("getThreads() and getSpaceHierarchy() ask for a page, and refuse impossible limits", async () => {
  const { session, log } = scripted({ "*": { chunk: [], rooms: [] } });
  const { getThreads } = relationsAPI(session);
  const { getSpaceHierarchy } = spacesAPI(session);
  await getThreads("!room");
  await getThreads("!room", { include: "participated", limit: 3, from: "t1" });
  await getSpaceHierarchy("!room", { suggestedOnly: false });
  await getSpaceHierarchy("!room", { suggestedOnly: true, limit: 3, maxDepth: 0, from: "t1" });
  await assertRejects(() => getThreads("!room", { limit: 0 }), ValueError);
  await assertRejects(() => getSpaceHierarchy("!room", { limit: 0 }), ValueError);
  await assertRejects(() => getSpaceHierarchy("!room", { maxDepth: -1 }), ValueError);
  assertEquals(log(), [
    `GET ${ROOM}/threads`,
    `GET ${ROOM}/threads?include=participated&limit=3&from=t1`,
    `GET ${ROOM}/hierarchy`,
    `GET ${ROOM}/hierarchy?suggested_only=true&limit=3&max_depth=0&from=t1`,
  ]);
});

Deno.test("The less common operations on rooms send their options, and return what is documented", async () => {
  const found = { event_id: "$event", origin_server_ts: 5 };
  const { session, log, body } = scripted({
    [`POST ${ROOM3}/upgrade`]: { replacement_room: "!new" },
    [`GET ${ROOM3}/context/$event`]: { start: "t1" },
    [`GET ${ROOM}/timestamp_to_event`]: found,
    "GET /_matrix/client/v1/room_summary/#stage:b.org": { room_id: "!room", num_joined_members: 2 },
  });
  const api = roomExtrasAPI(session);
  assertEquals(await api.upgradeRoom("!room", "12", { additionalCreators: ["@bob:b.org"] }), "!new");
  assertEquals(body(), { new_version: "12", additional_creators: ["@bob:b.org"] });
  assertEquals(
    (await api.getEventContext("!room", "$event", { limit: 0, filter: { types: ["a"] } })).start,
    "t1",
  );
  assertEquals(await api.timestampToEvent("!room", 5, "f"), found as never);
  assertEquals(
    (await api.getRoomSummary("#stage:b.org", { servers: ["b.org", "c.org"] })).num_joined_members,
    2,
  );
  assertEquals(log().slice(1), [
    `GET ${ROOM3}/context/$event?limit=0&filter=%7B%22types%22%3A%5B%22a%22%5D%7D`,
    `GET ${ROOM}/timestamp_to_event?ts=5&dir=f`,
    "GET /_matrix/client/v1/room_summary/#stage:b.org?via=b.org&via=c.org",
  ]);
});

Deno.test("The other modules refuse impossible parameters, and send nothing", async () => {
  const { session, requests } = scripted();
  const rooms = roomExtrasAPI(session);
  const reports = reportingAPI(session);
  const bridges = thirdPartyAPI(session);
  const room = "room" as RoomID;
  const user = "bob" as UserID;
  const calls: (() => Promise<unknown>)[] = [
    () => rooms.upgradeRoom(room, "12"),
    () => rooms.upgradeRoom("!room", "12", { additionalCreators: [user] }),
    () => rooms.getEventContext("!room", "$event", { limit: -1 }),
    () => rooms.timestampToEvent("!room", -1, "f"),
    () => rooms.timestampToEvent("!room", 0.5, "f"),
    () => rooms.getRoomSummary("stage" as RoomAlias),
    () => reports.reportRoom(room),
    () => reports.reportUser(user),
    () => reports.reportEvent("!room", "event" as "$event"),
    () => bridges.getThirdPartyProtocol(""),
    () => bridges.getThirdPartyLocationsOfAlias("stage" as RoomAlias),
    () => bridges.getThirdPartyUsersOfId(user),
    () => devicesAPI(session).getDevice(""),
    () => devicesAPI(session).deleteDevice(".."),
    () => spacesAPI(session).getSpaceHierarchy(room),
  ];
  for (const call of calls) await assertRejects(call, ValueError);
  assertEquals(requests, []);
});

Deno.test("Reports carry a reason, empty without one, and are one try", async () => {
  const { session, body } = scripted({ "*": {} });
  const reports = reportingAPI(session);
  await reports.reportEvent("!room", "$event", { reason: "Spam" });
  assertEquals(body(), { reason: "Spam" });
  await reports.reportRoom("!room");
  assertEquals(body(), { reason: "" });
  await reports.reportUser("@eve:e.org", { reason: "Spam" });
  const lost = scripted({ "*": new TypeError("reset") });
  await assertRejects(() => reportingAPI(lost.session).reportRoom("!room"), NetworkError);
  assertEquals(lost.requests.length, 1);
});

Deno.test("searchMessages() hands out the results, none if the server says none", async () => {
  const { session, body, log } = scripted({
    "POST /_matrix/client/v3/search": { search_categories: { room_events: { count: 1, next_batch: "t2" } } },
  });
  const criteria = { order_by: "recent" } as const;
  assertEquals(
    (await searchAPI(session).searchMessages("ghost", { criteria, nextBatch: "t1" })).next_batch,
    "t2",
  );
  assertEquals(body(), { search_categories: { room_events: { order_by: "recent", search_term: "ghost" } } });
  assertEquals(log(), ["POST /_matrix/client/v3/search?next_batch=t1"]);
  const empty = scripted({ "POST /_matrix/client/v3/search": { search_categories: {} } });
  assertEquals(await searchAPI(empty.session).searchMessages("ghost"), {});
});

Deno.test("Pushers are listed, set and removed", async () => {
  const pusher = {
    pushkey: "key",
    kind: "http",
    app_id: "org.example.app",
    app_display_name: "App",
    device_display_name: "Phone",
    lang: "en",
    data: { url: "https://push.example.org/_matrix/push/v1/notify" },
  };
  const { session, body, log } = scripted({
    "GET /_matrix/client/v3/pushers": { pushers: [pusher] },
    [PUSHERS]: {},
  });
  const api = pushersAPI(session);
  assertEquals(await api.getPushers(), [pusher]);
  await api.setPusher({ ...pusher, append: true });
  assertEquals(body(), { ...pusher, append: true });
  await api.removePusher("key", "org.example.app");
  assertEquals(body(), { pushkey: "key", app_id: "org.example.app", kind: null });
  assertEquals(log().slice(1), [PUSHERS, PUSHERS]);
});

Deno.test("Third-party networks are looked up by kind, fields, alias and user", async () => {
  const ROOT = "GET /_matrix/client/v3/thirdparty";
  const protocol = { user_fields: ["nick"], location_fields: [], icon: "", field_types: {}, instances: [] };
  const { session, log } = scripted({
    [`${ROOT}/protocols`]: { irc: protocol },
    [`${ROOT}/protocol/irc`]: protocol,
    "*": [],
  });
  const api = thirdPartyAPI(session);
  assertEquals(await api.getThirdPartyProtocols(), { irc: protocol });
  assertEquals(await api.getThirdPartyProtocol("irc"), protocol);
  assertEquals(await api.getThirdPartyLocations("irc", { fields: { channel: "#a&b" } }), []);
  await api.getThirdPartyUsers("irc");
  await api.getThirdPartyLocationsOfAlias("#stage:b.org");
  await api.getThirdPartyUsersOfId("@bob:b.org");
  assertEquals(log().slice(2), [
    `${ROOT}/location/irc?channel=%23a%26b`,
    `${ROOT}/user/irc`,
    `${ROOT}/location?alias=%23stage%3Ab.org`,
    `${ROOT}/user?userid=%40bob%3Ab.org`,
  ]);
});

Deno.test("Capabilities, OpenID and TURN answers are returned, and a homeserver without TURN differs from a broken one", async () => {
  const TURN = "GET /_matrix/client/v3/voip/turnServer";
  const token = {
    access_token: "t",
    token_type: "Bearer",
    matrix_server_name: "example.org",
    expires_in: 60,
  };
  const turn = { username: "u", password: "p", uris: ["turn:turn.example.org"], ttl: 60 };
  const { session } = scripted({
    "GET /_matrix/client/v3/capabilities": { capabilities: { "m.change_password": { enabled: false } } },
    "POST /_matrix/client/v3/user/@alice:example.org/openid/request_token": token,
    [TURN]: turn,
  });
  const { "m.change_password": change } = await capabilitiesAPI(session).getCapabilities();
  assertEquals(change, { enabled: false });
  assertEquals(await openIdAPI(session).getOpenIdToken(), token);
  assertEquals(await voipAPI(session).getTurnServer(), turn);
  assertEquals(await voipAPI(scripted({ [TURN]: {} }).session).getTurnServer(), undefined);
  await assertRejects(
    () => voipAPI(scripted({ [TURN]: { uris: [] } }).session).getTurnServer(),
    ServiceResponseError,
  );
});

Deno.test("Devices are listed, looked up, renamed and deleted", async () => {
  const device = { device_id: "DEV", display_name: null };
  const { session, log, body } = scripted({
    "GET /_matrix/client/v3/devices": { devices: [device] },
    "GET /_matrix/client/v3/devices/DEV": device,
    "PUT /_matrix/client/v3/devices/DEV": {},
    "DELETE /_matrix/client/v3/devices/DEV": {},
    "POST /_matrix/client/v3/delete_devices": {},
  });
  const api = devicesAPI(session);
  assertEquals([await api.getDevices(), await api.getDevice("DEV")], [[device], device]);
  await api.updateDevice("DEV", "Phone");
  assertEquals(body(), { display_name: "Phone" });
  await api.deleteDevice("DEV");
  assertEquals(body(), {});
  await api.deleteDevices(["DEV", "OLD"]);
  assertEquals([body(), log().length], [{ devices: ["DEV", "OLD"] }, 5]);
});

Deno.test("A refusal of any of these operations has the class of its error code", async () => {
  const { session } = scripted({ "*": refusal(404, "M_NOT_FOUND") });
  await assertRejects(() => devicesAPI(session).getDevice("DEV"), NotFoundError);
  await assertRejects(() => roomExtrasAPI(session).timestampToEvent("!room", 0, "b"), NotFoundError);
  const forbidden = scripted({ "*": refusal(403, "M_FORBIDDEN") });
  await assertRejects(() => roomExtrasAPI(forbidden.session).upgradeRoom("!room", "12"), ForbiddenError);
});
