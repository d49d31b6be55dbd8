import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, NetworkError, ValueError } from "@greenroom/matrix";
import { HANDLER_CONTEXT_HINTS } from "../../src/actors/dispatcher/handler_context.ts";
import { CLIENT_HINTS, COMPILED_CLIENT_HINTS } from "../../src/client/client_hints.ts";
import { clientStage } from "./support/stage.ts";

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

Deno.test("What is for the compiler alone is not at run time", () => {
  for (const name of Object.keys(COMPILED_CLIENT_HINTS)) assert(!(name in Client.prototype), name);
});

Deno.test("What a hint says to write is there", async () => {
  await using client = new Client(OPTIONS);
  for (const here of Object.values({ ...CLIENT_HINTS, ...COMPILED_CLIENT_HINTS })) {
    for (const [path] of here.matchAll(/(?<=client\.)[\w.]+/g)) {
      const found = path.split(".").reduce(
        (at: unknown, name) => (at as Record<string, unknown>)[name],
        client,
      );
      assert(found !== undefined || path === "crypto", here);
    }
  }
});

/** What the members of an object that are hints say to write. */
function hintsOf(of: object): string[] {
  return Object.getOwnPropertyNames(of).flatMap((name) => {
    try {
      Reflect.get(of, name);
      return [];
    } catch (error) {
      return /member; write (.+)$/.exec(String(error))?.[1] ?? [];
    }
  });
}

Deno.test("What a room, and the second argument of a handler, say to write does something", async () => {
  await using here = clientStage();
  const client = here.client("bot");
  const room = client.room(await client.createRoom());
  const [text, replyTo] = ["Hello", await room.sendText("First")];
  const given = {
    ...{ client, room, event: { room_id: room.id, event_id: replyTo }, eventId: replyTo, replyTo },
    ...{ userId: "@bot:localhost", text, html: "<b>Hello</b>", key: "👍", name: "Stage", topic: "Plays" },
    ...{ type: "m.room.message", content: { msgtype: "m.text", body: text } },
  };
  const hints = hintsOf(Object.getPrototypeOf(room)).filter((hint) => !hint.includes("of the kit"));
  assert(hints.length > 15);
  for (const hint of [...hints, ...Object.values(HANDLER_CONTEXT_HINTS)]) {
    const run = new Function(...Object.keys(given), `return (async () => (${hint}))();`);
    await run(...Object.values(given)).catch((cause: unknown) => {
      throw new Error(`Cannot write ${hint}`, { cause });
    });
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

Deno.test("A handler's second argument is no room, and says how to get one", async () => {
  await using client = new Client({ ...OPTIONS, log: false });
  const failures: unknown[] = [];
  client.on("HANDLER_ERROR", ({ error }) => void failures.push(String(error)));
  client.on("SYNC_STARTED", (_data, room) => void (room as unknown as { readonly name: string }).name);
  await client.runInternalEvent("SYNC_STARTED", { source: 0 as never });
  assertEquals(failures, [
    "ValueError: Cannot read name: a handler's second argument has no such member; " +
    "write await client.room(event.room_id).getName()",
  ]);
});

Deno.test("Encryption says what to write for members of other libraries", async () => {
  await using client = new Client({ ...OPTIONS, log: false, encryption: true });
  const read = (of: unknown, name: string) => () => (of as Record<string, unknown>)[name];
  assertThrows(
    read(client.crypto, "recover"),
    ValueError,
    "write client.crypto.ensureVerified({ recoveryKey })",
  );
  assertThrows(read(client.crypto?.backup, "status"), ValueError, "write await client.crypto.backup.info()");
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
      "Cannot redact: argument 3 is a string, and must be an object with its options, like { reason }",
    ],
    [
      () => any.setTyping(room, TYPING, 5_000),
      "Cannot setTyping: argument 2 is a boolean, and must be an object with its options, like { timeout }",
    ],
    [
      () => any.getStateEvent(room, "m.room.member", "@a:example.org"),
      "Cannot getStateEvent: argument 3 is a string, and must be an object with its options, like { stateKey }",
    ],
    [
      () => any.setPresence("online"),
      "Cannot setPresence: argument 1 is a string, and must be an object with its options, like { presence }",
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
