import { assertEquals, assertStrictEquals } from "@std/assert";
import { type MemberChanges, RoomMembers } from "../../../src/crypto/sharing/room_members.ts";
import type { RoomID, UserID } from "@greenroom/matrix/types";

const ROOM: RoomID = "!room:example.org";
const [ALICE, BOB, CAROL] = ["@alice:example.org", "@bob:example.org", "@carol:example.org"] as const;

/** Members who have joined. */
const joined = (...users: UserID[]) => users.map((userId) => ({ userId, membership: "join" as const }));

/** That many users join. */
const joining = (count: number): MemberChanges =>
  new Map(Array.from({ length: count }, (_, index) => [`@user${index}:example.org`, "join"]));

/** A room whose members are known. */
function known(...users: UserID[]): RoomMembers {
  const members = new RoomMembers();
  members.put(ROOM, joined(...users));
  return members;
}

Deno.test("invited users get no keys from the moment that history is for members only", () => {
  const members = new RoomMembers();
  members.put(ROOM, [...joined(ALICE), { userId: BOB, membership: "invite" }]);
  assertEquals(members.recipients(ROOM, "shared"), new Set([ALICE, BOB]));
  assertEquals(members.recipients(ROOM, "joined"), new Set([ALICE]));
  assertEquals(members.recipients(ROOM, "invited"), new Set([ALICE, BOB]));
});

Deno.test("recipients are worked out once, as long as nothing changes", () => {
  const members = known(ALICE);
  const first = members.recipients(ROOM, "shared");
  assertStrictEquals(members.recipients(ROOM, "shared"), first);
});

Deno.test("a user who joined during the request for members is not missing from the answer; an earlier member is", () => {
  const members = known(ALICE, BOB);
  members.ask(ROOM, 1);
  members.change(ROOM, new Map([[CAROL, "join"]]));
  assertEquals(members.missing(ROOM, joined(ALICE)), [BOB]);
});

Deno.test("asking again while a question is open loses nothing of what changed since the first", () => {
  const members = known(ALICE, BOB);
  members.ask(ROOM, 1);
  members.change(ROOM, new Map([[BOB, undefined]]));
  members.ask(ROOM, 2);
  members.put(ROOM, joined(ALICE, BOB)); // it may be of before
  assertEquals(members.recipients(ROOM, "shared"), new Set([ALICE]));
});

Deno.test("an answer during which more than 10,000 members changed is not believed: members are asked for again", () => {
  for (const [count, isKnown] of [[10_000, true], [10_001, false]] as const) {
    const members = known(ALICE);
    members.ask(ROOM, 1);
    members.change(ROOM, joining(count));
    members.put(ROOM, joined(ALICE));
    assertEquals(members.recipients(ROOM, "shared")?.size, isKnown ? count + 1 : undefined);
  }
});
