import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Place, startGreenroom } from "./support/greenroom.ts";

Deno.test("From an empty folder, new, login and run lead to an encrypted answer of a signed device", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const { accessToken } = place.homeserver.createUser("alice", { password: "alice" });
  await using alice = new Client({
    ...{ baseUrl: place.url, accessToken, store: new MemoryStore(), log: false },
    encryption: { sendTo: "cross-signed", accept: "cross-signed", onRecoveryKey() {}, password: "alice" },
  });
  const answered = Promise.withResolvers<[string, boolean | undefined]>();
  alice.on("m.room.message", (event) => {
    if (event.sender !== alice.mxid) {
      answered.resolve([
        event.content.body,
        place.homeserver.room(event.room_id).messages.every(({ type }) => type === "m.room.encrypted"),
      ]);
    }
  });
  alice.on("JOIN", async ({ room_id, sender }) => {
    if (sender === place.bot.userId) await alice.sendText(room_id, "!ping");
  });
  const started = alice.start();
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const [stdout, stderr] = [new Response(bot.stdout).text(), new Response(bot.stderr).text()];
  await alice.createRoom({
    invitees: [place.bot.userId],
    isDirect: true,
    initialState: [{
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2" },
    }],
  });
  assertEquals(await answered.promise, ["**pong**", true]);
  bot.kill("SIGTERM");
  await bot.stdin.close();
  assertEquals((await bot.status).code, 143);
  assertStringIncludes(await stdout, "The bot has ended");
  const said = await stderr;
  const { host } = new URL(place.url);
  assertStringIncludes(
    said,
    `deno run --no-prompt --env-file=.env --allow-net=${host} --allow-env=MATRIX_* --allow-read=data --allow-write=data bot.ts`,
  );
  const secrets = [
    /MATRIX_TOKEN=(.*)/.exec(await place.read(".env") ?? "")?.[1] ?? "?",
    (await place.read("data/recovery.key"))?.trim() ?? "?",
  ];
  for (const secret of secrets) assert(!`${said}${await stdout}`.includes(secret));
  await alice.stop();
  await started;
});

Deno.test("greenroom run hands flags on, and ends with the status of the bot", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await Deno.writeTextFile(
    `${place.folder}/own.ts`,
    'await Deno.permissions.query({ name: "net", host: "example.org" }).then(({ state }) => console.log(state)); Deno.exit(9);',
  );
  const { code, stdout, stderr } = await place.run(["run", "own.ts", "--", "--allow-net=example.org"]);
  assertEquals([code, stdout], [9, "granted\n"], stderr);
});

Deno.test("A bot that has not logged in, or is not there, is not run", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const early = await place.run(["run"]);
  assertEquals(early.code, 3);
  assertMatch(early.stderr, /MATRIX_TOKEN.*greenroom login/);
  const missing = await place.run(["run", "other.ts"]);
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.stderr, "other.ts");
});

Deno.test("Without the folder of its store, or with a mistyped variable, a bot is not run", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await Deno.rename(`${place.folder}/data`, `${place.folder}/elsewhere`);
  const lost = await place.run(["run"]);
  assertEquals(lost.code, 6, lost.stderr);
  assertStringIncludes(lost.stderr, "the folder data of MATRIX_STORE is not there; bring it back");
  await Deno.rename(`${place.folder}/elsewhere`, `${place.folder}/data`);
  const env = await place.read(".env") ?? "";
  await Deno.writeTextFile(`${place.folder}/.env`, env.replace("MATRIX_USER=", "MATRIX_USR="));
  const mistyped = await place.run(["run"]);
  assertEquals(mistyped.code, 2, mistyped.stderr);
  assertStringIncludes(mistyped.stderr, "no variable MATRIX_USR; did you mean MATRIX_USER?");
  const { stdout } = await place.run(["doctor"]);
  assertMatch(stdout, /^error .*did you mean MATRIX_USER\?/m);
});
