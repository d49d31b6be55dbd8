import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { parseRegistration } from "@greenroom/matrix/appservice";
import { writePrivateStream } from "../../src/cli/project/mod.ts";
import { Output, Place, startGreenroom } from "./support/greenroom.ts";

const PROJECT = new URL("../../src/cli/project/mod.ts", import.meta.url).href;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

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
  assertEquals([without.code, without.stderr.includes("--key-file")], [6, true], without.stderr);
  const moved = await place.run(["store", "import", "copy", "--key-file=copy.key"], { env });
  assertEquals(moved.code, 0, moved.stderr);
  await place.assertSound({ env });
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

Deno.test("An export that fails or is ended leaves no file, and none is there before it is whole", async () => {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-cli-" });
  const half = () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new Uint8Array([1])),
      pull(controller) {
        assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name === "copy"), [false]);
        controller.error(new TypeError("cut"));
      },
    });
  await assertRejects(() => writePrivateStream(`${folder}/copy`, half()), TypeError, "cut");
  assertEquals([...Deno.readDirSync(folder)], []);
  const program = `
    import { writePrivateStream } from ${JSON.stringify(PROJECT)};
    setInterval(() => {}, 1000);
    await writePrivateStream("copy", new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array([1])),
      pull() {
        console.log("half");
        return new Promise(() => {});
      },
    }, { highWaterMark: 0 }));
  `;
  for (const [signal, status] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    const child = new Deno.Command(Deno.execPath(), {
      ...{
        args: ["eval", `--config=${CONFIG}`, program],
        cwd: folder,
        stdout: "piped",
        stderr: "piped",
      } as const,
    }).spawn();
    const [stdout, stderr] = [new Output(child.stdout), new Output(child.stderr)];
    await stdout.until(/half/);
    assertEquals([...Deno.readDirSync(folder)].length, 1);
    child.kill(signal);
    await stdout.all;
    assertEquals([(await child.status).code, [...Deno.readDirSync(folder)]], [status, []], await stderr.all);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("store seal encrypts the store, and the bot and all commands go on with it", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const [stdout, stderr] = [new Output(bot.stdout), new Output(bot.stderr)];
  await stdout.until(/The bot has started/);
  const before = await place.read(".env");
  const refused = await place.run(["store", "seal", "../store.key"]);
  assertEquals([refused.code, await place.read(".env")], [6, before], refused.stderr);
  assertEquals([await place.read("data/bot.sealed.db"), await place.read("../store.key")], [
    undefined,
    undefined,
  ]);
  bot.kill("SIGTERM");
  await Promise.all([bot.stdin.close(), stdout.all, stderr.all, bot.status]);
  const { code, stderr: said } = await place.run(["store", "seal", "../store.key"]);
  assertEquals([code, await modeOf(place, "../store.key")], [0, 0o600], said);
  assertEquals(await place.read("data/bot.db"), undefined);
  const key = (await place.read("../store.key") ?? "").trim();
  assert(key !== "" && !said.includes(key));
  await place.assertSound();
  const sealed = startGreenroom(["run"], { cwd: place.folder });
  const lines = new Output(sealed.stdout);
  const errors = new Output(sealed.stderr);
  await lines.until(/The bot has started/);
  sealed.kill("SIGTERM");
  await Promise.all([sealed.stdin.close(), lines.all, errors.all, sealed.status]);
  assertEquals((await place.run(["store", "inspect"])).code, 0);
  const nowhere = await place.run(["run"], { env: { MATRIX_STORE: " " } });
  assertStringIncludes(nowhere.stderr, "MATRIX_STORE is not set");
  assertEquals((await place.run(["store", "seal", "../store.key"])).code, 1);
  await Deno.writeTextFile(`${place.folder}/../store.key`, `${new Uint8Array(32).toBase64()}\n`);
  const other = await place.run(["store", "inspect"]);
  assertEquals([other.code, other.stderr.includes("another key")], [6, true], other.stderr);
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
    const isAsked = /if \[ "\$funcstack\[1\]" = _greenroom \]; then _greenroom "\$@"/.test(stdout);
    assertEquals(isAsked, shell === "zsh", "zsh has the first Tab run the file as the function");
  }
  assertEquals((await place.run(["completions", "tcsh"], { cwd: place.parent })).code, 2);
});
