import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SealedStore } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Place, startGreenroom } from "./support/greenroom.ts";

const DOCTOR = new URL("../../src/cli/commands/doctor.ts", import.meta.url).href;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** What the doctor finds, as its JSON says it. */
async function examine(place: Place): Promise<{ code: number; findings: Map<string, string> }> {
  const { code, stdout } = await place.run(["doctor", "--json"]);
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line) as { code: string; level: string });
  return { code, findings: new Map(lines.map((line) => [line.code, line.level])) };
}

Deno.test("The doctor finds nothing wrong with a bot that has just logged in", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const { code, findings } = await examine(place);
  assertEquals([code, [...findings].filter(([, level]) => level !== "ok")], [0, []]);
  for (
    const needed of ["env-file", "server", "token", "store", "device-signed", "backup-on", "clock-right"]
  ) {
    assert(findings.has(needed), needed);
  }
  const { stdout } = await place.run(["doctor"]);
  assertEquals([...stdout.matchAll(/^ok {7}\S/gm)].length, findings.size, stdout);
});

Deno.test("The doctor says what is wrong with settings, token and store, and ends with 7", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await Deno.chmod(`${place.folder}/.env`, 0o644);
  assertEquals((await examine(place)).findings.get("env-file-open"), "warning");
  await Deno.rename(`${place.folder}/data/bot.db`, `${place.folder}/data/lost.db`);
  const lost = await examine(place);
  assertEquals([lost.code, lost.findings.get("store-missing")], [7, "error"]);
  place.homeserver.revokeTokens(place.bot.userId);
  const { code, stdout } = await place.run(["doctor"]);
  assertEquals(code, 7);
  assertStringIncludes(stdout, "greenroom login --again");
});

Deno.test("While the bot runs, the doctor looks at the rest, and leaves the bot alone", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const lines = bot.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!(await lines.read()).value?.includes("The bot has started"));
  const { code, findings } = await examine(place);
  assertEquals([code, findings.get("store-in-use"), findings.get("token")], [0, "warning", "ok"]);
  bot.kill("SIGTERM");
  while (!(await lines.read()).done);
  await Promise.all([bot.stdin.close(), bot.stderr.cancel()]);
  assertEquals((await bot.status).code, 143);
});

Deno.test("Where files have no modes, the doctor does not say who can read them", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const program = `
    Object.defineProperty((await import("node:process")).default, "platform", { value: "win32" });
    const { run } = await import(${JSON.stringify(DOCTOR)});
    const terminal = { print: console.log, note() {}, style: (_name, text) => text };
    await run({ args: [], rest: [], values: {}, flags: new Set(["json"]), terminal });
  `;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", `--config=${CONFIG}`, program],
    cwd: place.folder,
  }).output();
  const [first = ""] = new TextDecoder().decode(stdout).split("\n");
  assertEquals(JSON.parse(first).level, "ok");
  assertStringIncludes(first, "not known");
});

Deno.test("The doctor says of a store of a newer Greenroom what reads it, and of one without its key why", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const path = `${place.folder}/data/bot.db`;
  {
    await using store = await SqliteStore.open(path);
    for await (const { key, value } of store.list([])) {
      const isSchema = key.at(-1) === "schema";
      if (isSchema) await store.commit([{ type: "set", key, value: { ...value as object, format: 99 } }]);
    }
  }
  const newer = await place.run(["doctor"]);
  assertEquals(newer.code, 7);
  assertStringIncludes(newer.stdout, "use a newer Greenroom");
  assertEquals((await place.run(["store", "prune"])).code, 6);
  assertStringIncludes((await place.run(["store", "inspect"])).stdout, "version 99");
  await Deno.remove(path);
  {
    await using _store = await SealedStore.open(await SqliteStore.open(path), new Uint8Array(32).fill(1));
  }
  const sealed = await place.run(["store", "inspect"]);
  assertEquals([sealed.code, sealed.stderr.includes("()"), sealed.stderr.includes("is sealed")], [
    6,
    false,
    true,
  ]);
});
