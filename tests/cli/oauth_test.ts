import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
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
  assert(!env.includes("MATRIX_TOKEN"), env);
  const doctor = await place.run(["doctor", "--json"]);
  assertEquals([doctor.code, /"level":"(?:warning|error)"/.test(doctor.stdout)], [0, false], doctor.stdout);
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
