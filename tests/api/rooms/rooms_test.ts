import { assertEquals, assertRejects } from "@std/assert";
import { roomsAPI } from "../../../src/api/rooms/rooms.ts";
import {
  MatrixRequestError,
  NetworkError,
  RoomInUseError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { UserID } from "@greenroom/matrix/types";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const CREATE = "POST /_matrix/client/v3/createRoom";
const created = { room_id: "!new" };
const busy = refusal(502, "M_UNKNOWN");

Deno.test("createRoom() without options asks for a private, invite-only room that is no direct chat", async () => {
  const { session, log, body } = scripted({ [CREATE]: created });
  assertEquals(await roomsAPI(session).createRoom(), "!new");
  assertEquals([log(), body()], [[CREATE], {
    visibility: "private",
    preset: "private_chat",
    is_direct: false,
  }]);
});

Deno.test("createRoom() sends everything under its wire name, and creation content without a room version", async () => {
  const { session, body } = scripted({ [CREATE]: created });
  await roomsAPI(session).createRoom({
    aliasLocalpart: "stage",
    visibility: "public",
    preset: "public_chat",
    name: "Stage",
    topic: "Curtains",
    isDirect: true,
    invitees: ["@bob:b.org"],
    initialState: [{ type: "m.room.guest_access", content: { guest_access: "forbidden" } }],
    roomVersion: "12",
    creationContent: { "m.federate": false, room_version: "1" },
    powerLevelContentOverride: { events_default: 50 },
  });
  assertEquals(body(), {
    room_alias_name: "stage",
    visibility: "public",
    preset: "public_chat",
    name: "Stage",
    topic: "Curtains",
    is_direct: true,
    invite: ["@bob:b.org"],
    initial_state: [{ type: "m.room.guest_access", content: { guest_access: "forbidden" } }],
    room_version: "12",
    creation_content: { "m.federate": false },
    power_level_content_override: { events_default: 50 },
  });
});

Deno.test("createRoom() leaves out what is empty, and lets everything go before custom fields", async () => {
  const { session, body } = scripted({ [CREATE]: created });
  await roomsAPI(session).createRoom({
    aliasLocalpart: "",
    name: "",
    invitees: [],
    initialState: [],
    creationContent: { room_version: "1" },
    topic: "Mine",
    customRequestFields: { topic: "Custom", visibility: "public", name: "Custom", invite_3pid: [] },
  });
  assertEquals(body(), {
    visibility: "private",
    preset: "private_chat",
    is_direct: false,
    topic: "Mine",
    name: "Custom",
    invite_3pid: [],
  });
});

Deno.test("createRoom() is not repeated if it may have been done, unless the call says so", async () => {
  for (
    const [answer, Class] of [[new TypeError("gone"), NetworkError], [busy, MatrixRequestError]] as const
  ) {
    const { session, requests, clock } = scripted({ [CREATE]: inTurn(answer, { room_id: "!r:x" }) });
    await assertRejects(() => roomsAPI(session).createRoom(), Class);
    assertEquals(requests.length, 1);
    const again = scripted({ [CREATE]: inTurn(answer, { room_id: "!r:x" }) }, { clock });
    await untilSettled(clock, roomsAPI(again.session).createRoom({ retry: { maxRetries: 1 } }));
    assertEquals(again.requests.length, 2);
  }
});

Deno.test("createRoom() waits for a server that wants fewer rooms", async () => {
  const tooMany = refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 62_500 });
  const { session, requests, clock } = scripted({ [CREATE]: inTurn(tooMany, tooMany, { room_id: "!r:x" }) });
  assertEquals(await untilSettled(clock, roomsAPI(session).createRoom()), "!r:x");
  assertEquals(requests.length, 3);
});

Deno.test("createRoom() rejects an answer without a room ID, and reports a refusal", async () => {
  await assertRejects(
    () => roomsAPI(scripted({ [CREATE]: {} }).session).createRoom(),
    ServiceResponseError,
    "room_id",
  );
  const taken = scripted({ [CREATE]: refusal(400, "M_ROOM_IN_USE") });
  await assertRejects(() => roomsAPI(taken.session).createRoom(), RoomInUseError);
});

Deno.test("createRoom() refuses an alias with sigil or domain, and an invitee who is no user ID, and sends nothing", async () => {
  const { session, requests } = scripted();
  const api = roomsAPI(session);
  await assertRejects(() => api.createRoom({ aliasLocalpart: "#stage" }), ValueError, "aliasLocalpart");
  await assertRejects(
    () => api.createRoom({ aliasLocalpart: "stage:example.org" }),
    ValueError,
    "aliasLocalpart",
  );
  await assertRejects(() => api.createRoom({ invitees: ["bob" as UserID] }), ValueError, "userId");
  assertEquals(requests, []);
});

Deno.test("getJoinedRooms() hands out the rooms, and rejects an answer without any list", async () => {
  const path = "GET /_matrix/client/v3/joined_rooms";
  const { session } = scripted({ [path]: { joined_rooms: ["!a", "!b"] } });
  assertEquals(await roomsAPI(session).getJoinedRooms(), ["!a", "!b"]);
  const broken = scripted({ [path]: { joined_rooms: "!a" } });
  await assertRejects(() => roomsAPI(broken.session).getJoinedRooms(), ServiceResponseError, "joined_rooms");
});

Deno.test("createRoom() refuses an encrypted that is neither true nor false, and asks nothing", async () => {
  for (const encrypted of ["true", "false", 1, null]) {
    const { session, requests } = scripted({ [CREATE]: { room_id: "!new" } });
    await assertRejects(
      () => roomsAPI(session).createRoom({ encrypted: encrypted as never }),
      ValueError,
      "encrypted must be true or false",
    );
    assertEquals(requests, []);
  }
});

Deno.test("createRoom() adds encryption to what the room starts from, unless that encrypts it", async () => {
  const algorithm = "m.megolm.v1.aes-sha2";
  const added = { type: "m.room.encryption", content: { algorithm } };
  const elsewhere = { ...added, state_key: "x" };
  const own = { ...added, content: { algorithm, rotation_period_msgs: 5 } };
  const custom = { type: "org.example.custom", content: {} };
  const cases = [
    [{ initialState: [elsewhere] }, [elsewhere, added]],
    [{ initialState: [own] }, [own]],
    [{ customRequestFields: { initial_state: [custom] } }, [custom, added]],
    [{ customRequestFields: { initial_state: [own] } }, [own]],
    [{ initialState: [elsewhere], customRequestFields: { initial_state: [custom] } }, [elsewhere, added]],
  ] as const;
  for (const [options, expected] of cases) {
    const { session, requests } = scripted({ [CREATE]: { room_id: "!new" } });
    await roomsAPI(session).createRoom({ encrypted: true, ...options as object });
    assertEquals((requests[0]?.body as { initial_state: unknown }).initial_state, expected);
  }
});
