import { assertEquals } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { defaultLogger, type Logger } from "../src/log.ts";

/** Says something of each level. */
function speak(log: Logger): void {
  log.debug("Looked at {what}", { what: "a room" });
  log.info("Began");
  log.warn("Went wrong", { attempt: 1 });
  log.error("Went very wrong");
}

Deno.test("defaultLogger() says nothing before the application has configured LogTape, and everything from then on", async () => {
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
  } finally {
    await reset();
  }
  speak(log);
  assertEquals(records.length, 4);
});

Deno.test("defaultLogger() speaks in the category of the part it was made for", async () => {
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
