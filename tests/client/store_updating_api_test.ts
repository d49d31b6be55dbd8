import { UPDATES } from "../../src/actors/store/mod.ts";
import { assert, assertEquals, assertFalse, assertInstanceOf } from "@std/assert";
import { EncryptionSends } from "../../src/client/encrypting_api.ts";
import { storeUpdatingAPI } from "../../src/client/store_updating_api.ts";
import { coreAPI } from "../../src/api/api.ts";
import { profileAPI } from "../../src/api/account/account.ts";
import type { MatrixError } from "@greenroom/matrix/errors";
import type { JsonObject, RoomMemberContent, UserID } from "@greenroom/matrix/types";
import { defineEvent } from "../../src/types/events/define_event.ts";
import { recordingLogger, rejectionOf } from "../actors/kernel/support.ts";
import { refusal, type Rule, scripted, type ScriptedOptions } from "../support/scripted_fetch.ts";
import { numberSchema } from "../actors/support/contents.ts";
import { member, ROOM, state } from "../actors/support/events.ts";
import { stateStage } from "../actors/support/state_store.ts";

const PATH = `/_matrix/client/v3/rooms/${ROOM}`;
const PROFILE = "GET /_matrix/client/v3/profile/@a:a";

async function stage(rules: Record<string, Rule>, options: ScriptedOptions = { retry: false }) {
  const store = await stateStage();
  const { stateStore } = store;
  const { session, log } = scripted(rules, options);
  const logged = recordingLogger();
  const { getProfile } = profileAPI(session);
  const api = storeUpdatingAPI(coreAPI(session), {
    stateStore,
    encryptionSends: new EncryptionSends(),
    getProfile,
    log: logged,
  });
  const members = async () => {
    const events = await stateStore.listState(ROOM, "m.room.member");
    return events.map(({ state_key, content }) => `${state_key} ${content.membership}`);
  };
  return {
    ...store,
    api,
    session,
    asked: log,
    logged,
    members,
    [Symbol.asyncDispose]: () => store.store.stop(),
  };
}

function chunk(...events: JsonObject[]): object {
  return { chunk: events.map((event) => ({ room_id: ROOM, ...event })) };
}

const known = [member("@a:a", "join"), member("@b:a", "leave"), member("@c:a", "invite")];

Deno.test("getMembers() without conditions replaces the members, which are then complete", async () => {
  await using here = await stage({ [`GET ${PATH}/members`]: chunk(member("@d:a", "join")) });
  await here.sync(...known);
  await here.stateStore[UPDATES].setMembers(ROOM, [], { complete: false, only: "knock" });
  assertEquals((await here.api.getMembers(ROOM)).length, 1);
  assertEquals(await here.members(), ["@d:a join"]);
  assert(await here.stateStore.hasFullMemberList(ROOM));
});

Deno.test("getMembers() of one membership replaces the members with it, and does not make members complete", async () => {
  await using here = await stage({
    [`GET ${PATH}/members`]: chunk(member("@b:a", "join"), member("@d:a", "join")),
  });
  await here.stateStore[UPDATES].updateState(ROOM, known as never);
  await here.api.getMembers(ROOM, { membership: "join" });
  assertEquals(await here.members(), ["@b:a join", "@c:a invite", "@d:a join"]);
  assertFalse(await here.stateStore.hasFullMemberList(ROOM));
});

Deno.test("getMembers() without one membership adds to what is known", async () => {
  await using here = await stage({ [`GET ${PATH}/members`]: chunk(member("@a:a", "ban")) });
  await here.sync(...known);
  await here.api.getMembers(ROOM, { notMembership: "join" });
  assertEquals(await here.members(), ["@a:a ban", "@b:a leave", "@c:a invite"]);
});

Deno.test("getMembers() of the past, or of either condition, is not taken for the present", async () => {
  await using here = await stage({ [`GET ${PATH}/members`]: chunk(member("@a:a", "leave")) });
  await here.sync(...known);
  await here.api.getMembers(ROOM, { at: "past" });
  await here.api.getMembers(ROOM, { membership: "join", notMembership: "leave" });
  assertEquals(await here.members(), ["@a:a join", "@b:a leave", "@c:a invite"]);
});

Deno.test("getMembers() and getState() leave out what a room's state can't hold", async () => {
  const bad = [null, 7, {}, { ...member("@x:a", "join"), state_key: 7 }, state("m.room.encryption", {})];
  await using here = await stage({
    [`GET ${PATH}/members`]: { chunk: [...bad, member("@d:a", "join", { room_id: ROOM })] },
    [`GET ${PATH}/state`]: Response.json([{}, bad[3], member("@e:a", "join", { room_id: ROOM })]),
  });
  await here.api.getMembers(ROOM);
  assertEquals(await here.members(), ["@d:a join"]);
  assertEquals(await here.stateStore.isEncrypted(ROOM), undefined);
  await here.api.getState(ROOM);
  assertEquals(await here.members(), ["@e:a join"]);
});

Deno.test("getJoinedMembers() stores who joined and left, and keeps invited members and known profiles", async () => {
  const joined = {
    "@a:a": { display_name: "Another A" },
    "@d:a": { display_name: "D", avatar_url: "mxc://a/d" },
  };
  await using here = await stage({ [`GET ${PATH}/joined_members`]: { joined } });
  const a = member("@a:a", "join", { content: { membership: "join", displayname: "A" } });
  await here.stateStore[UPDATES].updateState(ROOM, [a, ...known.slice(1), member("@e:a", "join")] as never);
  await here.api.getJoinedMembers(ROOM);
  assertEquals(await here.members(), ["@a:a join", "@b:a leave", "@c:a invite", "@d:a join", "@e:a leave"]);
  assertEquals((await here.stateStore.getMember(ROOM, "@a:a"))?.displayname, "A");
  const d: RoomMemberContent = { membership: "join", displayname: "D", avatar_url: "mxc://a/d" };
  assertEquals(await here.stateStore.getMember(ROOM, "@d:a"), d);
  assertFalse(await here.stateStore.hasFullMemberList(ROOM));
});

Deno.test("getState() replaces the members and adds the rest", async () => {
  const name = state("m.room.name", { name: "new" }, { room_id: ROOM });
  await using here = await stage({
    [`GET ${PATH}/state`]: Response.json([name, { ...member("@d:a", "join"), room_id: ROOM }]),
  });
  await here.sync(...known, state("m.room.name", { name: "old" }), state("m.room.topic", {}));
  await here.api.getState(ROOM);
  assertEquals(await here.members(), ["@d:a join"]);
  assertEquals((await here.stateStore.getState(ROOM, "m.room.name"))?.content, { name: "new" });
  assertEquals((await here.stateStore.listState(ROOM)).length, 3);
  assert(await here.stateStore.hasFullMemberList(ROOM));
});

Deno.test("getStateEvent() notes the content, in whichever format it comes", async () => {
  await using here = await stage({
    [`GET ${PATH}/state/m.room.name/`]: { name: "content" },
    [`GET ${PATH}/state/m.room.topic/`]: state("m.room.topic", { topic: "event" }, { room_id: ROOM }),
    [`GET ${PATH}/state/com.example.x/key`]: { x: 1 },
  });
  await here.api.getStateEvent(ROOM, "m.room.name");
  await here.api.getStateEvent(ROOM, "m.room.topic", { format: "event" });
  await here.api.getStateEvent(ROOM, "com.example.x", { stateKey: "key" });
  const content = async (type: string, key?: string) =>
    (await here.stateStore.getState(ROOM, type, key))?.content;
  assertEquals(await content("m.room.name"), { name: "content" });
  assertEquals(await content("m.room.topic"), { topic: "event" });
  assertEquals(await content("com.example.x", "key"), { x: 1 });
});

Deno.test("getStateEvent() does not note a create event, of which the content is not all that counts", async () => {
  await using here = await stage({ [`GET ${PATH}/state/m.room.create/`]: { room_version: "12" } });
  await here.api.getStateEvent(ROOM, "m.room.create");
  assertEquals(await here.stateStore.getCreate(ROOM), undefined);
});

Deno.test("sendStateEvent() notes what the server took, as the schema has it, and not what it refused", async () => {
  const sent = { event_id: "$sent" };
  await using here = await stage({
    [`PUT ${PATH}/state/m.room.encryption/`]: sent,
    [`PUT ${PATH}/state/com.example.n/k`]: sent,
    [`PUT ${PATH}/state/m.room.name/`]: refusal(403, "M_FORBIDDEN"),
  });
  await here.api.sendStateEvent(ROOM, "m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
  assert(await here.stateStore.isEncrypted(ROOM));
  const type = defineEvent({ type: "com.example.n", class: "state", schema: numberSchema({ later: false }) });
  await here.api.sendStateEvent(ROOM, type, { n: 2 }, { stateKey: "k" });
  assertEquals((await here.stateStore.getState(ROOM, "com.example.n", "k"))?.content, { n: 4 });
  const refused = await rejectionOf(here.api.sendStateEvent(ROOM, "m.room.name", { name: "x" }));
  assertEquals((refused as MatrixError).code, "M_FORBIDDEN");
  assertEquals(await here.stateStore.getState(ROOM, "m.room.name"), undefined);
});

Deno.test("Stored state does not change when the caller changes what it sent or received", async () => {
  const create = state("m.room.create", {}, { room_id: ROOM });
  const levels = () => state("m.room.power_levels", { users: { "@a:a": 0 } }, { room_id: ROOM });
  await using here = await stage({
    [`PUT ${PATH}/state/m.room.power_levels/`]: { event_id: "$sent" },
    [`GET ${PATH}/state/m.room.power_levels/`]: { users: { "@a:a": 0 } },
    [`GET ${PATH}/state`]: () => Response.json([create, levels()]),
  });
  const level = () => here.stateStore.getPowerLevel(ROOM, "@a:a");
  const state0 = await here.api.getState(ROOM);
  for (const { content } of state0) content.users = { "@a:a": 100 };
  assertEquals(await level(), 0);
  const content = await here.api.getStateEvent(ROOM, "m.room.power_levels");
  if (content.users !== undefined) content.users["@a:a"] = 100;
  assertEquals(await level(), 0);
  await here.api.sendStateEvent(ROOM, "m.room.power_levels", content);
  content.users = {};
  assertEquals(await level(), 100);
});

Deno.test("A send that succeeded is not failed by a store that fails", async () => {
  await using here = await stage({
    [`PUT ${PATH}/state/m.room.name/`]: { event_id: "$sent" },
    [`GET ${PATH}/members`]: chunk(...known),
  });
  here.kv.failure = new Error("The disk is full");
  assertEquals(await here.api.sendStateEvent(ROOM, "m.room.name", { name: "x" }), "$sent");
  assertEquals((await here.api.getMembers(ROOM)).length, 3);
  assertEquals(here.logged.lines.map(([level]) => level), ["warn", "warn"]);
  assertEquals(((await rejectionOf(here.store.done)) as MatrixError).code, "ACTOR_FAILED");
});

const fill = { membership: "join" } as const;
const userId: UserID = "@a:a";

Deno.test("fillMemberEvent() takes what the callback returns before all else", async () => {
  await using here = await stage({});
  const filled = { ...fill, displayname: "From the callback" };
  here.session.fillMemberEventCallback = () => filled;
  await here.sync(member(userId, "join", { content: { membership: "join", displayname: "Stored" } }));
  assertEquals(await here.api.fillMemberEvent(ROOM, userId, fill), filled);
});

Deno.test("fillMemberEvent() leaves content alone that has a profile", async () => {
  await using here = await stage({});
  assertEquals(await here.api.fillMemberEvent(ROOM, userId, { ...fill, displayname: "" }), undefined);
  assertEquals(await here.api.fillMemberEvent(ROOM, userId, { ...fill, avatar_url: "mxc://a/b" }), undefined);
  assertEquals(here.asked(), []);
});

Deno.test("fillMemberEvent() takes the profile of the present member event, then the global one", async () => {
  await using here = await stage({ [PROFILE]: { displayname: "Global", avatar_url: "mxc://a/g" } });
  assertEquals(await here.api.fillMemberEvent(ROOM, userId, { ...fill, reason: "r" } as RoomMemberContent), {
    membership: "join",
    reason: "r",
    displayname: "Global",
    avatar_url: "mxc://a/g",
  } as RoomMemberContent);
  await here.sync(member(userId, "leave", { content: { membership: "leave", displayname: "Stored" } }));
  assertEquals(await here.api.fillMemberEvent(ROOM, userId, fill), { ...fill, displayname: "Stored" });
  assertEquals(here.asked().length, 1);
});

Deno.test("fillMemberEvent() does without a profile that can't be had, and asks once: a ban does not wait for it", async () => {
  const answers = [
    refusal(404, "M_NOT_FOUND"),
    refusal(404, "M_UNKNOWN"),
    refusal(403, "M_FORBIDDEN"),
    refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 5_000 }),
    refusal(500, "M_UNKNOWN"),
    new Response("<html>", { status: 502 }),
    new TypeError("reset"),
  ];
  for (const answer of answers) {
    await using here = await stage({ [PROFILE]: answer }, { retry: {} });
    assertEquals(await here.api.fillMemberEvent(ROOM, userId, fill), undefined);
    assertEquals(here.asked().length, 1);
  }
});

Deno.test("fillMemberEvent() ends with its signal", async () => {
  const ends = new AbortController();
  const rule = () => {
    ends.abort(new RangeError("enough"));
    return new TypeError("reset");
  };
  await using here = await stage({ [PROFILE]: rule });
  const { signal } = ends;
  assertInstanceOf(await rejectionOf(here.api.fillMemberEvent(ROOM, userId, fill, { signal })), RangeError);
});
