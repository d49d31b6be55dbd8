import { assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import { membershipIn } from "../../../src/actors/store/mod.ts";
import { FormerMembers, membershipChange } from "../../../src/actors/syncer/membership.ts";
import { isMember } from "../../../src/actors/syncer/sync_parts.ts";
import {
  type JsonObject,
  type MatrixEvent,
  Membership,
  type StateEvent,
  SyncStream,
} from "@greenroom/matrix/types";
import { member, message } from "../support/events.ts";

const { JOIN, INVITE, KNOCK, BAN, LEAVE } = Membership;

function event(membership: unknown, sender: string, source: SyncStream): StateEvent {
  return {
    ...member("@a:b", String(membership)),
    content: { membership },
    sender,
    source,
  } as unknown as StateEvent;
}

/** The event of a change from (row) to (column), by the user and by another. */
const TABLE: readonly [
  from: Membership,
  to: Membership,
  bySelf: string | undefined,
  byOther: string | undefined,
][] = [
  [LEAVE, JOIN, "JOIN", "JOIN"],
  [LEAVE, INVITE, "USER_INVITED", "USER_INVITED"],
  [LEAVE, KNOCK, "KNOCK", "KNOCK"],
  [LEAVE, BAN, "BAN", "BAN"],
  [LEAVE, LEAVE, undefined, undefined],
  [INVITE, JOIN, "JOIN", "JOIN"],
  [INVITE, INVITE, undefined, undefined],
  [INVITE, KNOCK, "KNOCK", "KNOCK"],
  [INVITE, BAN, "BAN", "BAN"],
  [INVITE, LEAVE, "REJECT_INVITE", "DISINVITE"],
  [JOIN, JOIN, "PROFILE_CHANGE", "PROFILE_CHANGE"],
  [JOIN, INVITE, "USER_INVITED", "USER_INVITED"],
  [JOIN, KNOCK, "KNOCK", "KNOCK"],
  [JOIN, BAN, "BAN", "BAN"],
  [JOIN, LEAVE, "LEAVE", "KICK"],
  [KNOCK, JOIN, "JOIN", "JOIN"],
  [KNOCK, INVITE, "USER_INVITED", "USER_INVITED"],
  [KNOCK, KNOCK, undefined, undefined],
  [KNOCK, BAN, "BAN", "BAN"],
  [KNOCK, LEAVE, "LEAVE", "KICK"],
  [BAN, JOIN, "JOIN", "JOIN"],
  [BAN, INVITE, "USER_INVITED", "USER_INVITED"],
  [BAN, KNOCK, "KNOCK", "KNOCK"],
  [BAN, BAN, undefined, undefined],
  [BAN, LEAVE, "UNBAN", "UNBAN"],
];

for (const [from, to, bySelf, byOther] of TABLE) {
  Deno.test(`membershipChange() from ${from} to ${to} is ${bySelf} by the user, ${byOther} by another`, () => {
    const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
    assertEquals(membershipChange(event(to, "@a:b", source), from)?.type, bySelf);
    const other = event(to, "@boss:b", source);
    const change = membershipChange(other, from);
    assertEquals(change?.type, byOther);
    if (change !== undefined) assertStrictEquals(change.data, other);
  });
}

Deno.test("membershipChange() reports each own invitation in the invite section", () => {
  const invited = event(INVITE, "@boss:b", SyncStream.INVITED_ROOM | SyncStream.STATE);
  assertEquals(membershipChange(invited)?.type, "INVITE");
  assertEquals(membershipChange(invited, INVITE)?.type, "INVITE");
});

Deno.test("membershipChange() takes an unknown former membership for none", () => {
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  assertEquals(membershipChange(event(JOIN, "@a:b", source))?.type, "JOIN");
  assertEquals(membershipChange(event(LEAVE, "@a:b", source)), undefined);
});

Deno.test("membershipChange() ignores an invalid membership", () => {
  for (const bad of [undefined, null, 7, {}, "constructor", "JOIN"]) {
    assertEquals(membershipChange(event(bad, "@a:b", SyncStream.TIMELINE), JOIN), undefined);
  }
});

Deno.test("membershipIn() accepts only text as a membership", () => {
  const told = [JOIN, 7, null, undefined, {}].map((membership) =>
    membershipIn({ content: { membership } as never })
  );
  assertEquals([...told, membershipIn(undefined)], [
    JOIN,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

function state(json: JsonObject): StateEvent {
  return json as unknown as StateEvent;
}

Deno.test("FormerMembers.before() gives the last member event in front of another, else what was kept", () => {
  const kept = state(member("@a:a", "invite"));
  const [join, leave, other] = [member("@a:a", "join"), member("@a:a", "leave"), member("@b:a", "join")]
    .map(state);
  const events = [join, message("1"), leave, other] as unknown as MatrixEvent[];
  const members = new FormerMembers(events, new Set(), new Map([["@a:a", kept]]));
  assertStrictEquals(members.before(0, "@a:a"), kept);
  assertStrictEquals(members.before(1, "@a:a"), join);
  assertStrictEquals(members.before(2, "@a:a"), join);
  assertEquals(members.before(3, "@b:a"), undefined);
  assertStrictEquals(members.before(3, "@a:a"), leave);
  assertEquals(new FormerMembers(events, new Set(), undefined).before(0, "@a:a"), undefined);
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
  const members = new FormerMembers([join, mood] as MatrixEvent[], new Set(), undefined);
  assertStrictEquals(members.before(2, "@a:a"), join);
  assertFalse(isMember(mood));
});

Deno.test("A member event that was shown before says nothing of the user before another one", () => {
  const again = member("@a:a", "join") as unknown as MatrixEvent;
  const now = member("@a:a", "invite") as unknown as MatrixEvent;
  const left = member("@a:a", "leave") as unknown as StateEvent;
  const members = new FormerMembers([again, now], new Set([again]), new Map([["@a:a", left]]));
  assertEquals(members.before(1, "@a:a"), left);
});
