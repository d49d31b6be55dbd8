import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Client, exportDevice, importDevice, MemoryStore, SealedStore } from "@greenroom/matrix";
import { getAuthMetadata } from "@greenroom/matrix/oauth";
import { Homeserver } from "@greenroom/matrix/testing";
import { messageOf, statusOf } from "../../src/cli/io/mod.ts";
import { Output, Place, startGreenroom } from "./support/greenroom.ts";

/** A homeserver as matrix.org is, where the bot's folder is made. */
async function oauthPlace(): Promise<Place> {
  const place = await Place.make({ oauth: { interval: 1_000 } });
  await place.makeBot();
  return place;
}

Deno.test("Where the server has OAuth 2.0, the login shows page and code, and the bot runs with that session", async () => {
  await using place = await oauthPlace();
  await Deno.writeTextFile(`${place.folder}/.env`, "MATRIX_PASSWORD=0ld\n", { append: true });
  const environment = await place.run(["login", `--homeserver=${place.url}`], {
    env: { MATRIX_PASSWORD: "0ld" },
  });
  assertEquals([environment.code, /unset MATRIX_PASSWORD/.test(environment.stderr)], [2, true]);
  const login = startGreenroom(["login", `--homeserver=${place.url}`], { cwd: place.folder });
  const shown = new Output(login.stderr);
  const said = await shown.until(/The code is \S+\n/);
  const [, code = ""] = /The code is (\S+)\n/.exec(said) ?? [];
  assertStringIncludes(said, `Open ${place.url}/link`);
  place.homeserver.oauth.approve(code, place.bot.userId);
  await Promise.all([login.stdin.close(), login.stdout.cancel()]);
  const all = await shown.all;
  assertEquals((await login.status).code, 0, all);
  assertStringIncludes(all, "Its device is signed");
  const env = await place.read(".env") ?? "";
  assert(!env.includes("MATRIX_TOKEN") && !env.includes("MATRIX_PASSWORD"), env);
  assertStringIncludes(all, "MATRIX_PASSWORD is taken out of .env");
  await place.assertSound();
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const [stdout, stderr] = [new Output(bot.stdout), new Output(bot.stderr)];
  await stdout.until(/The bot has started/);
  assertEquals((await place.run(["rooms"])).code, 0);
  bot.kill("SIGTERM");
  await Promise.all([bot.stdin.close(), stdout.all]);
  assertEquals((await bot.status).code, 143, await stderr.all);
  const second = await place.run(["login", `--homeserver=${place.url}`]);
  assertEquals(second.code, 1);
  assertMatch(second.stderr, /logged in already/);
});

Deno.test("A login by OAuth 2.0 that is left with Ctrl-C leaves nothing", async () => {
  await using place = await oauthPlace();
  const before = await place.read(".env");
  const login = startGreenroom(["login", `--homeserver=${place.url}`], { cwd: place.folder });
  const shown = new Output(login.stderr);
  await shown.until(/The code is/);
  login.kill("SIGINT");
  await Promise.all([login.stdin.close(), login.stdout.cancel()]);
  assertEquals((await login.status).code, 130, await shown.all);
  assertEquals([await place.read(".env"), [...Deno.readDirSync(`${place.folder}/data`)]], [before, []]);
});

Deno.test("A refusal of the authorization server ends with 4, and no message names a call of the library", async () => {
  await using place = await oauthPlace();
  const login = startGreenroom(["login", `--homeserver=${place.url}`], { cwd: place.folder });
  const shown = new Output(login.stderr);
  const [, code = ""] = /The code is (\S+)\n/.exec(await shown.until(/The code is \S+\n/)) ?? [];
  place.homeserver.oauth.deny(code);
  await Promise.all([login.stdin.close(), login.stdout.cancel()]);
  assertEquals([(await login.status).code, /refused/.test(await shown.all)], [4, true], await shown.all);
  await using plain = new Homeserver();
  const baseUrl = plain.baseUrl;
  const unsupported = await assertRejects(() => getAuthMetadata({ baseUrl, fetch: plain.fetch, log: false }));
  assertEquals(
    [statusOf(unsupported), messageOf(unsupported).includes("()")],
    [4, false],
    messageOf(unsupported),
  );
});

Deno.test("What a store and a copy of it ask for is said as the command line does it", async () => {
  const of = { mxid: "@bot:localhost", deviceId: "DEVICE" } as const;
  const key = new Uint8Array(32);
  const said = async (copy: ReadableStream<Uint8Array<ArrayBuffer>>, given?: Uint8Array) => {
    const error = await assertRejects(() => importDevice(new MemoryStore(), copy, { key: given }));
    return messageOf(error);
  };
  const store = new MemoryStore();
  await store.commit([{ type: "set", key: [of.mxid, of.deviceId, "sync"], value: {} }]);
  assertEquals(
    [await said(exportDevice(store, { ...of, key })), await said(exportDevice(store, of), key)],
    [
      "Cannot read the copy: it is sealed; name the file with the key it was made with: --key-file",
      "Cannot read the copy: it is not sealed; leave out --key-file if that is right",
    ],
  );
  const inside = new MemoryStore();
  await SealedStore.open(inside, key);
  const sealed = await assertRejects(() => Array.fromAsync(exportDevice(inside, of)));
  assertEquals(
    messageOf(sealed),
    "Cannot use the store: it is sealed; set MATRIX_STORE_KEY_FILE to the file of its key",
  );
});

/** The devices of the bot's account. */
async function devicesOf({ url, bot }: Place): Promise<string[]> {
  await using client = new Client({ baseUrl: url, accessToken: bot.accessToken, log: false });
  return (await client.getDevices()).map(({ device_id }) => device_id).toSorted();
}

/** Logs the bot in by a code, and returns the status. */
async function logIn(place: Place, ...more: readonly string[]): Promise<number> {
  const login = startGreenroom(["login", `--homeserver=${place.url}`, ...more], { cwd: place.folder });
  const shown = new Output(login.stderr);
  const [, code = ""] = /The code is (\S+)\n/.exec(await shown.until(/The code is \S+\n/)) ?? [];
  place.homeserver.oauth.approve(code, place.bot.userId);
  await Promise.all([login.stdin.close(), login.stdout.cancel(), shown.all]);
  return (await login.status).code;
}

Deno.test("A login --again that fails leaves the session that works, and one that does not fail ends it", async () => {
  await using place = await oauthPlace();
  assertEquals(await logIn(place), 0);
  const first = await devicesOf(place);
  {
    using _ = place.homeserver.faults.add({ kind: "status", status: 403, match: { path: /\/keys\/upload/ } });
    assertEquals(await logIn(place, "--again"), 4);
  }
  assertEquals(await devicesOf(place), first);
  const doctor = await place.run(["doctor", "--json"]);
  assertEquals([doctor.code, /"level":"error"/.test(doctor.stdout)], [0, false], doctor.stdout);
  assertEquals(await logIn(place, "--again"), 0);
  const second = await devicesOf(place);
  assertEquals(
    [second.length, second.join() === first.join()],
    [first.length, false],
    "the old device is gone",
  );
  assertEquals((await place.run(["rooms"])).code, 0);
  assertEquals((await place.run(["store", "seal", "../store.key"])).code, 0);
  assertEquals((await place.run(["rooms"])).code, 0, "the session is in the sealed store");
});
