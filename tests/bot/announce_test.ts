import { assertEquals } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import { loggerOf } from "../../src/base/log.ts";
import { announcer } from "../../src/bot/running/announce.ts";
import { printed } from "../support/printed.ts";

const NO_LOG = false;

Deno.test("On a terminal a bot's own lines look like its client's warnings", () => {
  using console = printed();
  const clock = new TestClock();
  announcer(undefined, clock, () => true)("The bot has started", { user: "@bot:localhost" });
  announcer(undefined, clock, () => true)("The bot has ended", { user: "" });
  loggerOf(undefined, clock).warn("A sync failed", { user: "@bot:localhost" });
  assertEquals(console.lines, [
    "log [greenroom] info: The bot has started (user: @bot:localhost)",
    "log [greenroom] info: The bot has ended",
    "warn [greenroom] warning: A sync failed (user: @bot:localhost)",
  ]);
});

Deno.test("Elsewhere a bot's own lines are JSON, and there are none with `log: false`", () => {
  using console = printed();
  const clock = new TestClock();
  announcer(undefined, clock, () => false)("The bot has started", { user: "@bot:localhost" });
  announcer(NO_LOG, clock, () => true)("The bot has started", { user: "@bot:localhost" });
  const time = new Date(clock.now()).toISOString();
  assertEquals(console.lines.map((line) => JSON.parse(line.replace(/^log /, ""))), [
    { time, level: "info", message: "The bot has started", user: "@bot:localhost" },
  ]);
});
