import { assert, assertEquals } from "@std/assert";
import { type ExportedMember, exportedSymbols } from "../../tools/docs/exported.ts";

/** How many methods of a class have no `@example` yet; it only falls. */
const MOST_WITHOUT: Readonly<Record<string, number>> = {
  Appservice: 0,
  Bot: 0,
  BotRoom: 0,
  BotTester: 0,
  Client: 62,
  Composer: 0,
  Context: 0,
  DenoKvStore: 0,
  Faults: 0,
  Homeserver: 0,
  Intent: 0,
  Store: 0,
  MemoryStore: 0,
  RemindersAPI: 0,
  RequestLog: 0,
  RoomContext: 0,
  RoomView: 0,
  SealedStore: 0,
  SqliteStore: 0,
  StateStore: 0,
  TestClock: 0,
  TestRoom: 0,
  TimerContext: 0,
};

/** What `Store` shows by examples, for all that implement it. */
const STORE_METHODS = ["close", "commit", "getMany", "list"];

/** Methods that need no example: an interface shows it, or they are for the client alone. */
const EXCUSED: Readonly<Record<string, readonly string[]>> = {
  DenoKvStore: [...STORE_METHODS, "lock"],
  MemoryStore: STORE_METHODS,
  RequestLog: ["add"],
  SealedStore: [...STORE_METHODS, "lock"],
  SqliteStore: [...STORE_METHODS, "lock"],
  StateStore: [
    ...["setJoinedMembers", "setMember", "setMembers", "setMembership", "setUnencrypted"],
    ...["updateContent", "updateState"],
  ],
};

Deno.test("Each method of what users call has an example; of Client, no fewer than before", async () => {
  const symbols = await exportedSymbols();
  for (const [name, most] of Object.entries(MOST_WITHOUT)) {
    const methods = symbols.filter((each) => each.name === name).flatMap(({ members }) => members)
      .filter(isMethod);
    assert(methods.length > 0, `${name} has no methods: is it exported?`);
    const shown = new Set(methods.filter(hasExample).map((each) => each.name));
    const without = methods.filter((each) => !hasExample(each)).map((each) => each.name)
      .filter((each) => name === "Client" || !shown.has(each)) // an overload may stand for the others
      .filter((each) => !EXCUSED[name]?.includes(each));
    assert(without.length <= most, `${name}: ${without.length} without an example: ${without.join(", ")}`);
  }
});

Deno.test("What needs no example is a method that is there", async () => {
  const symbols = await exportedSymbols();
  for (const [name, excused] of Object.entries(EXCUSED)) {
    const names = new Set(
      symbols.filter((each) => each.name === name).flatMap(({ members }) => members.map((each) => each.name)),
    );
    const absent = excused.filter((each) => !names.has(each));
    assertEquals(absent, [], `${name} has none of these`);
  }
});

function isMethod({ kind, computed, name, accessibility }: ExportedMember): boolean {
  return kind === "method" && computed !== true && !name.startsWith("[") && accessibility === undefined;
}

function hasExample({ jsDoc }: ExportedMember): boolean {
  return jsDoc?.tags?.some(({ kind }) => kind === "example") ?? false;
}
