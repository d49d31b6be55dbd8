import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { SECRET, URL_OF_BOT, wakeScene } from "./scene.ts";

const ON = true;

Deno.test("registerWake() sets pusher and rule, and does nothing if they are as they should be", async () => {
  await using scene = await wakeScene({ isWoken: false });
  const { stage, instances: [first] } = scene;
  if (first === undefined) return;
  assertEquals(await first.registerWake("https://bot.example/?bot=1#part"), {
    isChanged: true,
    isMuted: false,
  });
  const [pusher] = await first.getPushers();
  assertEquals(pusher?.data, {
    url: "https://bot.example/_matrix/push/v1/notify?bot=1",
    format: "event_id_only",
  });
  assert(!pusher?.pushkey.includes(SECRET));
  const { override } = await first.getPushRules();
  assert(override?.[0]?.rule_id === "greenroom.wake" || override?.[1]?.rule_id === "greenroom.wake");
  stage.homeserver.requests.clear();
  const again = await scene.instance().registerWake("https://bot.example/?bot=1");
  assertEquals(again, { isChanged: false, isMuted: false });
  assertEquals(stage.homeserver.requests.filter("POST", "/pushers/set").length, 0);
});

Deno.test("registerWake() renews what has changed: the address, the rule's place and state; and removes what is former", async () => {
  await using scene = await wakeScene();
  const { instances: [bot] } = scene;
  if (bot === undefined) return;
  assertEquals(await bot.registerWake("https://elsewhere.example"), { isChanged: true, isMuted: false });
  assertEquals((await bot.getPushers()).map(({ data }) => data.url), [
    "https://elsewhere.example/_matrix/push/v1/notify",
  ]);
  await bot.setPushRule("global", "override", "another", [], { conditions: [] });
  assert((await bot.registerWake("https://elsewhere.example")).isChanged);
  await bot.setPushRuleEnabled("global", "override", "greenroom.wake", !ON);
  assert((await bot.registerWake("https://elsewhere.example")).isChanged);
  const rotated = scene.instance({ wake: { secret: "another secret for the tests" } });
  await rotated.registerWake(URL_OF_BOT);
  assertEquals((await bot.getPushers()).length, 1);
  assert(!(await rotated.registerWake(URL_OF_BOT)).isChanged);
  assert((await rotated.registerWake(URL_OF_BOT, { events: "notifying" })).isChanged);
  assert(!(await rotated.registerWake(URL_OF_BOT, { events: "notifying" })).isChanged);
});

Deno.test("With `notifying`, the user's own rules decide what wakes the bot", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  await bot?.registerWake(URL_OF_BOT, { events: "notifying" });
  await alice.sendNotice(roomId, "a notice");
  await stage.settle();
  assertEquals(answered, []);
  await alice.sendText(roomId, "hello");
  await stage.until(() => answered.length === 1);
});

const wrong: [string, string][] = [
  ["http://bot.example", "https"],
  ["ftp://bot.example", "https"],
  ["https://user:password@bot.example", "no user"],
  ["https://bot.example/prefix/_matrix/push/v1/notify", "no other path"],
  ["nowhere", "no URL"],
];
for (const [url, reason] of wrong) {
  Deno.test(`registerWake() refuses ${url}, without a request`, async () => {
    await using scene = await wakeScene({ isWoken: false });
    const { stage, instances: [bot] } = scene;
    stage.homeserver.requests.clear();
    const error = await assertRejects(async () => await bot?.registerWake(url), ValueError, reason);
    assertEquals([error.message.includes("password@"), stage.homeserver.requests.length], [false, 0]);
  });
}

Deno.test("registerWake() without a secret is refused", async () => {
  await using scene = await wakeScene();
  const bot = scene.instance({ wake: undefined });
  await assertRejects(() => bot.registerWake(URL_OF_BOT), ValueError, "make it with wake");
});

Deno.test("registerWake() says when the user has turned all notifications off", async () => {
  await using scene = await wakeScene();
  const { instances: [bot] } = scene;
  await bot?.setPushRuleEnabled("global", "override", ".m.rule.master", ON);
  assert((await bot?.registerWake(URL_OF_BOT))?.isMuted);
});
