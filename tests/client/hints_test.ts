import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, NetworkError, ValueError } from "@greenroom/matrix";
import { CLIENT_HINTS } from "../../src/client/client_hints.ts";
import { complaintsOf } from "../types/compiler.ts";

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

Deno.test("The compiler says what to write for a member that other libraries have", async () => {
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    const client = new Client({ baseUrl: "https://matrix.example.org" });
    const mxid: string = client.userId;
    client.off("m.room.message", () => {});
    client.startSync();
    client.getRoom("!a:example.org");
    client.invite("!a:example.org", "@a:example.org");
  `);
  for (
    const here of [
      "client.mxid",
      "client.removeEventHandler(type, handler)",
      "client.start()",
      "client.stateStore.getState(roomId)",
      "client.inviteUser(roomId, userId)",
    ]
  ) assert(said.includes(`WriteInstead<"${here}">`), `${here}: ${said}`);
});

Deno.test("The compiler says which option to write for one that other libraries have", async () => {
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    new Client({ homeserverUrl: "https://matrix.example.org" });
    new Client({ baseUrl: "https://matrix.example.org", token: "secret" });
    new Client({ baseUrl: "https://matrix.example.org", userId: "@a:example.org" });
  `);
  for (const here of ["homeserver", "accessToken", "mxid"]) {
    assert(said.includes(`WriteInstead<"${here}">`), `${here}: ${said}`);
  }
});

Deno.test("The compiler says which type of event to write for one that Matrix does not have", async () => {
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    const client = new Client({ baseUrl: "https://matrix.example.org" });
    client.on("message", () => {});
    client.on("room.invite", () => {});
    client.on("ready", () => {});
    client.on("m.room.mesage", () => {});
    client.addEventHandler("join", () => {});
    client.on("m.room.topic", () => {});
    client.on("org.example.own", () => {});
  `);
  const others = "a type of Matrix, or eventType() with its class";
  for (const here of ["m.room.message", "INVITE", "client.ready", others, "JOIN"]) {
    assert(said.includes(`WriteInstead<"${here}">`), `${here}: ${said}`);
  }
  assert(!said.includes("m.room.topic") && !said.includes("org.example.own"), said);
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

Deno.test("The compiler refuses a member that other libraries have in a text, and where it is compared", async () => {
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    const client = new Client({ baseUrl: "https://matrix.example.org" });
    export const text = \`I am \${client.userId}\`;
    export const isOwn = client.userId === "@own:example.org";
  `);
  assertEquals([said.includes("TS2731"), said.includes("TS2367")], [true, true], said);
});

Deno.test("Names that only begin like a hint are a program's own, and refused where there are none", async () => {
  const own = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    import { Bot, type Context } from "@greenroom/matrix/bot";
    export class MyClient extends Client { users = 1; running = true; }
    export class MyBot extends Bot { users = 1; rooms = []; scheduler = 1; running = true; }
    export interface MyContext extends Context { messages: string[] }
  `);
  assertEquals(own, "");
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    const client = new Client({ baseUrl: "https://matrix.example.org" });
    if (client.users) console.log(client.username);
  `);
  assertEquals(said.match(/TS2339/g)?.length, 2, said);
});
