/** Each command at a terminal, and Ctrl-C at each prompt of those that ask. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { commandsIn, PASSWORD, Place, plainEnv } from "../../cli/support/greenroom.ts";
import { missing } from "../support/synapse.ts";
import { atTerminal, terminalTest } from "./support/desk.ts";

/** Those of the tests beside this one. */
const ELSEWHERE = ["new", "login", "run", "doctor", "verify", "chat", "listen"];
const CTRL_C = "\x03";

/** What a person types at prompts. */
type Typed = readonly (readonly [prompt: string, keys: string])[];

/** The commands that were tried in a folder. */
class Tries {
  readonly #place: Place;
  readonly lines: string[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  /** Runs a command to its end; what was shown. */
  async run(args: readonly string[], typed: Typed = [], status = 0): Promise<string> {
    this.lines.push(args.join(" "));
    await using terminal = atTerminal(args, { cwd: this.#place.folder });
    for (const [prompt, keys] of typed) await terminal.answer(prompt, keys);
    const code = await terminal.ended();
    assertEquals(code, status, `${args.join(" ")}: ${terminal.shown}`);
    assert(!/^ +at /m.test(terminal.shown), terminal.shown);
    return terminal.shown;
  }
}

terminalTest("Each command says at a terminal what it has done", async (place) => {
  const tries = new Tries(place);
  const { accessToken } = place.homeserver.createUser("alice");
  await using alice = new Client({ baseUrl: place.url, accessToken, log: false });
  const other = await alice.createRoom({ invitees: [place.bot.userId] });
  const key = (await place.read("data/recovery.key") ?? "").trim();
  const passphrase = "a long passphrase";

  const stage = (await tries.run(["rooms", "create", "Stage", "--encrypted"])).trim() as RoomID;
  assertStringIncludes(await tries.run(["join", other]), other);
  assertStringIncludes(await tries.run(["rooms"]), `${stage}  encrypted      1  Stage`);
  assertStringIncludes(await tries.run(["members", other]), "@alice:localhost");
  assertStringIncludes(await tries.run(["send", stage, "Hello"]), "$");
  const twice: Typed = [["A passphrase", `${passphrase}\r`], ["once more", `${passphrase}\r`]];
  const exported = await tries.run(["keys", "export", "keys.txt"], twice);
  assertStringIncludes(exported, "The keys are in keys.txt");
  const imported = await tries.run(["keys", "import", "keys.txt"], [["The passphrase", `${passphrase}\r`]]);
  assertStringIncludes(imported, "1 keys: 0 added");
  const checked = await tries.run(["recovery", "check", "--typed"], [["The recovery key?", `${key}\r`]]);
  assertStringIncludes(checked, "The recovery key is right");
  const changed = await tries.run(["recovery", "change"]);
  assertStringIncludes(changed, (await place.read("data/recovery.key") ?? "?").trim());
  const reset = await tries.run(["recovery", "reset"], [["Type reset", "reset\r"], [
    "The password",
    `${PASSWORD}\r`,
  ]]);
  assertStringIncludes(reset, (await place.read("data/recovery.key") ?? "?").trim());
  assert(reset.includes("This can't be undone") && !reset.includes(PASSWORD), reset);
  assertStringIncludes(await tries.run(["store", "inspect"]), place.bot.userId);
  assertStringIncludes(await tries.run(["upgrade-check"]), "reads and keeps");
  await tries.run(["store", "prune"]);
  await tries.run(["store", "seal", "../store.key"]);
  await tries.run(["store", "export", "copy", "--key-file=copy.key"]);
  await Deno.remove(`${place.folder}/data/bot.sealed.db`);
  await tries.run(["store", "import", "copy", "--key-file=copy.key"]);
  await tries.run(["appservice", "register", "bridge", "http://localhost:9000", "example.org"]);
  assertStringIncludes(await tries.run(["completions", "bash"]), "complete ");

  for (const secret of [key, passphrase, (await place.read("copy.key") ?? "?").trim()]) {
    assertEquals([exported, imported, checked, changed].filter((shown) => shown.includes(secret)), []);
  }
  const { stdout } = await place.run(["--help"]);
  const names = commandsIn(stdout);
  const untried = names.filter((name) => !tries.lines.some((line) => `${line} `.startsWith(`${name} `)));
  assertEquals(untried, ELSEWHERE);
});

terminalTest(
  "Ctrl-C at each prompt of keys and recovery leaves no file, and ends with 130",
  async (place) => {
    const tries = new Tries(place);
    const files = () => [...Deno.readDirSync(place.folder)].map(({ name }) => name).sort();
    const before = files();
    await tries.run(["keys", "export", "keys.txt"], [["A passphrase", CTRL_C]], 130);
    await tries.run(["keys", "export", "keys.txt"], [["A passphrase", "one\r"], ["once more", CTRL_C]], 130);
    const differ: Typed = [["A passphrase", "xyzzy\r"], ["once more", "plugh\r"]];
    const said = await tries.run(["keys", "export", "keys.txt"], differ, 2);
    assert(said.includes("the passphrases differ") && !/xyzzy|plugh/.test(said), said);
    await tries.run(["recovery", "check", "--typed"], [["The recovery key?", CTRL_C]], 130);
    assertEquals(files(), before);
    await Deno.writeTextFile(`${place.folder}/keys.txt`, "no key file");
    await tries.run(["keys", "import", "keys.txt"], [["The passphrase", CTRL_C]], 130);
    assertStringIncludes((await place.run(["store", "inspect"])).stdout, place.bot.userId);
  },
);

terminalTest(
  "Ctrl-C at each prompt of recovery reset leaves the identity and the key as they were",
  async (place) => {
    const tries = new Tries(place);
    const files = () => [...Deno.readDirSync(`${place.folder}/data`)].map(({ name }) => name).sort();
    const [before, key] = [files(), await place.read("data/recovery.key")];
    await tries.run(["recovery", "reset"], [["Type reset", CTRL_C]], 130);
    await tries.run(["recovery", "reset"], [["Type reset", "no\r"]], 130);
    await tries.run(["recovery", "reset"], [["Type reset", "reset\r"], ["The password", CTRL_C]], 130);
    assertEquals([files(), await place.read("data/recovery.key")], [before, key]);
    assertEquals((await place.run(["recovery", "check"])).code, 0);
    await place.assertSound();
  },
);

Deno.test({
  name: "Ctrl-C while a page has to be approved leaves the key, and Enter after the approval makes a new one",
  ignore: missing,
  async fn() {
    await using place = await Place.make({ oauth: true });
    await place.makeBot();
    const { accessToken } = place.homeserver.createUser("robot");
    const login = await place.loginByToken(accessToken, "--user=@robot:localhost");
    assertEquals(login.code, 0, login.stderr);
    const key = await place.read("data/recovery.key");
    const tries = new Tries(place);
    await tries.run(["recovery", "reset"], [["Type reset", "reset\r"], ["Press Enter", CTRL_C]], 130);
    assertEquals([await place.read("data/recovery.key"), await place.read("data/recovery.key.new")], [
      key,
      undefined,
    ]);
    await using terminal = atTerminal(["recovery", "reset"], { cwd: place.folder });
    await terminal.answer("Type reset", "reset\r");
    await terminal.expect("Press Enter");
    await terminal.expect("└");
    place.homeserver.oauth.allowCrossSigningReset("@robot:localhost");
    await terminal.type("\r");
    assertEquals(await terminal.ended(), 0, terminal.shown);
    assertStringIncludes(terminal.shown, (await place.read("data/recovery.key") ?? "?").trim());
  },
});

terminalTest(
  "Long work shows how far it is at a wide terminal that wants it, and nothing of that elsewhere",
  async (place) => {
    const phrase = "a long passphrase";
    assertEquals((await place.run(["rooms", "create", "--encrypted"])).code, 0);
    const shown = async (args: readonly string[], columns: number, env: Record<string, string>) => {
      const options = { cwd: place.folder, columns, env: { ...plainEnv(), ...env } };
      await using terminal = atTerminal(args, options);
      if (args[0] === "keys") await terminal.answer("passphrase", `${phrase}\r`);
      if (args[1] === "export" && args[0] === "keys") await terminal.answer("once more", `${phrase}\r`);
      assertEquals(await terminal.ended(), 0, terminal.shown);
      return terminal.shown;
    };
    const wide = { NO_COLOR: "", TERM: "xterm" };
    assertStringIncludes(await shown(["keys", "export", "keys.txt"], 80, wide), "Exporting keys …");
    assertStringIncludes(await shown(["keys", "import", "keys.txt"], 80, wide), "█ 100 %");
    assertStringIncludes(await shown(["store", "export", "copy"], 80, wide), "Exporting records … ");
    const plain = [
      await shown(["keys", "import", "keys.txt"], 40, wide),
      await shown(["keys", "import", "keys.txt"], 80, { ...wide, NO_COLOR: "1" }),
      await shown(["keys", "import", "keys.txt"], 80, { ...wide, TERM: "dumb" }),
      (await place.run(["keys", "import", "--passphrase-stdin", "keys.txt"], { input: `${phrase}\n` }))
        .stderr,
    ];
    assertEquals(plain.filter((text) => text.includes("Importing")), []);
    await Deno.remove(`${place.folder}/data/bot.db`);
    assertStringIncludes(await shown(["store", "import", "copy"], 80, wide), "█ 100 %");
  },
);
