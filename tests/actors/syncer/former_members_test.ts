import { assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import { FormerMembers, isMember } from "../../../src/actors/syncer/former_members.ts";
import type { MatrixEvent, StateEvent } from "../../../src/types/events/event.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { member, message } from "../support/events.ts";

function state(json: JsonObject): StateEvent {
  return json as unknown as StateEvent;
}

Deno.test("FormerMembers.before() gives the last member event in front of another, else what was kept", () => {
  const kept = state(member("@a:a", "invite"));
  const [join, leave, other] = [member("@a:a", "join"), member("@a:a", "leave"), member("@b:a", "join")]
    .map(state);
  const events = [join, message("1"), leave, other] as unknown as MatrixEvent[];
  const members = new FormerMembers(events, new Map([["@a:a", kept]]));
  assertStrictEquals(members.before(0, "@a:a"), kept);
  assertStrictEquals(members.before(1, "@a:a"), join);
  assertStrictEquals(members.before(2, "@a:a"), join);
  assertEquals(members.before(3, "@b:a"), undefined);
  assertStrictEquals(members.before(3, "@a:a"), leave);
  assertEquals(new FormerMembers(events, undefined).before(0, "@a:a"), undefined);
});

Deno.test("isMember() takes state only, and an empty state key for one", () => {
  assertEquals(
    [member("@a:a", "join"), member("", "join"), message("1"), message("1", { type: "m.room.member" })]
      .map((event) => isMember(state(event))),
    [true, true, false, false],
  );
});

Deno.test("State that is about a user, but is no member event, says nothing of what the user was", () => {
  const mood = state(member("@a:a", "join", { type: "com.example.mood" }));
  const join = state(member("@a:a", "join"));
  const members = new FormerMembers([join, mood] as MatrixEvent[], undefined);
  assertStrictEquals(members.before(2, "@a:a"), join);
  assertFalse(isMember(mood));
});
