import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { Output, PASSWORD, Place, startGreenroom } from "./support/greenroom.ts";

/** The token in `.env`. */
async function tokenOf(place: Place): Promise<string> {
  return /^MATRIX_TOKEN=(.*)$/m.exec(await place.read(".env") ?? "")?.[1] ?? "";
}

/** How many devices the bot's account has. */
async function devicesOf({ url, bot }: Place): Promise<number> {
  await using client = new Client({ baseUrl: url, accessToken: bot.accessToken, log: false });
  return (await client.getDevices()).length;
}

Deno.test("greenroom login writes token and recovery key where only the owner reads them, and signs the device", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const { code, stdout, stderr } = await place.login();
  assertEquals([code, stdout], [0, ""], stderr);
  const [token, key] = [await tokenOf(place), (await place.read("data/recovery.key") ?? "").trim()];
  assert(token !== "" && key !== "");
  await using client = new Client({ baseUrl: place.url, accessToken: token, log: false });
  assertEquals((await client.whoami()).user_id, place.bot.userId);
  const keys = await client.queryKeys([place.bot.userId]);
  const { device_id = "" } = await client.whoami();
  const signatures = keys.device_keys?.[place.bot.userId]?.[device_id]?.signatures[place.bot.userId] ?? {};
  assertEquals(Object.keys(signatures).length, 2, "the device's own signature, and that of the identity");
  for (const path of [".env", "data/recovery.key", "data/bot.db"]) {
    assertEquals(((await Deno.stat(`${place.folder}/${path}`)).mode ?? 0) & 0o777, 0o600, path);
  }
  for (const secret of [PASSWORD, token, key]) assert(!stderr.includes(secret));
  assert(!(await place.read(".env") ?? "").includes(PASSWORD));
});

Deno.test("A login that is refused leaves no device, no store and no token, and ends with 4", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const before = await place.read(".env");
  const { code, stderr } = await place.run(["login", "--password-stdin", `--homeserver=${place.url}`], {
    input: "wrong\n",
  });
  assertEquals(code, 4);
  assertMatch(stderr, /Cannot log in as @bot:localhost: .*M_FORBIDDEN.*check the user ID and the password/);
  assertEquals([await place.read(".env"), [...Deno.readDirSync(`${place.folder}/data`)]], [before, []]);
});

Deno.test("A login whose device can't be signed is logged out again, and leaves nothing", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const [before, devices] = [await place.read(".env"), await devicesOf(place)];
  place.homeserver.faults.add({ kind: "status", status: 403, match: { path: /\/keys\/upload/ } });
  const { code, stderr } = await place.login();
  assertEquals(code, 4, stderr);
  assertEquals([await place.read(".env"), await place.read("data/bot.db"), await devicesOf(place)], [
    before,
    undefined,
    devices,
  ]);
});

Deno.test("One Ctrl-C ends a login that waits for the homeserver, which leaves nothing", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const [before, devices] = [await place.read(".env"), await devicesOf(place)];
  using held = place.homeserver.faults.add({ kind: "hold", match: { path: /\/keys\/upload/ } });
  const hit = held.hit();
  const login = startGreenroom(["login", "--password-stdin", `--homeserver=${place.url}`], {
    cwd: place.folder,
  });
  const shown = new Output(login.stderr);
  const writer = login.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${PASSWORD}\n`));
  await hit;
  login.kill("SIGINT");
  await Promise.all([writer.close(), login.stdout.cancel()]);
  assertEquals((await login.status).code, 130, await shown.all);
  assertStringIncludes(await shown.all, "in good order");
  assertEquals([await place.read(".env"), await place.read("data/bot.db"), await devicesOf(place)], [
    before,
    undefined,
    devices,
  ]);
});

Deno.test("A second login is refused without --again, which makes another device", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const [first, before] = [await tokenOf(place), await devicesOf(place)];
  const refused = await place.login();
  assertEquals([refused.code, await tokenOf(place), await devicesOf(place)], [1, first, before]);
  assertStringIncludes(refused.stderr, "--again");
  const again = await place.login("--again");
  assertEquals([again.code, await devicesOf(place)], [0, before + 1], again.stderr);
  assert(await tokenOf(place) !== first);
  assertStringIncludes(again.stderr, "Its device is signed");
});

Deno.test("Without the recovery key of the account the login says that the device is not signed", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await Deno.remove(`${place.folder}/data`, { recursive: true });
  const { code, stderr } = await place.login("--again");
  assertEquals(code, 0);
  assertStringIncludes(stderr, "not signed");
  assertEquals(await place.read("data/recovery.key"), undefined);
  const doctor = await place.run(["doctor"]);
  assertStringIncludes(doctor.stdout, "put it into data/recovery.key; start the bot");
  assert(!/warning.*\n.*\(\)/.test(doctor.stdout), doctor.stdout);
  const settings = await place.read(".env") ?? "";
  await Deno.writeTextFile(`${place.folder}/.env`, settings.replace(/^MATRIX_RECOVERY_KEY_FILE=.*$/m, ""));
  const withKey = await place.run(["doctor"], { env: { MATRIX_RECOVERY_KEY: "the key" } });
  assertStringIncludes(withKey.stdout, "→ Start the bot");
  assert(!withKey.stdout.includes("MATRIX_RECOVERY_KEY_FILE"), withKey.stdout);
});

Deno.test("A login that is refused removes all folders that it made, and none that was there", async () => {
  await using place = await Place.make();
  await place.makeBot();
  await Deno.mkdir(`${place.folder}/a`);
  const { code, stderr } = await place.run(["login", "--password-stdin", `--homeserver=${place.url}`], {
    input: "wrong\n",
    env: { MATRIX_STORE: "a/b/c/bot.db", MATRIX_RECOVERY_KEY_FILE: "a/b/keys/of/recovery.key" },
  });
  assertEquals([code, [...Deno.readDirSync(`${place.folder}/a`)]], [4, []], stderr);
});

Deno.test("Where the server takes no passwords, the login says what it offers", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const identity_providers = [{ id: "x", name: "Example ID" }];
  place.homeserver.faults.add({
    kind: "body",
    body: { flows: [{ type: "m.login.sso", identity_providers }] },
    match: { method: "GET", path: /\/login$/ },
  });
  const { code, stderr } = await place.login();
  assertEquals(code, 4);
  assertMatch(stderr, /no passwords, but m\.login\.sso \(Example ID\).*--token-stdin/);
});

Deno.test("A token of standard input is taken over, if it is the bot's", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const other = await place.loginByToken(place.homeserver.createUser("other").accessToken);
  assertEquals([other.code, await tokenOf(place)], [4, ""]);
  const own = await place.loginByToken(place.bot.accessToken);
  assertEquals([own.code, await tokenOf(place)], [0, place.bot.accessToken], own.stderr);
  const unknown = await place.run(["login", "--again", "--token-stdin"], { input: "nonsense\n" });
  assertEquals([unknown.code, await tokenOf(place)], [3, place.bot.accessToken], unknown.stderr);
});

Deno.test("Lines of .env that are not the login's stay as they are", async () => {
  await using place = await Place.make();
  await place.makeBot();
  await Deno.writeTextFile(
    `${place.folder}/.env`,
    "# mine\nOPENWEATHER_KEY='a b'\nMATRIX_USER=@bot:localhost\nMATRIX_URL=\n",
  );
  assertEquals((await place.login()).code, 0);
  const text = await place.read(".env") ?? "";
  assertMatch(
    text,
    /^# mine\nOPENWEATHER_KEY='a b'\nMATRIX_USER=@bot:localhost\nMATRIX_URL=http:\/\/127\.0\.0\.1:\d+\n/,
  );
});

Deno.test("Of lines of .env for one variable the login leaves the new one, and the first counts before that", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const lines = ["MATRIX_USER=@bot:localhost", "MATRIX_STORE=data/bot.db", "MATRIX_TOKEN="];
  const twice = [
    ...lines,
    "# mine",
    "MATRIX_USER=@other:localhost",
    "export MATRIX_TOKEN=old",
    "MATRIX_STORE=x",
  ];
  await Deno.writeTextFile(`${place.folder}/.env`, `${twice.join("\n")}\n`);
  const { code, stderr } = await place.login();
  assertEquals(code, 0, stderr);
  const text = await place.read(".env") ?? "";
  assertMatch(
    text,
    /^MATRIX_USER=@bot:localhost\nMATRIX_STORE=data\/bot\.db\nMATRIX_TOKEN=\S+\n# mine\nMATRIX_URL=/,
  );
  assertEquals((await place.run(["doctor"])).code, 0);
});

Deno.test("What the environment says in place of the login's outcome is refused before anything is made", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const before = [await place.read(".env"), await devicesOf(place)];
  const input = `${PASSWORD}\n`;
  const login = (env: Record<string, string>, ...more: string[]) =>
    place.run(["login", "--again", "--password-stdin", `--homeserver=${place.url}`, ...more], { input, env });
  const given = [
    [await login({ MATRIX_TOKEN: "t0ken" }), "MATRIX_TOKEN"],
    [await login({ MATRIX_URL: "http://127.0.0.1:1" }), "MATRIX_URL"],
    [await login({ MATRIX_USER: "@other:localhost" }, "--user=@bot:localhost"), "MATRIX_USER"],
  ] as const;
  for (const [{ code, stderr }, name] of given) {
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, `unset ${name}`);
    assert(!stderr.includes("t0ken"));
  }
  assertEquals([await place.read(".env"), await devicesOf(place)], before);
});

Deno.test("A homeserver that is not found or does not answer ends the login with 5, and the mend", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const input = `${PASSWORD}\n`;
  const unknown = await place.run(["login", "--password-stdin", "--homeserver=localhost"], { input });
  assertEquals(unknown.code, 5, unknown.stderr);
  assertStringIncludes(unknown.stderr, "with http:// or https://, by --homeserver");
  const away = await place.run(["login", "--password-stdin", "--homeserver=http://127.0.0.1:1"], { input });
  assertEquals(away.code, 5, away.stderr);
  assertStringIncludes(away.stderr, "; check the address of the homeserver");
});

Deno.test("At the address of a web site the login says that no homeserver is there", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const html = { headers: { "content-type": "text/html" } };
  for (const status of [404, 200]) {
    await using site = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response("<h1>Hello</h1>", { ...html, status }),
    );
    const args = ["login", "--password-stdin", `--homeserver=http://127.0.0.1:${site.addr.port}`];
    const { code, stderr } = await place.run(args, { input: `${PASSWORD}\n` });
    assertEquals(code, 5, stderr);
    assertStringIncludes(stderr, "no Matrix homeserver; check the address");
  }
});

Deno.test("A login that fails leaves no folder that it has made", async () => {
  await using place = await Place.make();
  const args = ["login", "--password-stdin", `--user=${place.bot.userId}`, `--homeserver=${place.url}`];
  const failed = await place.run(args, { cwd: place.parent, input: "wrong\n" });
  assertEquals([failed.code, [...Deno.readDirSync(place.parent)]], [4, []], failed.stderr);
  place.homeserver.faults.add({ kind: "status", status: 502, match: { path: /\/login/ } });
  const away = await place.run(args, { cwd: place.parent, input: `${PASSWORD}\n` });
  assertEquals([away.code, [...Deno.readDirSync(place.parent)]], [5, []], away.stderr);
});

Deno.test("Where nobody can be asked, the login says how to hand over the password", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const { code, stderr } = await place.run(["login", `--homeserver=${place.url}`]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "--password-stdin");
});

Deno.test("Where the server has single sign-on alone, the login shows where the browser begins, and Ctrl-C ends it", async () => {
  await using place = await Place.make();
  await place.makeBot();
  using _ = place.homeserver.faults.add({
    kind: "body",
    body: { flows: [{ type: "m.login.sso" }] },
    match: { method: "GET", path: /\/login$/ },
  });
  const login = startGreenroom(["login", `--homeserver=${place.url}`], { cwd: place.folder });
  const shown = new Output(login.stderr);
  await shown.until(/Open \S+\/login\/sso\/redirect\S+ in a browser/);
  login.kill("SIGINT");
  await Promise.all([login.stdin.close(), login.stdout.cancel()]);
  assertEquals((await login.status).code, 130, await shown.all);
});
