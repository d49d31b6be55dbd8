import { assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester, Homeserver, TestClock } from "@greenroom/matrix/testing";

// As JavaScript lets pass.
// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("A clock is moved by milliseconds or a text that says how long, and the time of a bot does not pass back", async () => {
  await using tester = new BotTester((options) => new Bot(options));
  for (const ms of ["soon", NaN, Infinity, null] as Any[]) {
    await assertRejects(() => tester.pass(ms), ValueError, "give a number of milliseconds");
    await assertRejects(() => new TestClock().tick(ms), ValueError, "give a number of milliseconds");
  }
  await assertRejects(() => tester.pass(-1), ValueError, "not below 0");
});

Deno.test("A user of the homeserver is made of a localpart alone", async () => {
  await using homeserver = new Homeserver();
  for (const name of ["@alice:localhost", "alice:localhost", "@alice", "", 5] as Any[]) {
    assertThrows(() => homeserver.createUser(name), ValueError, "give the localpart alone");
  }
  await using tester = new BotTester((options) => new Bot(options));
  await assertRejects(() => tester.room("@alice:localhost"), ValueError, "give the localpart alone");
});

Deno.test("A fault of a kind that there is not is refused, with the kinds that there are", async () => {
  await using homeserver = new Homeserver();
  const { faults } = homeserver;
  assertThrows(
    () => faults.add({ kind: "stats", status: 502 } as Any),
    ValueError,
    "kind must be one of status,",
  );
  assertThrows(() => faults.add({} as Any), ValueError, "kind must be one of");
});

Deno.test("A tester whose function returns no bot says what is missing", async () => {
  await using tester = new BotTester((() => {}) as Any);
  await assertRejects(() => tester.start(), ValueError, "end it with return bot");
});
