import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { RateLimiter } from "../../../src/bot/policy/policy.ts";
import { trying } from "../support.ts";

const ALICE = "@alice:localhost";
const LATER = 1_700_000_000_000;
const TOO_MUCH = "That was too much at once: I take more from you in a while.";

Deno.test("What was said slowly while the bot was away is all answered, in whichever rooms", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    bot.command("ping", (c) => {
      heard.push(c.roomId);
      return c.reply("pong");
    });
  }, { rateLimit: { count: 3, window: 10_000 } });
  const rooms = [await tester.room("alice"), await tester.room("alice")] as const;
  await tester.stop();
  for (let index = 0; index < 10; index++) {
    for (const room of rooms) {
      await room.say("!ping");
      await tester.pass(5_000);
    }
    await tester.pass(3_000);
  }
  await tester.start();
  const count = () => heard.length;
  await tester.until(() => count() === 20, "20 were to be answered");
  for (const room of rooms) {
    assertEquals(room.messages.filter(({ text }) => text === "pong").length, 10);
    assertEquals(room.messages.filter(({ text }) => text === TOO_MUCH), []);
  }
});

Deno.test("A flood is limited, whether the bot is there or away", async () => {
  let count = 0;
  await using tester = trying((bot) => void bot.command("ping", () => void count++), {
    rateLimit: { count: 3, window: 10_000 },
  });
  const room = await tester.room("alice");
  const flood = async () => {
    for (let index = 0; index < 10; index++) {
      await room.say("!ping");
      await tester.pass(500);
    }
  };
  await flood();
  await room.expect(TOO_MUCH);
  assertEquals(count, 3);
  await tester.pass(10_000);
  await tester.stop();
  await flood();
  await tester.pass(3_600_000);
  await flood();
  await tester.start();
  await room.expect(TOO_MUCH);
  await room.expectNothing();
  assertEquals(count, 9, "three of each flood");
});

Deno.test("A time in the future is now", () => {
  const limiter = new RateLimiter({ count: 3, window: 10_000 });
  let taken = 0;
  for (let index = 0; index < 100; index++) {
    const sentAt = LATER + 86_400_000 * index;
    if (limiter.take(ALICE, sentAt, LATER)) taken++;
  }
  assertEquals(taken, 3);
  assert(limiter.take(ALICE, LATER + 10_000, LATER + 10_000), "heard again in the next window");
  const other = new RateLimiter({ count: 3, window: 10_000 });
  const takes = [NaN, -Infinity, Infinity, LATER].map((sentAt) => other.take(ALICE, sentAt, LATER));
  assertEquals(takes, [true, true, true, false]);
});

Deno.test("A late message counts where it was said, and makes no room for a flood", () => {
  const limiter = new RateLimiter({ count: 3, window: 10_000 });
  const take = (sentAt: number) => limiter.take(ALICE, sentAt, LATER);
  assertEquals([0, 0, 0, 0].map(() => take(LATER)), [true, true, true, false]);
  assert(take(LATER - 3_600_000));
  assert(!take(LATER));
  assertEquals([1, 2, 3].map((ms) => take(LATER - 3_600_000 + ms)), [true, true, false]);
  assert(!take(LATER));
  assert(!take(LATER - 9_000), "there would be four within ten seconds");
});

for (
  const [name, timeOf] of [
    ["go back", (index: number) => LATER - index * 20_000],
    ["begin long ago", (index: number) => index * 20_000],
    ["jump", (index: number) => LATER - ((index * 7_919) % 10_007) * 20_000],
  ] as const
) {
  Deno.test(`With times that ${name}, a server gets no more taken than a backlog, once`, () => {
    const limiter = new RateLimiter({ count: 3, window: 10_000 });
    const flood = (now: number) => {
      let taken = 0;
      for (let index = 0; index < 5_000; index++) if (limiter.take(ALICE, timeOf(index), now)) taken++;
      return taken;
    };
    assertEquals(flood(LATER), 1_003);
    assert(flood(LATER + 10_000) <= 3, "and then what the limit lets through");
    assert(limiter.take("@bob:localhost", LATER, LATER), "others are not concerned");
  });
}

Deno.test("A limit that lets nothing through, or no whole number, is refused", () => {
  for (const rateLimit of [{ count: 0, window: 1 }, { count: 1, window: 0 }, { count: 1.5, window: 1 }]) {
    assertThrows(
      () => new Bot({ baseUrl: "http://localhost", accessToken: "t", rateLimit }),
      ValueError,
      "rateLimit needs",
    );
  }
});

Deno.test("Who says little is taken each time, however often, and who was refused is taken again", () => {
  const limiter = new RateLimiter({ count: 3, window: 1_000 });
  let now = LATER;
  for (let windows = 0; windows < 5_000; windows++, now += 1_000) {
    for (let count = 0; count < 3; count++) assert(limiter.take(ALICE, now, now), `window ${windows}`);
    assert(!limiter.take(ALICE, now, now), `window ${windows}`);
  }
});

Deno.test("A limit of one update in a millisecond is one; exactly a window later the next is taken", () => {
  const limiter = new RateLimiter({ count: 1, window: 1 });
  const taken = [LATER, LATER, LATER + 1, LATER + 1].map((now) => limiter.take(ALICE, now, now));
  assertEquals(taken, [true, false, true, false]);
});

Deno.test("However long a user said nothing, no more than a backlog is taken at once", () => {
  const limiter = new RateLimiter({ count: 3, window: 10_000 });
  assert(limiter.take(ALICE, LATER, LATER));
  const now = LATER + 365 * 86_400_000;
  let taken = 0;
  for (let index = 0; index < 5_000; index++) if (limiter.take(ALICE, now - index * 20_000, now)) taken++;
  assertEquals(taken, 1_003);
});

Deno.test("A clock that is set back keeps nobody from being heard", () => {
  const limiter = new RateLimiter({ count: 3, window: 10_000 });
  assert(limiter.take(ALICE, LATER, LATER));
  const before = LATER - 365 * 86_400_000;
  assert(limiter.take(ALICE, before, before));
});

Deno.test("The bot tells a user of the limit once in ten windows, and nobody of whom nothing was taken", () => {
  const limiter = new RateLimiter({ count: 1, window: 1_000 });
  assert(!limiter.tells(ALICE, LATER));
  limiter.take(ALICE, LATER, LATER);
  const told = [0, 1, 9_999, 10_000, 10_001].map((ms) => limiter.tells(ALICE, LATER + ms));
  assertEquals(told, [true, false, false, true, false]);
});

Deno.test("Ten thousand users are remembered, those who came last", () => {
  const limiter = new RateLimiter({ count: 1, window: 1_000 });
  const others = (count: number): void => {
    for (let other = 0; other < count; other++) limiter.take(`@user${other}:localhost`, LATER, LATER);
  };
  limiter.take(ALICE, LATER, LATER);
  others(9_999);
  assert(!limiter.take(ALICE, LATER, LATER));
  others(10_000);
  assert(limiter.take(ALICE, LATER, LATER));
});
