import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";
import { optionsFromEnv } from "../../../src/bot/env.ts";

const NAMED = "https://example.org/.well-known/matrix/client";

/** The addresses that a bot's first request is sent to, and those that get the token. */
async function asked(
  options: Partial<BotOptions>,
  file?: object,
): Promise<{ all: string[]; told: string[] }> {
  const [all, told] = [[] as string[], [] as string[]];
  await using bot = new Bot({
    accessToken: "secret",
    retry: false,
    log: false,
    ...options,
    fetch: (input, init) => {
      const { origin, pathname } = new URL(String(input));
      const url = origin + pathname;
      all.push(url);
      if (new Headers(init?.headers).has("authorization")) told.push(url);
      if (url === NAMED && file !== undefined) return Promise.resolve(Response.json(file));
      if (pathname.endsWith("/versions")) return Promise.resolve(Response.json({ versions: ["v1.16"] }));
      if (pathname.endsWith("/whoami")) {
        return Promise.resolve(Response.json({ user_id: "@bot:example.org" }));
      }
      return Promise.resolve(Response.json({ errcode: "M_NOT_FOUND" }, { status: 404 }));
    },
  });
  await bot.client.whoami().catch((error) => all.push(error.name));
  return { all, told };
}

const WHOAMI = "/_matrix/client/v3/account/whoami";

Deno.test("A bot's homeserver is an address, which is taken as it is", async () => {
  const { all } = await asked({ homeserver: "https://matrix.example.org" });
  assertEquals(all, [`https://matrix.example.org${WHOAMI}`]);
});

Deno.test("A bot's homeserver is a server name, whose domain says where it is, or is it", async () => {
  const file = { "m.homeserver": { base_url: "https://hs.example.org" } };
  const found = await asked({ homeserver: "example.org" }, file);
  assertEquals(found.all, [
    NAMED,
    "https://hs.example.org/_matrix/client/versions",
    `https://hs.example.org${WHOAMI}`,
  ]);
  assertEquals(found.told, [`https://hs.example.org${WHOAMI}`]);
  assertEquals((await asked({ homeserver: "example.org" })).told, [`https://example.org${WHOAMI}`]);
});

Deno.test("A domain that names a homeserver of plain http gets no token", async () => {
  const file = { "m.homeserver": { base_url: "http://hs.example.org" } };
  const { all, told } = await asked({ homeserver: "example.org" }, file);
  assertEquals([all.at(-1), told], ["WellKnownUnsupportedSchemeError", []]);
});

Deno.test("A homeserver that is said in two ways, or can't be one, is refused", () => {
  for (
    const [more, text] of [
      [{ baseUrl: "https://example.org" }, "both homeserver and baseUrl"],
      [{ api: new Client({ baseUrl: "https://example.org" }).api }, "both homeserver and api"],
      [{ homeserver: undefined }, 'it needs a homeserver; give it homeserver: "https://'],
      [{ homeserver: "syt_token" }, "homeserver must be an address like"],
      [{ homeserver: "ftp://example.org" }, "or a server name like example.org"],
      [{ homeserver: "example.org/path" }, "homeserver must be"],
      [{ homeserver: new URL("https://example.org") }, "homeserver must be"],
    ] as const
  ) {
    const options = { homeserver: "example.org", log: false, ...more } as unknown as BotOptions;
    assertThrows(() => new Bot(options), ValueError, text);
  }
});

Deno.test("Bot.fromEnv() takes the homeserver of its options in place of the environment's", () => {
  const env: Record<string, string> = { MATRIX_URL: "https://example.org", MATRIX_TOKEN: "t" };
  const read = (given: Partial<BotOptions>) => optionsFromEnv((name) => env[name], given);
  assertEquals(read({ homeserver: "example.com" }).homeserver, "example.com");
  for (const given of ["https://example.com", "https://example.org"]) { // the environment's own text, too
    const { homeserver, baseUrl } = read({ baseUrl: given });
    assertEquals([homeserver, baseUrl], [undefined, given]);
  }
  assertEquals(read({}).homeserver, "https://example.org");
});

Deno.test("A port of a server name is left out when its domain is asked, and kept if that has no file", async () => {
  const { all, told } = await asked({ homeserver: "example.org:8448" });
  assertEquals([all[0], told], [NAMED, [`https://example.org:8448${WHOAMI}`]]);
});

Deno.test("A bot's store may be the path of a file, which is opened when it is needed, and closed with the bot", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("bot");
  const { baseUrl, fetch } = homeserver;
  const folder = await Deno.makeTempDir();
  const store = `${folder}/bot.db`;
  for (const start of [1, 2]) { // the second opens what the first has closed
    await using bot = new Bot({ homeserver: baseUrl, fetch, accessToken, store, log: false });
    assertEquals([...Deno.readDirSync(folder)].length > 0, start === 2);
    await bot.syncOnce();
  }
  assert([...Deno.readDirSync(folder)].some(({ name }) => name === "bot.db"));
  await Deno.remove(folder, { recursive: true });
  assertThrows(() => new Bot({ homeserver: baseUrl, store: " " }), ValueError, "store is an empty path");
  const given = new MemoryStore();
  assert(new Bot({ homeserver: baseUrl, store: given, log: false }).client !== undefined);
});
