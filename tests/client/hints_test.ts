import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
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
    new Client({ homeserver: "https://matrix.example.org" });
    new Client({ baseUrl: "https://matrix.example.org", token: "secret" });
    new Client({ baseUrl: "https://matrix.example.org", userId: "@a:example.org" });
  `);
  for (const here of ["baseUrl", "accessToken", "mxid"]) {
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

Deno.test("What is no options where they belong is refused, with how to call the operation", async () => {
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
      "Cannot redact: its options are a string, and no object; write redact(roomId, eventId, { reason, extraContent, txnId, key })",
    ],
    [
      () => any.setTyping(room, TYPING, 5_000),
      "Cannot setTyping: its options are a boolean, and no object; write setTyping(roomId, { timeout })",
    ],
    [
      () => any.login("alice", "wonderland"),
      "Cannot login: its options are a string, and no object; write login({ identifier, loginType, deviceName, deviceId, password, loginToken, … })",
    ],
    [
      () => any.kickUser(room, "@a:example.org", null),
      "Cannot kickUser: its options are null, and no object; write kickUser(roomId, userId, { reason, extraContent })",
    ],
    [
      () => any.getEvent(room, event, {}, 1),
      "Cannot getEvent: it takes 3 arguments, not 4; write getEvent(roomId, eventId, options)",
    ],
    [
      () => any.sync([]),
      "Cannot sync: its options are a list, and no object; write sync({ since, timeout, filterId, fullState, setPresence, useStateAfter })",
    ],
  ];
  for (const [call, message] of wrong) await assertRejects(async () => await call(), ValueError, message);
  assertThrows(
    () => any.iterateMessages(room, "b", 10),
    ValueError,
    "write iterateMessages(roomId, direction, {",
  );
  assertEquals(requests, []);
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
