import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { greenroom, PASSWORD, Place, plainEnv } from "./support/greenroom.ts";

Deno.test("greenroom new makes a bot whose own test passes, without a permission", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const deno = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args,
      cwd: place.folder,
      clearEnv: true,
      env: { ...plainEnv(), NO_COLOR: "1" },
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  };
  await deno("test", "--no-prompt", "--no-check");
  await deno("check", "--unstable-kv", "--unstable-cron", "bot.ts", "bot_test.ts", "deploy.ts");
  await deno("fmt", "--check");
  await deno("lint");
});

Deno.test("greenroom new says what comes next, by the name that README gives the command", async () => {
  await using place = await Place.make();
  const { stderr } = await greenroom(["new", "bot"], { cwd: place.parent });
  for (const next of ["cd bot", "greenroom login ", "greenroom run\n"]) {
    assertStringIncludes(stderr, `\n  ${next}`);
  }
});

Deno.test("greenroom new --homeserver has the login need no address", async () => {
  await using place = await Place.make();
  const { code, stderr } = await greenroom(
    ["new", "bot", `--user=${place.bot.userId}`, `--homeserver=${place.url}`],
    { cwd: place.parent },
  );
  assertEquals(code, 0, stderr);
  const login = await place.run(["login", "--password-stdin"], { input: `${PASSWORD}\n` });
  assertEquals(login.code, 0, login.stderr);
  const wrong = await greenroom(["new", "other", "--homeserver=a b"], { cwd: place.parent });
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "https://matrix.example.org");
});

Deno.test("greenroom new keeps .env and data to the owner, from Git and from images", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const mode = async (path: string) => ((await Deno.stat(`${place.folder}/${path}`)).mode ?? 0) & 0o777;
  assertEquals([await mode(".env"), await mode("data")], [0o600, 0o700]);
  for (const name of [".gitignore", ".dockerignore"]) {
    assertEquals(await place.read(name), ".env\ndata/\n*.key\n");
  }
  const { deploy: { runtime: { type, entrypoint } } } = JSON.parse(await place.read("deno.json") ?? "");
  assertEquals([type, await place.read(entrypoint) !== undefined], ["dynamic", true]);
  assertStringIncludes(await place.read(".env") ?? "", `MATRIX_USER=${place.bot.userId}\n`);
  assertStringIncludes(await place.read("bot.service") ?? "", `WorkingDirectory=${place.folder}\n`);
});

Deno.test("greenroom new writes nothing into a folder that has something in it, or with a user ID that is none", async () => {
  await using place = await Place.make();
  await Deno.mkdir(place.folder);
  await Deno.writeTextFile(`${place.folder}/notes.txt`, "mine");
  const full = await greenroom(["new", "bot"], { cwd: place.parent });
  assertEquals(full.code, 1);
  assertStringIncludes(full.stderr, "not empty");
  const wrong = await greenroom(["new", "other", "--user=bot"], { cwd: place.parent });
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "@bot:example.org");
  const entries = [...Deno.readDirSync(place.parent), ...Deno.readDirSync(place.folder)].map(({ name }) =>
    name
  );
  assertEquals(entries, ["bot", "notes.txt"]);
});

Deno.test("Where nobody can be asked, greenroom new says which argument is missing", async () => {
  const { code, stderr } = await greenroom(["new"]);
  assertEquals(code, 2);
  assert(stderr.includes("greenroom new <folder>"), stderr);
});
