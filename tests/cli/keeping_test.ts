import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseRegistration } from "@greenroom/matrix/appservice";
import { Output, Place, startGreenroom } from "./support/greenroom.ts";

const input = "a long passphrase\n";

async function modeOf({ folder }: Place, path: string): Promise<number> {
  return ((await Deno.stat(`${folder}/${path}`)).mode ?? 0) & 0o777;
}

Deno.test("keys export and import go through a file that only the owner reads, and never over another", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const { code, stderr } = await place.run(["keys", "export", "keys.txt", "--passphrase-stdin"], { input });
  assertEquals([code, await modeOf(place, "keys.txt")], [0, 0o600], stderr);
  assertMatch(await place.read("keys.txt") ?? "", /^-----BEGIN MEGOLM SESSION DATA-----/);
  const over = await place.run(["keys", "export", "keys.txt", "--passphrase-stdin"], { input });
  assertEquals(over.code, 1);
  assertStringIncludes(over.stderr, "there already");
  const read = await place.run(["keys", "import", "keys.txt", "--passphrase-stdin"], { input });
  assertEquals(
    [read.code, read.stdout],
    [0, "0 keys: 0 added, 0 improved, 0 known, 0 refused\n"],
    read.stderr,
  );
  const wrong = await place.run(["keys", "import", "keys.txt", "--passphrase-stdin"], {
    input: "xyzzy-plugh\n",
  });
  assertEquals(wrong.code, 1);
  assert(!wrong.stderr.includes("xyzzy-plugh"));
});

Deno.test("A device moves to another store by a file, encrypted with a key of its own", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const out = await place.run(["store", "export", "copy", "--key-file=copy.key"]);
  assertEquals(
    [out.code, await modeOf(place, "copy"), await modeOf(place, "copy.key")],
    [0, 0o600, 0o600],
    out.stderr,
  );
  assert(!out.stderr.includes((await place.read("copy.key") ?? "?").trim()));
  const env = { MATRIX_STORE: "data/other.db" };
  const without = await place.run(["store", "import", "copy"], { env });
  assertEquals(without.code, 6, without.stderr);
  const moved = await place.run(["store", "import", "copy", "--key-file=copy.key"], { env });
  assertEquals(moved.code, 0, moved.stderr);
  const doctor = await place.run(["doctor", "--json"], { env });
  assertEquals([doctor.code, /"(?:warning|error)"/.test(doctor.stdout)], [0, false], doctor.stdout);
});

Deno.test("store inspect counts records, also while the bot runs, and export and prune wait for its end", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const [stdout, stderr] = [new Output(bot.stdout), new Output(bot.stderr)];
  await stdout.until(/The bot has started/);
  const { code, stdout: lines } = await place.run(["store", "inspect", "--json"]);
  const device = JSON.parse(lines);
  assertEquals([code, device.mxid, typeof device.holder?.owner], [0, place.bot.userId, "string"]);
  assertEquals((await place.run(["store", "prune"])).code, 6);
  assertEquals((await place.run(["store", "export", "copy"])).code, 6);
  assertEquals(await place.read("copy"), undefined);
  bot.kill("SIGTERM");
  await Promise.all([bot.stdin.close(), stdout.all, stderr.all, bot.status]);
  assertEquals((await place.run(["store", "prune"])).code, 0);
  assertEquals((await place.run(["store", "export", "copy"])).code, 0);
});

Deno.test("appservice register writes a registration that can be read, and does not replace one", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const args = ["appservice", "register", "bridge", "http://localhost:9000", "example.org", "--encryption"];
  const { code, stdout, stderr } = await place.run(args);
  assertEquals([code, stdout, await modeOf(place, "registration.yaml")], [0, "", 0o600], stderr);
  const text = await place.read("registration.yaml") ?? "";
  const { id, as_token, hs_token } = parseRegistration(text);
  assertEquals(id, "bridge");
  for (const token of [as_token, hs_token]) assert(!stderr.includes(token));
  assertEquals((await place.run(args)).code, 1);
  assertEquals(await place.read("registration.yaml"), text);
});

Deno.test("completions have every command and option, for each shell", async () => {
  await using place = await Place.make();
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await place.run(["completions", shell], { cwd: place.parent });
    assertEquals(code, 0);
    for (const word of ["login", "store", "inspect", "password-stdin"]) {
      assertStringIncludes(stdout, word, shell);
    }
  }
  assertEquals((await place.run(["completions", "tcsh"], { cwd: place.parent })).code, 2);
});
