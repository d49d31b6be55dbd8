import { assertEquals, assertRejects } from "@std/assert";
import { coreAPI } from "../../../src/api/api.ts";
import { membershipAPI } from "../../../src/api/rooms/membership.ts";
import { ForbiddenError, ValueError } from "@greenroom/matrix/errors";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { refusal, type Rule, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";
const MEMBER = `PUT ${ROOM}/state/m.room.member/`;
const sent = { event_id: "$event" };

function scriptedMembership(rules: Record<string, Rule>) {
  const server = scripted(rules);
  return { ...server, api: membershipAPI(server.session, coreAPI(server.session)) };
}

Deno.test("kickUser(), banUser() and unbanUser() always say why, leaveRoom() and inviteUser() only if there is a reason", async () => {
  for (
    const [operation, path, bare] of [
      ["kickUser", "kick", { user_id: "@bob:b.org", reason: "" }],
      ["banUser", "ban", { user_id: "@bob:b.org", reason: "" }],
      ["unbanUser", "unban", { user_id: "@bob:b.org", reason: "" }],
      ["inviteUser", "invite", { user_id: "@bob:b.org" }],
    ] as const
  ) {
    const { api, log, body } = scriptedMembership({ [`POST ${ROOM}/${path}`]: {} });
    assertEquals(await api[operation]("!room", "@bob:b.org"), undefined);
    assertEquals(body(), bare);
    await api[operation]("!room", "@bob:b.org", { reason: "Late", extraContent: {} });
    assertEquals(body(), { user_id: "@bob:b.org", reason: "Late" });
    assertEquals(log(), [`POST ${ROOM}/${path}`, `POST ${ROOM}/${path}`]);
  }
  const { api, body } = scriptedMembership({ [`POST ${ROOM}/leave`]: {} });
  await api.leaveRoom("!room");
  assertEquals(body(), {});
  await api.leaveRoom("!room", { reason: "Late" });
  assertEquals(body(), { reason: "Late" });
});

Deno.test("joinRoomById() posts the third-party proof and returns the room's ID", async () => {
  const { api, log, body } = scriptedMembership({ [`POST ${ROOM}/join`]: { room_id: "!room" } });
  const thirdPartySigned = {
    sender: "@bob:b.org",
    mxid: "@alice:a.org",
    token: "t",
    signatures: {},
  } as const;
  assertEquals(await api.joinRoomById("!room", { thirdPartySigned }), "!room");
  assertEquals([log(), body()], [[`POST ${ROOM}/join`], { third_party_signed: thirdPartySigned }]);
});

Deno.test("forgetRoom() posts to the room", async () => {
  const { api, log, body } = scriptedMembership({ [`POST ${ROOM}/forget`]: {} });
  await api.forgetRoom("!room");
  assertEquals([log(), body()], [[`POST ${ROOM}/forget`], {}]);
});

Deno.test("extraContent sends a member event with the right membership, and the reason unless it has one", async () => {
  const own = `${MEMBER}@alice:example.org`;
  const bob = `${MEMBER}@bob:b.org`;
  const { api, log, requests } = scriptedMembership({ [own]: sent, [bob]: sent });
  const extraContent = { "com.example.seat": 7 };
  assertEquals(
    await api.joinRoomById("!room", {
      extraContent,
      thirdPartySigned: { sender: "@bob:b.org", mxid: "@alice:a.org", token: "t", signatures: {} },
    }),
    "!room",
  );
  assertEquals(await api.leaveRoom("!room", { extraContent, reason: "Late" }), undefined);
  await api.inviteUser("!room", "@bob:b.org", { extraContent });
  await api.kickUser("!room", "@bob:b.org", { extraContent, reason: "Late" });
  await api.banUser("!room", "@bob:b.org", { extraContent: { reason: "Mine" }, reason: "Late" });
  await api.unbanUser("!room", "@bob:b.org", { extraContent });
  assertEquals(log(), [own, own, bob, bob, bob, bob]);
  assertEquals(requests.map(({ body }) => body), [
    { membership: "join", ...extraContent },
    { membership: "leave", reason: "Late", ...extraContent },
    { membership: "invite", ...extraContent },
    { membership: "leave", reason: "Late", ...extraContent },
    { membership: "ban", reason: "Mine" },
    { membership: "leave", ...extraContent },
  ]);
});

Deno.test("sendMemberEvent() sends the given membership, whatever the extra content says, and works without any", async () => {
  const { api, body } = scriptedMembership({ [`${MEMBER}@bob:b.org`]: sent });
  assertEquals(await api.sendMemberEvent("!room", "@bob:b.org", "invite"), "$event");
  assertEquals(body(), { membership: "invite" });
  await api.sendMemberEvent("!room", "@bob:b.org", "ban", {
    extraContent: { membership: "join", reason: "No" },
  });
  assertEquals(body(), { membership: "ban", reason: "No" });
});

Deno.test("fillMemberEvent() completes member events with the callback's content, and leaves them as they are without one", async () => {
  const { api, session, body } = scriptedMembership({ [`${MEMBER}@bob:b.org`]: sent });
  const asked: unknown[] = [];
  session.fillMemberEventCallback = (...question) => {
    asked.push(question);
    return question[2].reason === "plain" ? undefined : { ...question[2], displayname: "Bob" };
  };
  await api.sendMemberEvent("!room", "@bob:b.org", "join");
  assertEquals(body(), { membership: "join", displayname: "Bob" });
  assertEquals(asked, [["!room", "@bob:b.org", { membership: "join" }]]);
  await api.kickUser("!room", "@bob:b.org", { reason: "plain", extraContent: { x: 1 } });
  assertEquals(body(), { membership: "leave", reason: "plain", x: 1 });
});

Deno.test("The extra content route acts for the user that the request acts for, and asks for an unknown one", async () => {
  const { session, log } = scripted({
    "GET /_matrix/client/v3/account/whoami": { user_id: "@alice:example.org" },
    [`${MEMBER}@alice:example.org`]: sent,
    [`${MEMBER}@ghost:example.org`]: sent,
  }, { mxid: "" });
  const api = membershipAPI(session, coreAPI(session));
  await api.leaveRoom("!room", { extraContent: { x: 1 }, asUserId: "@ghost:example.org" });
  await api.leaveRoom("!room", { extraContent: { x: 1 } });
  assertEquals(log(), [
    `${MEMBER}@ghost:example.org?user_id=%40ghost%3Aexample.org`,
    "GET /_matrix/client/v3/account/whoami",
    `${MEMBER}@alice:example.org`,
  ]);
});

Deno.test("Membership changes are repeated after a lost connection, and refusals reported", async () => {
  const lost = new TypeError("gone");
  for (
    const [path, run] of [
      ["leave", (api) => api.leaveRoom("!room", { retry: { maxRetries: 1 } })],
      ["kick", (api) => api.kickUser("!room", "@bob:b.org", { retry: { maxRetries: 1 } })],
    ] as [string, (api: ReturnType<typeof membershipAPI>) => Promise<void>][]
  ) {
    let tries = 0;
    const server = scriptedMembership({ [`POST ${ROOM}/${path}`]: () => tries++ === 0 ? lost : {} });
    await untilSettled(server.clock, run(server.api));
    assertEquals(tries, 2);
  }
  const { api } = scriptedMembership({ [`POST ${ROOM}/kick`]: refusal(403, "M_FORBIDDEN") });
  await assertRejects(() => api.kickUser("!room", "@bob:b.org"), ForbiddenError);
});

Deno.test("Membership operations refuse impossible identifiers and send nothing", async () => {
  const { api, requests } = scriptedMembership({});
  for (const room of ["", "#alias:example.org", "room"] as string[] as RoomID[]) {
    await assertRejects(() => api.joinRoomById(room), ValueError, "roomId");
    await assertRejects(() => api.joinRoomById(room, { extraContent: { x: 1 } }), ValueError, "roomId");
    await assertRejects(() => api.leaveRoom(room), ValueError, "roomId");
    await assertRejects(() => api.forgetRoom(room), ValueError, "roomId");
    await assertRejects(() => api.inviteUser(room, "@bob:b.org"), ValueError, "roomId");
    await assertRejects(() => api.sendMemberEvent(room, "@bob:b.org", "join"), ValueError, "roomId");
  }
  for (const user of ["", "bob", "@bob", "!room:b.org"] as string[] as UserID[]) {
    await assertRejects(() => api.inviteUser("!room", user), ValueError, "userId");
    await assertRejects(() => api.banUser("!room", user, { extraContent: { x: 1 } }), ValueError, "userId");
    await assertRejects(() => api.sendMemberEvent("!room", user, "join"), ValueError, "userId");
  }
  assertEquals(requests, []);
});
