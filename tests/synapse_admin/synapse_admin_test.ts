import { assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, NotFoundError, ValueError } from "@greenroom/matrix";
import { ServiceResponseError } from "@greenroom/matrix/errors";
import { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
import { refusal, type Rule, scripted } from "../support/scripted_fetch.ts";

const USER = "@spammer:example.org";
const ROOM = "!room:example.org";
const V1 = "/_synapse/admin/v1";

function admin(rules: Record<string, Rule>) {
  const { session, requests } = scripted({ "*": {}, ...rules }, { retry: false });
  const lines = () =>
    requests.map(({ method, path, query, body }) =>
      `${method} ${decodeURIComponent(path)}${query && `?${query}`} ${JSON.stringify(body) ?? ""}`.trim()
    );
  return { admin: new SynapseAdmin({ api: session.http }), lines };
}

const user = {
  name: USER,
  displayname: null,
  admin: false,
  deactivated: false,
  shadow_banned: false,
  locked: false,
  creation_ts: 1,
};

Deno.test("updateUser() makes a request for each change, and looks for the user before a lock", async () => {
  const { admin: synapse, lines } = admin({ [`GET /_synapse/admin/v2/users/${USER}`]: user });
  await synapse.updateUser(USER, { shadowBanned: true, locked: true, suspended: false });
  await synapse.updateUser(USER, { shadowBanned: false });
  assertEquals(lines(), [
    `PUT ${V1}/suspend/${USER} {"suspend":false}`,
    `GET /_synapse/admin/v2/users/${USER}`,
    `PUT /_synapse/admin/v2/users/${USER} {"locked":true}`,
    `POST ${V1}/users/${USER}/shadow_ban {}`,
    `DELETE ${V1}/users/${USER}/shadow_ban {}`,
  ]);
});

Deno.test("updateUser() makes no user of an ID that there is not", async () => {
  const { admin: synapse, lines } = admin({ "*": refusal(404, "M_NOT_FOUND") });
  await assertRejects(() => synapse.updateUser(USER, { locked: true }), NotFoundError);
  assertEquals(lines(), [`GET /_synapse/admin/v2/users/${USER}`]);
});

Deno.test("SynapseAdmin refuses what is no user, room, file or change, and sends nothing", async () => {
  const { admin: synapse, lines } = admin({});
  const calls = [
    () => synapse.updateUser(USER, {}),
    () => synapse.getUser("spammer" as never),
    () => synapse.deactivateUser("" as never),
    () => synapse.redactUserEvents(USER, { rooms: ["room" as never] }),
    () => synapse.listUsers({ limit: 0 }),
    () => synapse.getRoom("../users" as never),
    () => synapse.deleteRoom(ROOM, { newRoomUserId: "a" as never }),
    () => synapse.quarantineMedia("https://example.org/a" as never),
    () => synapse.deleteRegistrationToken(".."),
    () => synapse.sendServerNotice("a" as never, "text"),
  ];
  for (const call of calls) await assertRejects(call, ValueError, "", `${call}`);
  assertEquals(lines(), []);
});

Deno.test("redactUserEvents() redacts in all rooms only where none are given", async () => {
  const { admin: synapse, lines } = admin({ "*": { redact_id: "1" } });
  for (const rooms of [[], null, ROOM, new Set([ROOM])]) {
    await assertRejects(
      () => synapse.redactUserEvents(USER, { rooms: rooms as never }),
      ValueError,
      "rooms",
      JSON.stringify(rooms),
    );
  }
  assertEquals(lines(), []);
  await synapse.redactUserEvents(USER, { rooms: undefined });
  await synapse.redactUserEvents(USER, { rooms: [ROOM] });
  assertEquals(lines(), [
    `POST ${V1}/user/${USER}/redact {"rooms":[]}`,
    `POST ${V1}/user/${USER}/redact {"rooms":["${ROOM}"]}`,
  ]);
});

Deno.test("SynapseAdmin checks what Synapse answers, and leaves out users who are none", async () => {
  const { admin: synapse } = admin({
    "GET /_synapse/admin/v2/users": { users: [user, { name: 1 }], total: 2 },
    [`GET ${V1}/rooms/${ROOM}`]: { room_id: ROOM },
    [`DELETE /_synapse/admin/v2/rooms/${ROOM}`]: {},
    [`GET ${V1}/rooms`]: refusal(403, "M_FORBIDDEN"),
  });
  assertEquals((await synapse.listUsers()).users.map(({ name }) => name), [USER]);
  await assertRejects(() => synapse.getRoom(ROOM), ServiceResponseError, "joined_members");
  await assertRejects(() => synapse.deleteRoom(ROOM), ServiceResponseError, "delete_id");
  await assertRejects(() => synapse.listRooms(), ForbiddenError);
});
