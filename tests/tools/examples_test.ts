import { assertEquals } from "@std/assert";
import { type ExportedMember, exportedSymbols } from "../../tools/docs/exported.ts";

/** What users call methods of. */
const CALLED = [
  ...["Appservice", "Intent"],
  ...["Bot", "BotRoom", "Composer", "Context", "RemindersAPI", "RoomContext", "TimerContext"],
  ...["BotTester", "Faults", "Homeserver", "RequestLog", "RoomView", "TestClock", "TestRoom"],
  ...["Client", "QuarantineAPI", "SessionsAPI", "StateStore", "SyncStore"],
  ...["DehydratedDeviceAPI", "DeviceKeysAPI", "RoomKeysAPI"],
  ...["Crypto", "HistoryCrypto", "IdentityCrypto", "KeyBackup", "VerificationCrypto", "VerificationRequest"],
  ...["OpenSecretStorage", "SecretStorage"],
  ...["KvStore", "MemoryStore", "SealedStore", "SqliteStore", "Store"],
];

/** What `Store` shows by examples, for all that implement it. */
const STORE_METHODS = ["close", "commit", "getMany", "list"];

/** Methods that need no example: an interface or another name shows it, or they are for the client alone. */
const EXCUSED: Readonly<Record<string, readonly string[]>> = {
  Client: ["parseMxid"],
  KvStore: [...STORE_METHODS, "lock"],
  MemoryStore: STORE_METHODS,
  RequestLog: ["add"],
  SealedStore: [...STORE_METHODS, "lock"],
  SqliteStore: [...STORE_METHODS, "lock"],
};

Deno.test("Each method of what users call has an example", async () => {
  const symbols = await exportedSymbols();
  const without = CALLED.flatMap((name) => {
    const methods = symbols.filter((each) => each.name === name).flatMap(({ members }) => members)
      .filter(isMethod);
    const shown = new Set(methods.filter(hasExample).map((each) => each.name));
    const names = new Set(methods.map((each) => each.name));
    return [...names].filter((each) => !shown.has(each) && !EXCUSED[name]?.includes(each))
      .map((each) => `${name}.${each}`);
  });
  assertEquals(without, [], "Methods without an example");
});

Deno.test("What examples are asked of is exported, and has methods", async () => {
  const symbols = await exportedSymbols();
  const empty = CALLED.filter((name) =>
    !symbols.some((each) => each.name === name && each.members.some(isMethod))
  );
  assertEquals(empty, []);
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
