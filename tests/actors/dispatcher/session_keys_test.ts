import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { sessionKey } from "../../../src/actors/dispatcher/handler_context.ts";
import { SESSIONS } from "../../../src/actors/dispatcher/dispatcher.ts";
import { ValueError } from "@greenroom/matrix/errors";
import type { SessionScope } from "@greenroom/matrix";
import type { JsonObject } from "@greenroom/matrix/types";
import { message, ROOM } from "../support/events.ts";

function keyOf(per: SessionScope, event: object) {
  return sessionKey({ name: "notes", per }, event);
}

function inRoom(more: JsonObject = {}): JsonObject {
  return { room_id: ROOM, ...message("1"), ...more };
}

function inThread(root: unknown, rel_type: unknown = "m.thread"): JsonObject {
  return inRoom({ content: { "m.relates_to": { rel_type, event_id: root } as JsonObject } });
}

Deno.test("sessionKey() differs for rooms, users, members and threads", () => {
  const user = "@bob:a";
  assertEquals(keyOf("room", inRoom()), [SESSIONS, "notes", ROOM]);
  assertEquals(keyOf("user", inRoom()), [SESSIONS, "notes", user]);
  assertEquals(keyOf("member", inRoom()), [SESSIONS, "notes", ROOM, user]);
  assertEquals(keyOf("thread", inThread("$root")), [SESSIONS, "notes", ROOM, "$root"]);
  assertEquals(keyOf("thread", inRoom()), [SESSIONS, "notes", ROOM, ""]);
});

Deno.test("sessionKey() gives an event that lacks what a session is of none", () => {
  const accountData = { type: "m.direct", content: {} };
  for (const per of ["room", "user", "member", "thread"] as const) {
    assertEquals(keyOf(per, accountData), undefined);
  }
  assertEquals(keyOf("member", { ...accountData, sender: "@a:a" }), undefined);
  assertEquals(keyOf("member", { ...accountData, room_id: ROOM }), undefined);
  assertEquals(keyOf("user", { sender: 7 }), undefined);
  assertEquals(keyOf("room", { room_id: {} }), undefined);
  assertEquals(keyOf("room", { ...accountData, room_id: ROOM }), [SESSIONS, "notes", ROOM]);
});

Deno.test("sessionKey() takes a relation that names no thread for none", () => {
  const outside = keyOf("thread", inRoom());
  const strange = ["$".padEnd(10_000, "x"), "$".padEnd(200, "ー"), 7, null, {}, ["$root"], undefined];
  for (const root of strange) assertEquals(keyOf("thread", inThread(root)), outside, String(root));
  for (const type of ["m.replace", "m.annotation", undefined, 7, ["m.thread"]]) {
    if (type !== undefined) assertEquals(keyOf("thread", inThread("$root", type)), outside);
  }
  for (const relation of [null, "m.thread", 7, [], undefined]) {
    const content = { "m.relates_to": relation } as JsonObject;
    assertEquals(keyOf("thread", inRoom({ content })), outside);
  }
  for (const content of [undefined, null, "x", 7]) {
    assertEquals(keyOf("thread", { ...inRoom(), content }), outside);
  }
  const longest = "$".padEnd(255, "x");
  assertEquals(keyOf("thread", inThread(longest)), [SESSIONS, "notes", ROOM, longest]);
  assertEquals(keyOf("thread", inThread(`${longest}x`)), outside);
});

Deno.test("sessionKey() asks the application's function, which may give none", () => {
  const longest = "x".repeat(250);
  assertEquals(keyOf(({ type }) => type, inRoom()), [SESSIONS, "notes", "m.room.message"]);
  assertEquals(keyOf(() => "", inRoom()), [SESSIONS, "notes", ""]);
  assertEquals(keyOf(() => longest, inRoom()), [SESSIONS, "notes", longest]);
  assertEquals(keyOf(() => undefined, inRoom()), undefined);
});

Deno.test("sessionKey() refuses what is no text, or too long a one, and passes on what the function throws", () => {
  for (const bad of [7, null, {}, "x".repeat(251), Promise.resolve("x")]) {
    assertThrows(
      () => keyOf((() => bad) as unknown as SessionScope, inRoom()),
      ValueError,
      'Cannot find the session "notes" of an event',
    );
  }
  const failure = new RangeError("no");
  assertThrows(
    () =>
      keyOf(() => {
        throw failure;
      }, inRoom()),
    RangeError,
  );
});

Deno.test("sessionKey() differs for sessions with different names", () => {
  const other = sessionKey({ name: "other", per: "room" }, inRoom());
  assertNotEquals(other, keyOf("room", inRoom()));
});
