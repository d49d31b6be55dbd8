import { assertEquals, assertRejects } from "@std/assert";
import { directoryAPI } from "../../../src/api/rooms/directory.ts";
import {
  ForbiddenError,
  MatrixRequestError,
  NotFoundError,
  ServiceResponseError,
  UnrecognizedError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { RoomAlias, RoomID } from "@greenroom/matrix/types";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const ALIAS = "/_matrix/client/v3/directory/room/#stage:example.org";
const VISIBILITY = "/_matrix/client/v3/directory/list/room/!room";
const ROOMS = "/_matrix/client/v3/publicRooms";
const SEARCH = "POST /_matrix/client/v3/user_directory/search";

Deno.test("addRoomAlias() adds an alias of the user's own server", async () => {
  const { session, log, body } = scripted({ [`PUT ${ALIAS}`]: {} });
  assertEquals(await directoryAPI(session).addRoomAlias("!room", "stage"), undefined);
  assertEquals([log(), body()], [[`PUT ${ALIAS}`], { room_id: "!room" }]);
});

Deno.test("addRoomAlias() reports a 409 of any errcode, and with override removes the alias and adds it once more", async () => {
  for (const errcode of ["M_UNKNOWN", "M_ROOM_IN_USE"]) {
    const taken = refusal(409, errcode);
    const { session, log } = scripted({
      [`PUT ${ALIAS}`]: inTurn(taken, taken, {}),
      [`DELETE ${ALIAS}`]: {},
    });
    const api = directoryAPI(session);
    const error = await assertRejects(() => api.addRoomAlias("!room", "stage"), MatrixRequestError);
    assertEquals([error.status, log().length], [409, 1]);
    await api.addRoomAlias("!room", "stage", { override: true });
    assertEquals(log().slice(1), [`PUT ${ALIAS}`, `DELETE ${ALIAS}`, `PUT ${ALIAS}`]);
  }
});

Deno.test("addRoomAlias() with override adds once more if the alias is gone by then, and only once", async () => {
  const { session, log } = scripted({
    [`PUT ${ALIAS}`]: refusal(409, "M_UNKNOWN"),
    [`DELETE ${ALIAS}`]: refusal(404, "M_NOT_FOUND"),
  });
  await assertRejects(
    () => directoryAPI(session).addRoomAlias("!room", "stage", { override: true }),
    MatrixRequestError,
    "409",
  );
  assertEquals(log(), [`PUT ${ALIAS}`, `DELETE ${ALIAS}`, `PUT ${ALIAS}`]);
});

Deno.test("addRoomAlias() with override takes nothing else than a 409 for a conflict, and reports a failed removal", async () => {
  const other = scripted({ [`PUT ${ALIAS}`]: refusal(400, "M_ROOM_IN_USE") });
  await assertRejects(() => directoryAPI(other.session).addRoomAlias("!room", "stage", { override: true }));
  assertEquals(other.requests.length, 1);
  const kept = scripted({
    [`PUT ${ALIAS}`]: refusal(409, "M_UNKNOWN"),
    [`DELETE ${ALIAS}`]: refusal(403, "M_FORBIDDEN"),
  });
  await assertRejects(
    () => directoryAPI(kept.session).addRoomAlias("!room", "stage", { override: true }),
    ForbiddenError,
  );
});

Deno.test("addRoomAlias() passes request options to every request it makes", async () => {
  const { session, requests } = scripted({
    "GET /_matrix/client/v3/account/whoami": { user_id: "@alice:example.org" },
    [`PUT ${ALIAS}`]: inTurn(refusal(409, "M_UNKNOWN"), {}),
    [`DELETE ${ALIAS}`]: {},
  }, { mxid: "" });
  await directoryAPI(session).addRoomAlias("!room", "stage", { override: true, headers: { "x-trace": "1" } });
  assertEquals(requests.map(({ headers }) => headers.get("x-trace")), ["1", "1", "1", "1"]);
});

Deno.test("removeRoomAlias() takes an alias that is not there for removed unless raise404 is set", async () => {
  const { session, log } = scripted({ [`DELETE ${ALIAS}`]: refusal(404, "M_NOT_FOUND") });
  const api = directoryAPI(session);
  await api.removeRoomAlias("stage");
  await api.removeRoomAlias("stage", { raise404: false });
  await assertRejects(() => api.removeRoomAlias("stage", { raise404: true }), NotFoundError);
  assertEquals(log(), Array(3).fill(`DELETE ${ALIAS}`));
  for (
    const [answer, Class] of [
      [refusal(403, "M_FORBIDDEN"), ForbiddenError],
      [refusal(404, "M_UNRECOGNIZED"), UnrecognizedError],
    ] as const
  ) {
    const other = scripted({ [`DELETE ${ALIAS}`]: answer });
    await assertRejects(() => directoryAPI(other.session).removeRoomAlias("stage"), Class);
  }
});

Deno.test("getRoomAlias() and getRoomAliases() look aliases up", async () => {
  const target = { room_id: "!room", servers: ["example.org"] };
  const { session } = scripted({
    [`GET ${ALIAS}`]: target,
    "GET /_matrix/client/v3/rooms/!room/aliases": { aliases: ["#stage:example.org"] },
  });
  const api = directoryAPI(session);
  assertEquals<unknown>(await api.getRoomAlias("#stage:example.org"), target);
  assertEquals(await api.getRoomAliases("!room"), ["#stage:example.org"]);
  const broken = scripted({ [`GET ${ALIAS}`]: { servers: [] } });
  await assertRejects(
    () => directoryAPI(broken.session).getRoomAlias("#stage:example.org"),
    ServiceResponseError,
    "room_id",
  );
});

Deno.test("getRoomDirectory() reads with GET, its parameters in the query, unless it has to search", async () => {
  const { session, log } = scripted({ [`GET ${ROOMS}`]: { chunk: [] } });
  const api = directoryAPI(session);
  assertEquals(await api.getRoomDirectory(), { chunk: [] });
  await api.getRoomDirectory({ limit: 5, since: "t1", server: "b.org", includeAllNetworks: false });
  assertEquals(log(), [`GET ${ROOMS}`, `GET ${ROOMS}?limit=5&since=t1&server=b.org`]);
});

Deno.test("getRoomDirectory() searches with POST, its parameters in the body", async () => {
  const { session, log, requests } = scripted({ [`POST ${ROOMS}`]: { chunk: [] } });
  const api = directoryAPI(session);
  await api.getRoomDirectory({ searchQuery: "play", limit: 5, since: "t1", server: "b.org" });
  await api.getRoomDirectory({ includeAllNetworks: true });
  await api.getRoomDirectory({ thirdPartyInstanceId: "irc" });
  await api.getRoomDirectory({ roomTypes: [null, "m.space"] });
  assertEquals(log(), [`POST ${ROOMS}?server=b.org`, ...Array(3).fill(`POST ${ROOMS}`)]);
  assertEquals(requests.map(({ body }) => body), [
    { limit: 5, since: "t1", filter: { generic_search_term: "play" }, include_all_networks: false },
    { filter: {}, include_all_networks: true },
    { filter: {}, include_all_networks: false, third_party_instance_id: "irc" },
    { filter: { room_types: [null, "m.space"] }, include_all_networks: false },
  ]);
});

Deno.test("A room's visibility is read and set, and must be one that is known", async () => {
  const { session, log, body } = scripted({
    [`GET ${VISIBILITY}`]: { visibility: "public" },
    [`PUT ${VISIBILITY}`]: {},
  });
  const api = directoryAPI(session);
  assertEquals(await api.getRoomDirectoryVisibility("!room"), "public");
  await api.setRoomDirectoryVisibility("!room", "private");
  assertEquals([log(), body()], [[`GET ${VISIBILITY}`, `PUT ${VISIBILITY}`], { visibility: "private" }]);
  for (const answer of [{ visibility: "foggy" }, {}]) {
    const broken = scripted({ [`GET ${VISIBILITY}`]: answer });
    await assertRejects(
      () => directoryAPI(broken.session).getRoomDirectoryVisibility("!room"),
      ServiceResponseError,
    );
  }
});

Deno.test("searchUsers() requests ten users by default, and a language if one is given", async () => {
  const found = { results: [{ user_id: "@bob:b.org" }], limited: false };
  const { session, clock, requests } = scripted({ [SEARCH]: inTurn(new TypeError("gone"), found) });
  const api = directoryAPI(session);
  assertEquals<unknown>(await untilSettled(clock, api.searchUsers("bob")), found);
  await api.searchUsers("bob", { limit: 3, headers: { "accept-language": "fr" } });
  assertEquals(requests.map(({ body, headers }) => [body, headers.get("accept-language")]).slice(1), [
    [{ search_term: "bob", limit: 10 }, null],
    [{ search_term: "bob", limit: 3 }, "fr"],
  ]);
  const brief = scripted({ [SEARCH]: { results: [] } });
  assertEquals(await directoryAPI(brief.session).searchUsers("bob"), { results: [], limited: false });
  const broken = scripted({ [SEARCH]: { limited: false } });
  await assertRejects(() => directoryAPI(broken.session).searchUsers("bob"), ServiceResponseError, "results");
});

Deno.test("Operations on directories refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted({}, { mxid: "" });
  const api = directoryAPI(session);
  for (const localpart of ["", "#stage", "stage:example.org"]) {
    await assertRejects(() => api.addRoomAlias("!room", localpart), ValueError, "aliasLocalpart");
    await assertRejects(() => api.removeRoomAlias(localpart), ValueError, "aliasLocalpart");
  }
  await assertRejects(() => api.addRoomAlias("#x:y" as string as RoomID, "stage"), ValueError, "roomId");
  await assertRejects(() => api.getRoomAlias("!room" as string as RoomAlias), ValueError, "roomAlias");
  await assertRejects(() => api.getRoomDirectoryVisibility("" as RoomID), ValueError, "roomId");
  const both = { includeAllNetworks: true, thirdPartyInstanceId: "irc" };
  await assertRejects(() => api.getRoomDirectory(both), ValueError, "network");
  for (const limit of [0, -1, 1.5, NaN]) {
    await assertRejects(() => api.getRoomDirectory({ limit }), ValueError, "limit");
    await assertRejects(() => api.searchUsers("bob", { limit }), ValueError, "limit");
  }
  assertEquals(requests, []);
});
