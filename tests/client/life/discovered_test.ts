import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, type ClientOptions } from "@greenroom/matrix";
import {
  MissingPermissionError,
  WellKnownError,
  WellKnownInvalidVersionsError,
  WellKnownUnreachableError,
  WellKnownUnsupportedSchemeError,
} from "@greenroom/matrix/errors";
import { Homeserver } from "@greenroom/matrix/testing";

const FILE = "https://example.org/.well-known/matrix/client";
const VERSIONS = "/_matrix/client/versions";
const WHOAMI = "/_matrix/client/v3/account/whoami";

type Answer = object | Response | Error;

/** A client of `@bot:example.org` among answers by URL; what is not there is a 404. */
function client(answers: Record<string, Answer>, options: ClientOptions = {}) {
  const asked: string[] = [];
  const told: string[] = [];
  const bot = new Client({
    mxid: "@bot:example.org",
    accessToken: "secret",
    retry: false,
    log: false,
    ...options,
    fetch: (input, init) => {
      const url = String(input);
      asked.push(url);
      if (new Headers(init?.headers).has("authorization")) told.push(url);
      const answer = answers[url] ?? new Response("Not found", { status: 404 });
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve(answer instanceof Response ? answer.clone() : Response.json(answer));
    },
  });
  return { bot, asked, told, answers };
}

const at = (baseUrl: string) => ({
  [FILE]: { "m.homeserver": { base_url: baseUrl } },
  [`${baseUrl}${VERSIONS}`]: { versions: ["v1.16"] },
  [`${baseUrl}${WHOAMI}`]: { user_id: "@bot:example.org" },
});

Deno.test("A client without baseUrl finds the homeserver of its user when it needs it, once for all", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("bot");
  const { fetch } = homeserver;
  await using bot = new Client({ mxid: "@bot:localhost", accessToken, fetch });
  assertEquals([bot.api.baseUrl, homeserver.requests.length], ["", 0]);
  const [{ user_id }, rooms] = await Promise.all([bot.whoami(), bot.getJoinedRooms(), bot.createRoom()]);
  assertEquals([user_id, rooms.length <= 1, bot.api.baseUrl], ["@bot:localhost", true, "https://localhost"]);
  await bot.syncOnce();
  assertEquals(homeserver.requests.filter("GET", /well-known/).length, 1);
});

Deno.test("The server that discovers the homeserver gets no token, and the homeserver alone does", async () => {
  const { bot, asked, told } = client(at("https://hs.example.org"));
  await using _ = bot;
  await bot.whoami();
  await bot.whoami();
  const hs = "https://hs.example.org";
  assertEquals(asked, [FILE, hs + VERSIONS, hs + WHOAMI, hs + WHOAMI]);
  assertEquals(told, [hs + WHOAMI, hs + WHOAMI]);
});

Deno.test("A failed discovery rejects all calls that need it, and later calls try again", async () => {
  const { bot, asked, answers } = client({ ...at("https://hs.example.org"), [FILE]: new TypeError("dns") });
  await using _ = bot;
  const failures = await Promise.allSettled([bot.whoami(), bot.whoami()]);
  for (const failure of failures) {
    assert(failure.status === "rejected" && failure.reason instanceof WellKnownUnreachableError);
  }
  assertEquals(asked, [FILE]);
  Object.assign(answers, at("https://hs.example.org"));
  assertEquals((await bot.whoami()).user_id, "@bot:example.org");
});

Deno.test("A domain that does not say where its homeserver is, or names what is none, is refused with what to do", async () => {
  const silent = client({});
  await using _silent = silent.bot;
  await assertRejects(
    () => silent.bot.whoami(),
    WellKnownError,
    "example.org: the domain has no discovery file; give",
  );
  const wrong = client({
    ...at("https://hs.example.org"),
    [`https://hs.example.org${VERSIONS}`]: { versions: ["1"] },
  });
  await using _wrong = wrong.bot;
  await assertRejects(() => wrong.bot.whoami(), WellKnownInvalidVersionsError, "https://hs.example.org");
  assertEquals(wrong.told, []);
});

Deno.test("A missing permission to ask the domain ends start() immediately, and names it", async () => {
  const lacking = new Deno.errors.NotCapable('Requires net access to "example.org:443", run again with …');
  const { bot, asked } = client({ [FILE]: lacking });
  bot.done.catch(() => {});
  bot.on("SYNC_ERRORED", () => bot.stop()); // which would try again for ever
  await assertRejects(() => bot.start(), MissingPermissionError, "--allow-net=example.org");
  assertEquals(new Set(asked), new Set([FILE]));
  await bot.close();
});

Deno.test("A token goes to no address of plain http that the domain names, nor from elsewhere to this machine", async () => {
  for (
    const baseUrl of ["http://hs.example.org", "http://127.0.0.1:8008", "http://localhost", "http://[::1]:1"]
  ) {
    const { bot, asked } = client(at(baseUrl));
    await using _ = bot;
    await assertRejects(() => bot.whoami(), WellKnownUnsupportedSchemeError, "plain http");
    assertEquals(asked, [FILE], "not even asked");
  }
  for (const domain of ["localhost", "127.0.0.1:8448", "[::1]", "hs.localhost"]) {
    const host = domain.replace(/:\d+$/, "");
    const { [FILE]: file, ...rest } = at("http://127.0.0.1:8008");
    const answers = { ...rest, [`https://${host}/.well-known/matrix/client`]: file ?? {} };
    const { bot, told } = client(answers, { mxid: `@bot:${domain}` });
    await using _ = bot;
    await bot.whoami();
    assertEquals(told, [`http://127.0.0.1:8008${WHOAMI}`]);
  }
});

Deno.test("A request that is given up does not wait for the homeserver to be found, and the last one ends the search", async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  await using bot = new Client({
    mxid: "@bot:example.org",
    accessToken: "secret",
    fetch: (_, init) => {
      signals.push(init?.signal);
      return new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
      );
    },
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const requests = [first, second].map(({ signal }) =>
    assertRejects(() => bot.whoami({ signal }), RangeError)
  );
  await Promise.resolve();
  first.abort(new RangeError("enough"));
  await requests[0];
  assertEquals(signals.map((signal) => signal?.aborted), [false]);
  second.abort(new RangeError("enough"));
  await requests[1];
  assertEquals(signals.map((signal) => signal?.aborted), [true]);
});

Deno.test("An address that the application sets goes before one that is found", async () => {
  const hs = "https://other.example.org";
  const { bot, told } = client({
    ...at("https://hs.example.org"),
    [hs + WHOAMI]: { user_id: "@bot:example.org" },
  });
  await using _ = bot;
  const request = bot.whoami();
  bot.api.baseUrl = hs;
  await request;
  assertEquals([bot.api.baseUrl, told], [hs, [hs + WHOAMI]]);
});
