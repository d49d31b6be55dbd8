import { assertEquals, assertThrows } from "@std/assert";
import { consoleLogger, ValueError } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import { loggerOf } from "../../src/base/log.ts";
import { announcer } from "../../src/bot/bot_life.ts";
import { optionsFromEnv } from "../../src/bot/env.ts";
import { printed } from "../support/printed.ts";

const NO_LOG = false;

Deno.test("A bot's own lines look like its client's warnings, and there are none with `log: false`", () => {
  using console = printed();
  const clock = new TestClock();
  announcer(NO_LOG, clock)("The bot has started", { user: "@bot:localhost" });
  announcer(undefined, clock)("The bot has started", { user: "@bot:localhost" });
  announcer(undefined, clock)("The bot has ended", { user: "" });
  loggerOf(undefined, clock).warn("A sync failed", { user: "@bot:localhost" });
  assertEquals(console.lines, [
    "log [greenroom] info: The bot has started (user: @bot:localhost)",
    "log [greenroom] info: The bot has ended",
    "warn [greenroom] warning: A sync failed (user: @bot:localhost)",
  ]);
});

Deno.test("With JSON infos and warnings alike are objects, and so are errors, with their causes", () => {
  using console = printed();
  const clock = new TestClock();
  const log = consoleLogger({ format: "json", clock });
  announcer(log, clock)("The bot has started", { user: "@bot:localhost" });
  const cause = new Error("inner");
  log.warn("A sync failed", { error: new StoreError("outer", { cause }), count: 3n });
  const [info, warning] = console.lines.map((line) => JSON.parse(line.replace(/^\w+ /, "")));
  const time = new Date(clock.now()).toISOString();
  assertEquals(info, { time, level: "info", message: "The bot has started", user: "@bot:localhost" });
  assertEquals([warning.time, warning.level, warning.message, warning.count], [
    time,
    "warning",
    "A sync failed",
    "3",
  ]);
  const { error } = warning;
  assertEquals([error.name, error.message, error.code, error.cause.message], [
    "StoreError",
    "outer",
    "STORE_ERROR",
    "inner",
  ]);
});

Deno.test("MATRIX_LOG chooses the format, and another is refused", () => {
  const env = (format: string): Record<string, string> => ({
    ...{ MATRIX_URL: "https://example.org", MATRIX_TOKEN: "t", MATRIX_LOG: format },
  });
  const read = (format: string) => optionsFromEnv((name) => env(format)[name], {}).log;
  assertEquals([typeof read("json"), read("text")], ["object", undefined]);
  assertThrows(() => read("xml"), ValueError, 'MATRIX_LOG is "xml"');
});
