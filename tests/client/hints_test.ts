import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, NetworkError, ValueError } from "@greenroom/matrix";
import { CLIENT_HINTS } from "../../src/client/client_hints.ts";

const OPTIONS = { baseUrl: "https://matrix.example.org" };
const TYPING = true;

Deno.test("A member that other libraries have says at run time what to write", async () => {
  await using client = new Client(OPTIONS);
  for (const [name, here] of Object.entries(CLIENT_HINTS)) {
    assertThrows(
      () => (client as unknown as Record<string, unknown>)[name],
      ValueError,
      `Cannot read ${name}: a client has no such member; write ${here}`,
    );
  }
});

Deno.test("What a hint says to write is there", async () => {
  await using client = new Client(OPTIONS);
  for (const here of Object.values(CLIENT_HINTS)) {
    for (const [path] of here.matchAll(/(?<=client\.)[\w.]+/g)) {
      const found = path.split(".").reduce(
        (at: unknown, name) => (at as Record<string, unknown>)[name],
        client,
      );
      assert(found !== undefined || path === "crypto", here);
    }
  }
});

Deno.test("Hints are not listed, and give way to a program's own members", async () => {
  await using client = new Client(OPTIONS);
  for (const name in client) if (name in CLIENT_HINTS) throw new Error(`${name} is listed`);
  const mine: Record<string, unknown> = client as never;
  mine.user = "mine";
  assertEquals(mine.user, "mine");
  await using other = new Client(OPTIONS);
  assertThrows(() => (other as unknown as Record<string, unknown>).user, ValueError);
});

Deno.test("A handler of a type that other libraries have is warned of, with what to write", async () => {
  const lines: unknown[] = [];
  const warn = (_: string, data?: unknown) => lines.push(data);
  await using client = new Client({ ...OPTIONS, log: { debug() {}, info() {}, warn, error() {} } });
  for (const type of ["messageCreate", "ready", "room.message", "message"]) {
    client.on(type as string, () => {});
  }
  const meant = ["m.room.message", "client.ready", "m.room.message", "m.room.message"];
  assertEquals(
    lines.map((line) => (line as { mend: string }).mend),
    meant.map((here) => `did you mean ${here}?`),
  );
});

Deno.test("What is no options where they belong is refused, with where they belong", async () => {
  const requests: string[] = [];
  const fetch = (input: unknown) => {
    requests.push(String(input));
    return Promise.reject(new TypeError("offline"));
  };
  await using client = new Client({ ...OPTIONS, fetch: fetch as never, log: false });
  // As JavaScript lets pass.
  // deno-lint-ignore no-explicit-any
  const any: any = client;
  const [room, event] = ["!a:example.org", "$a"];
  const wrong: readonly [() => unknown, string][] = [
    [
      () => any.redact(room, event, "why"),
      "Cannot redact: argument 3 is a string, and must be an object with its options",
    ],
    [
      () => any.setTyping(room, TYPING, 5_000),
      "Cannot setTyping: argument 2 is a boolean, and must be an object with its options",
    ],
    [
      () => any.login("alice", "wonderland"),
      "Cannot login: argument 1 is a string, and must be an object with its options",
    ],
    [
      () => any.kickUser(room, "@a:example.org", null),
      "Cannot kickUser: argument 3 is null, and must be an object with its options",
    ],
    [
      () => any.getEvent(room, event, {}, 1),
      "Cannot getEvent: it takes 3 arguments, not 4",
    ],
    [
      () => any.sync([]),
      "Cannot sync: argument 1 is a list, and must be an object with its options",
    ],
  ];
  for (const [call, message] of wrong) await assertRejects(async () => await call(), ValueError, message);
  assertThrows(
    () => any.iterateMessages(room, "b", 10),
    ValueError,
    "Cannot iterateMessages: argument 3 is a number, and must be an object with its options",
  );
  assertEquals(requests, []);
  const UNSAID = [undefined, undefined] as const; // what is not said counts for nothing
  await assertRejects(() => any.getEvent(room, event, {}, ...UNSAID), NetworkError);
});
