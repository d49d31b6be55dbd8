import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
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

Deno.test("SynapseAdmin refuses values and options that are of another kind, and sends nothing", async () => {
  const { admin: synapse, lines } = admin({});
  const calls: [call: () => Promise<unknown>, mend: string][] = [
    [
      () => synapse.updateUser(USER, { shadowBanned: "false" as never }),
      "shadowBanned must be true or false",
    ],
    [() => synapse.updateUser(USER, { suspended: true, locked: 1 as never }), "locked must be true or false"],
    [() => synapse.updateUser(USER, { suspended: true }, true as never), "must be an object"],
    [() => synapse.updateUser(USER, undefined as never), "there is no change"],
    [() => synapse.updateUser(USER, { banned: true } as never), "banned"],
    [() => synapse.deactivateUser(USER, true as never), "must be an object"],
    [() => synapse.deactivateUser(USER, null as never), "must be an object"],
    [() => synapse.deactivateUser(USER, { erase: "no" as never }), "erase must be true or false"],
    [() => synapse.deactivateUser(USER, { earse: true } as never), "did you mean erase?"],
    [() => synapse.resetPassword(USER, undefined as never), "the password"],
    [() => synapse.resetPassword(USER, ""), "the password"],
    [() => synapse.resetPassword(USER, { password: "secret" } as never), "the password"],
    [
      () => synapse.resetPassword(USER, "secret", { logoutDevices: 0 as never }),
      "logoutDevices must be true",
    ],
    [() => synapse.listUsers({ guests: "no" as never }), "guests must be true or false"],
    [() => synapse.listUsers({ name: 5 as never }), "name must be a string"],
    [() => synapse.listUsers("spam" as never), "must be an object"],
    [() => synapse.redactUserEvents(USER, "Spam" as never), "must be an object"],
    [() => synapse.redactUserEvents(USER, { reason: true as never }), "reason must be a string"],
    [() => synapse.listRooms({ orderBy: true as never }), "orderBy must be a string"],
    [() => synapse.deleteRoom(ROOM, { purge: "false" as never }), "purge must be true or false"],
    [() => synapse.deleteRoom(ROOM, { message: {} as never }), "message must be a string"],
    [() => synapse.listRegistrationTokens({ valid: "true" as never }), "valid must be true or false"],
    [() => synapse.createRegistrationToken({ token: "" }), "token"],
    [() => synapse.createRegistrationToken({ usesAllowed: "1" as never }), "usesAllowed"],
    [() => synapse.sendServerNotice(USER, undefined as never), "the content"],
    [() => synapse.sendServerNotice(USER, true as never), "the content"],
    [() => synapse.getUserRedaction(undefined as never), ""],
    [() => synapse.getRoomDeletion("" as never), ""],
  ];
  for (const [call, mend] of calls) {
    const error = await assertRejects(call, ValueError, mend, `${call}`);
    assert(!error.message.includes("secret"), error.message);
  }
  assertEquals(lines(), []);
});

Deno.test("new SynapseAdmin() refuses what is no client", () => {
  for (const client of [undefined, null, {}, { api: {} }, "https://example.org"]) {
    assertThrows(() => new SynapseAdmin(client as never), ValueError, "give the Client of an administrator");
  }
});

Deno.test("listUserConnections() lists the connections of all devices, without what is none", async () => {
  const connections = [{ ip: "10.0.0.2", last_seen: 5, user_agent: null }, { ip: 5 }, null];
  const devices = { A: { sessions: [{ connections }, {}, null] }, B: 5, C: { sessions: [] } };
  const { admin: synapse } = admin({ [`GET /_matrix/client/v3/admin/whois/${USER}`]: { devices } });
  assertEquals(await synapse.listUserConnections(USER), [
    { device_id: "A", ip: "10.0.0.2", last_seen: 5, user_agent: null },
  ]);
  const { admin: other } = admin({ "*": {} });
  await assertRejects(() => other.listUserConnections(USER), ServiceResponseError, "devices");
});
