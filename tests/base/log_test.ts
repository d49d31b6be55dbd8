import { assert, assertEquals } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { TestClock } from "@greenroom/matrix/testing";
import { systemClock } from "../../src/base/clock.ts";
import { type Logger, MatrixError } from "@greenroom/matrix";
import { loggerOf } from "../../src/base/log.ts";
import { printed } from "../support/printed.ts";

/** Says something of each level. */
function speak(log: Logger): void {
  log.debug("Looked at {what}", { what: "a room" });
  log.info("Began");
  log.warn("Went wrong", { attempt: 1 });
  log.error("Went very wrong");
}

const defaultLogger = (...category: string[]) => loggerOf(undefined, new TestClock(), ...category);

Deno.test("The default logger is LogTape's, from when the application has configured it", async () => {
  using console = printed();
  const records: LogRecord[] = [];
  const log = defaultLogger("client");
  speak(log);
  await configure({
    sinks: { memory: (record) => void records.push(record) },
    loggers: [
      { category: "greenroom", sinks: ["memory"], lowestLevel: "debug" },
      { category: ["logtape", "meta"], lowestLevel: "error" },
    ],
  });
  try {
    assertEquals(records, []);
    assertEquals(console.lines.splice(0).length, 2);
    speak(log);
    assertEquals(
      records.map(({ category, level, rawMessage, properties }) => [category, level, rawMessage, properties]),
      [
        [["greenroom", "client"], "debug", "Looked at {what}", { what: "a room" }],
        [["greenroom", "client"], "info", "Began", {}],
        [["greenroom", "client"], "warning", "Went wrong", { attempt: 1 }],
        [["greenroom", "client"], "error", "Went very wrong", {}],
      ],
    );
    assertEquals(console.lines, []);
  } finally {
    await reset();
  }
  speak(defaultLogger("client"));
  assertEquals(records.length, 4);
  assertEquals(console.lines.length, 2);
});

Deno.test("With LogTape configured for other categories only, nothing is printed on the console either", async () => {
  using console = printed();
  await configure({
    sinks: { memory: () => {} },
    loggers: [
      { category: "my app", sinks: ["memory"] },
      { category: ["logtape", "meta"], lowestLevel: "error" },
    ],
  });
  try {
    speak(defaultLogger("client"));
    assertEquals(console.lines, []);
  } finally {
    await reset();
  }
});

Deno.test("The default logger speaks in the category of the part it was made for", async () => {
  const categories: string[] = [];
  await configure({
    sinks: { memory: ({ category }) => void categories.push(category.join(" ")) },
    loggers: [
      { category: ["greenroom", "actors"], sinks: ["memory"], lowestLevel: "info" },
      { category: ["logtape", "meta"], lowestLevel: "error" },
    ],
  });
  try {
    defaultLogger("actors", "store").info("Heard");
    defaultLogger("actors").info("Heard");
    defaultLogger("http").info("Not heard");
    defaultLogger("actors").debug("Not heard");
    assertEquals(categories, ["greenroom actors store", "greenroom actors"]);
  } finally {
    await reset();
  }
});

Deno.test("Without LogTape, warnings and errors are a line each on the console, with their reason and place", () => {
  using console = printed();
  const log = defaultLogger("client");
  speak(log);
  log.warn("A sync failed", { error: "NetworkError: no way", sleepFor: 5_000, room: undefined });
  const error = new MatrixError("Cannot dance", { cause: new RangeError("the floor\nis \u001b[31mwet") });
  log.error("An event handler failed", { type: "m.room.message", data: { a: 1 }, error });
  const [warning, failure, sync, handler = ""] = console.lines;
  assertEquals([warning, failure, sync], [
    "warn [greenroom] warning: Went wrong (attempt: 1)",
    "error [greenroom] error: Went very wrong",
    "warn [greenroom] warning: A sync failed: NetworkError: no way (sleepFor: 5000)",
  ]);
  const [before, after] = handler.split(import.meta.url);
  assertEquals(
    before,
    "error [greenroom] error: An event handler failed: MatrixError: Cannot dance, because of RangeError: the floor is  [31mwet, at ",
  );
  assert(/^:\d+:\d+ \(type: m.room.message, data: \{ a: 1 \}\)$/.test(after ?? ""), handler);
});

Deno.test("A repeated line is printed once, then counted, and printed again after growing pauses", async () => {
  using console = printed();
  const clock = new TestClock();
  const logs = [loggerOf(undefined, clock, "client"), loggerOf(undefined, clock, "client")]; // of two clients
  const at: number[] = [];
  for (let second = 0; second <= 3_600; second += 5) {
    logs[second % 2]?.warn("A sync failed", {
      error: `Error: no way to @bot${second}:example.org`,
      sleepFor: second,
    });
    if (console.lines.length > at.length) at.push(second);
    await clock.tick(5_000);
  }
  assertEquals(at, [0, 60, 180, 420, 900, 1_860]);
  assertEquals(
    console.lines[1],
    "warn [greenroom] warning: A sync failed: Error: no way to @bot60:example.org (sleepFor: 60), 11 more times",
  );
  logs[0]?.warn("A sync failed", { error: "Error: another reason" });
  assertEquals(
    console.lines.at(-1),
    "warn [greenroom] warning: A sync failed: Error: another reason",
    "what is new is printed at once",
  );
  console.lines.length = 0;
  await clock.tick(86_400_000);
  logs[0]?.warn("A sync failed", { error: "Error: no way to @bot1:example.org" });
  assertEquals(console.lines, [
    "warn [greenroom] warning: A sync failed: Error: no way to @bot1:example.org",
  ]);
});

Deno.test("What goes wrong in another command, reminder or schedule, or with another type, is no repetition", () => {
  for (const place of ["command", "reminder", "every", "type"]) {
    using console = printed();
    const log = loggerOf(undefined, new TestClock(), "client");
    for (const name of ["one", "other", "one"]) log.warn("A function went on", { [place]: name });
    assertEquals(console.lines, [
      `warn [greenroom] warning: A function went on (${place}: one)`,
      `warn [greenroom] warning: A function went on (${place}: other)`,
    ]);
  }
});

Deno.test("A clock that was set back keeps nothing from being printed", async () => {
  using console = printed();
  let now = Date.UTC(2030, 0);
  const log = loggerOf(undefined, { now: () => now, delay: () => Promise.reject() });
  log.warn("Went wrong");
  now = Date.UTC(2026, 0);
  log.warn("Went wrong");
  now += 1_000;
  log.warn("Went wrong");
  assertEquals(console.lines.length, 2);
  await Promise.resolve();
});

Deno.test("A server that makes up reasons fills neither the console nor memory", () => {
  using console = printed();
  const log = defaultLogger("client");
  const reason = (index: number) => String.fromCharCode(97 + index % 26, 97 + index / 26);
  for (let index = 0; index < 500; index++) log.warn("Went wrong", { error: reason(index) });
  assertEquals(console.lines.length, 21);
  for (let index = 0; index < 5_000; index++) log.warn(`Went wrong ${reason(index)} ${index}`);
  log.warn("Long", { error: "x".repeat(10_000), beside: "y".repeat(10_000) });
  assert((console.lines.at(-1) ?? "").length < 1_100);
});

Deno.test("A value that can't be serialized is printed all the same", () => {
  using console = printed();
  const circle: Record<string, unknown> = { big: 1n };
  circle.circle = circle;
  defaultLogger().error("An event handler failed", { error: circle });
  defaultLogger().error("An event handler failed", { error: undefined, symbol: Symbol("x") });
  assertEquals(console.lines.length, 2);
});

Deno.test("`false` silences, and a logger of the application's gets everything", () => {
  using console = printed();
  const none = false;
  speak(loggerOf(none, systemClock));
  const heard: string[] = [];
  const own: Logger = {
    debug: (message) => heard.push(message),
    info: (message) => heard.push(message),
    warn: (message) => heard.push(message),
    error: (message) => heard.push(message),
  };
  speak(loggerOf(own, systemClock));
  assertEquals([heard.length, console.lines], [4, []]);
  const native: Logger = globalThis.console; // it satisfies the interface
  assert(loggerOf(native, systemClock) === native);
});
