import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { Client, NetworkError } from "@greenroom/matrix";
import { HomeserverAddressError } from "@greenroom/matrix/errors";
import type { FaultEffect } from "@greenroom/matrix/testing";
import { printed } from "../../support/printed.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const DEFAULT = { log: undefined }; // as an application that says nothing of a logger

Deno.test("A handler that throws is printed on the console: the event, the reason, and the place", async () => {
  using console = printed();
  await using stage = clientStage();
  const bot = stage.client("bot", DEFAULT);
  const roomId = await bot.createRoom();
  const eventId = await bot.sendText(roomId, "the secret body");
  bot.on("m.room.message", () => {
    throw new TypeError("Cannot read this");
  });
  await bot.syncOnce();
  assertEquals(console.lines.length, 1);
  const [line = ""] = console.lines;
  assert(
    line.startsWith("error [greenroom] error: An event handler failed: TypeError: Cannot read this, at "),
  );
  assertStringIncludes(line, import.meta.url);
  assertStringIncludes(line, `eventId: ${eventId}`);
  assert(!line.includes("secret body"));
});

Deno.test("`log: false` silences a client", async () => {
  using console = printed();
  await using stage = clientStage();
  const bot = stage.client("bot", { log: false });
  await bot.createRoom();
  bot.on("m.room.create", () => {
    throw new TypeError("Cannot read this");
  });
  await bot.syncOnce();
  stage.homeserver.revokeTokens("@bot:localhost");
  await assertRejects(() => bot.start());
  assertEquals(console.lines, []);
});

Deno.test("A server that is down is printed once, with host and cause, then counted; the sync goes on until it is back", async () => {
  using console = printed();
  await using stage = clientStage();
  const bot = stage.client("bot", DEFAULT);
  const fault = stage.homeserver.faults.add({ kind: "drop" });
  const running = bot.start();
  for (let hour = 0; hour < 60; hour++) await stage.clock.tick(60_000);
  const syncs = console.lines.filter((line) => line.includes("A sync failed"));
  assertStringIncludes(syncs[0] ?? "", "the connection to localhost failed");
  assertStringIncludes(syncs[1] ?? "", "more times");
  assert(console.lines.length < 15, console.lines.join("\n"));
  fault.remove();
  await stage.clock.tick(320_000);
  await stage.until(() => bot.mxid !== "");
  await bot.stop();
  await running;
});

Deno.test("The first failure of a sync says why a server that is there does not answer", async () => {
  using console = printed();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  for (const [scheme, cause] of [["http", "Connection refused"], ["https", "Connection refused"]]) {
    await using bot = new Client({
      baseUrl: `${scheme}://127.0.0.1:${port}`,
      accessToken: "x",
      retry: false,
    });
    const error = await assertRejects(() => bot.syncOnce(), NetworkError);
    assertStringIncludes(error.message, `the connection to 127.0.0.1:${port} failed: `);
    assertStringIncludes(error.message, cause ?? "");
  }
  assertEquals(console.lines, []);
});

Deno.test("A certificate that nobody is known to have issued is said with how to trust it", async () => {
  const words =
    "error sending request for url (https://hs/_matrix/client/v3/sync?a=b): client error (Connect): " +
    "invalid peer certificate: UnknownIssuer";
  const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: new Error(words) }));
  await using bot = new Client({ baseUrl: "https://hs", fetch, accessToken: "x", retry: false });
  const { message } = await assertRejects(() => bot.syncOnce(), NetworkError);
  for (const text of ["invalid peer certificate: UnknownIssuer", "DENO_CERT=", "--cert"]) {
    assertStringIncludes(message, text);
  }
  assert(!message.includes("a=b"));
});

/** What is at an address where no homeserver is. */
const ELSEWHERE: Record<string, FaultEffect> = {
  "a page that is not found": { kind: "html", status: 404 },
  "a 404 in JSON": { kind: "status", status: 404, body: { error: "Not Found" } },
  "a page": { kind: "html", status: 200 },
  "JSON that is no Matrix": { kind: "status", status: 200, body: { status: "UP" } },
  "another API of Matrix": { kind: "status", status: 404, body: { errcode: "M_UNRECOGNIZED" } },
};

for (const [name, effect] of Object.entries(ELSEWHERE)) {
  Deno.test(`An address with ${name} ends start() and syncOnce() at once, and says so`, async () => {
    await using stage = clientStage();
    stage.homeserver.faults.add(effect);
    for (
      const known of [{}, { mxid: "@bot:localhost", deviceId: "BOT" } as const, { encryption: EVERYBODY }]
    ) {
      const bot = stage.client("bot", known);
      for (const act of [() => bot.syncOnce(), () => bot.start()]) {
        const error = await assertRejects(act, HomeserverAddressError, "Client.discover(");
        assertStringIncludes(error.message, "https://localhost");
      }
      await assertRejects(() => bot.done, Error, "is baseUrl the address of the homeserver?");
    }
  });

  Deno.test(`A bot that runs goes on when there is ${name} for a while, as during a deployment`, async () => {
    await using stage = clientStage();
    const bot = stage.client("bot");
    const roomId = await bot.createRoom();
    const heard: string[] = [];
    bot.on("m.room.message", ({ content }) => heard.push(content.body));
    const running = bot.start();
    await stage.settle();
    const fault = stage.homeserver.faults.add(effect);
    await stage.clock.tick(600_000);
    fault.remove();
    await stage.client("bot").sendText(roomId, "still there?");
    await stage.clock.tick(320_000);
    await stage.until(() => heard.length === 1);
    await bot.stop();
    await running;
  });
}

/** What is at the address of a homeserver that is being restarted. */
const RESTARTING: Record<string, FaultEffect> = {
  "a 502 in HTML": { kind: "html", status: 502 },
  "a 503 in HTML": { kind: "html", status: 503 },
  "a 500": { kind: "status", status: 500, body: "oops" },
  "a 403 in HTML": { kind: "html", status: 403 },
  "a 429": { kind: "status", status: 429, body: "too many" },
  "no connection": { kind: "drop" },
};

for (const [name, effect] of Object.entries(RESTARTING)) {
  Deno.test(`A start that meets ${name} goes on until the homeserver is there`, async () => {
    await using stage = clientStage();
    const fault = stage.homeserver.faults.add(effect);
    const bot = stage.client("bot");
    const running = bot.start();
    await stage.clock.tick(600_000);
    fault.remove();
    await stage.clock.tick(320_000);
    await stage.until(() => bot.mxid !== "");
    await bot.stop();
    await running;
  });
}

Deno.test("A redirect to another server, which must not see the token, ends start() immediately with the address to use", async () => {
  await using stage = clientStage();
  const asked: (string | null)[] = [];
  const redirecting: typeof fetch = (input, init) => {
    const url = new URL(String(input));
    asked.push(new Headers(init?.headers).get("authorization"));
    if (url.origin === "https://localhost") return stage.homeserver.fetch(input, init);
    const location = `https://localhost${url.pathname}${url.search}`;
    return Promise.resolve(new Response(null, { status: 301, headers: { location } }));
  };
  for (const known of [{}, { mxid: "@bot:localhost", deviceId: "BOT" } as const]) {
    const options = { baseUrl: "http://localhost", fetch: redirecting, ...known };
    const bot = stage.client("bot", options);
    await assertRejects(() => bot.start(), HomeserverAddressError, "set it to https://localhost");
    await assertRejects(() => stage.client("bot", { ...options, encryption: EVERYBODY }).syncOnce());
  }
  assert(asked.filter((token) => token !== null).length < asked.length);
});

Deno.test("A dead token is not taken for a wrong address", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { accessToken: "nobody's" });
  const error = await bot.start().then(() => undefined, (error) => error);
  assertInstanceOf(error, Error);
  assertEquals(error.name, "UnknownTokenError");
});

/** Runs a program without permissions. */
async function run(program: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--quiet", "--no-prompt", "--config=deno.json", "-"],
    cwd: new URL("../../../", import.meta.url).pathname,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = command.stdin.getWriter();
  await writer.write(new TextEncoder().encode(program));
  await writer.close();
  const { stdout, stderr } = await command.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("A missing --allow-net ends start() and syncOnce() immediately, and names the flag", async () => {
  const output = await run(`
    import { Client } from "@greenroom/matrix";
    for (const known of [{}, { mxid: "@bot:example.org", deviceId: "BOT" }, { encryption: true }]) {
      const options = { baseUrl: "https://matrix.example.org", accessToken: "t", ...known };
      const bot = new Client(options);
      await bot.syncOnce().catch((error) => console.log(error.code, error.message));
      await bot.start().catch((error) => console.log(error.code, error.message));
      await bot.done.catch((error) => console.log(error.code));
    }
  `);
  const told = output.split("\n").filter((line) => line.startsWith("MISSING_PERMISSION Cannot "));
  assertEquals(told.length, 6, output);
  for (const line of told) {
    assertStringIncludes(
      line,
      "the program may not connect to matrix.example.org; start Deno with --allow-net=matrix.example.org",
    );
  }
  assertEquals(output.split("\n").filter((line) => line === "ACTOR_FAILED").length, 3, output);
});

Deno.test("A missing permission of a store names the flags, for the files beside its own too", async () => {
  const output = await run(`
    import { KvStore } from "@greenroom/matrix/store/kv";
    import { SqliteStore } from "@greenroom/matrix/store/sqlite";
    for (const path of ["./bot.db", "data/of/bot.db", "/data/bot.db"]) {
      for (const open of [KvStore.open, SqliteStore.open]) {
        await (async () => await open(path))().catch((error) => console.log(error.code, error.message));
      }
    }
  `);
  const told = output.split("\n").filter((line) => line.startsWith("MISSING_PERMISSION Cannot "));
  const flags = [".", "data/of", "/data"].map((folder) => `--allow-read=${folder} --allow-write=${folder}`);
  assertEquals(told.map((line) => line.split("start Deno with ")[1]), flags.flatMap((each) => [each, each]));
});
