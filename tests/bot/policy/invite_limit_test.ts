import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { InviteLimiter } from "../../../src/bot/policy/policy.ts";

const ALICE = "@alice:localhost";
const WINDOW = 1_000;

function limited(): InviteLimiter {
  return new InviteLimiter({ count: 1, total: 2, window: WINDOW });
}

Deno.test("A limit of one window of a millisecond, and of one invitation, is one", () => {
  const limiter = new InviteLimiter({ count: 1, total: 1, window: 1 });
  assertEquals([limiter.take(ALICE, 7), limiter.take(ALICE, 7)], [7, 8]);
});

Deno.test("A limit that lets none through, or is no number, is refused", () => {
  for (
    const limit of [{ count: 0 }, { total: 0 }, { count: 1.5 }, { total: NaN }, { window: 0 }, {
      window: NaN,
    }]
  ) {
    assertThrows(() => new InviteLimiter(limit), ValueError, "inviteLimit needs");
  }
});

Deno.test("Invitations wait for this window and ten more, and one beyond these is never accepted", () => {
  const limiter = limited();
  const turns = Array.from({ length: 13 }, () => limiter.take(ALICE, 50));
  assertEquals(turns, [50, ...Array.from({ length: 10 }, (_, n) => (n + 1) * WINDOW), undefined, undefined]);
});

Deno.test("Turns that were given stay given while the time for them has not passed", () => {
  const limiter = limited();
  assertEquals([0, 0, 0].map((now) => limiter.take(ALICE, now)), [0, 1_000, 2_000]);
  assertEquals(limiter.take(ALICE, 1_500), 3_000);
  assertEquals(limiter.take(ALICE, 3_500), 4_000);
});

Deno.test("Turns that a clock gave which was far ahead do not count", () => {
  const limiter = limited();
  assertEquals([11_000, 0, 11_000].map((now) => limiter.take(ALICE, now)), [11_000, 0, 11_000]);
});

Deno.test("All users together have their turns, each no more than a user may have", () => {
  const limiter = limited();
  const turns = ["a", "a", "b", "c", "c", "d"].map((user) => limiter.take(user, 0));
  assertEquals(turns, [0, 1_000, 0, 1_000, 2_000, 2_000]);
});

Deno.test("It is said once in a window that a user's invitations are not accepted, and in the next again", () => {
  const limiter = limited();
  const said = [0, 1, 999, 1_000, 1_001].map((now) => limiter.tells(ALICE, now));
  assertEquals(said, [true, false, false, true, false]);
  assert(limiter.tells("@bob:localhost", 1_001));
});
