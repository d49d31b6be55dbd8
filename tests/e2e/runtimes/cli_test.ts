/** The command line of the npm package on Node 24, at a terminal. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PASSWORD, plainEnv } from "../../cli/support/greenroom.ts";
import { answerNew } from "../cli/support/desk.ts";
import { TerminalProcess } from "../cli/support/terminal.ts";
import { runtimeTest, Stage } from "./support.ts";

const CTRL_C = "\x03";

/** A folder, in which `greenroom` is run in a terminal as by `npx`. */
class Desk implements AsyncDisposable {
  readonly parent: string = Deno.makeTempDirSync({ prefix: "greenroom-node-" });
  readonly folder: string = `${this.parent}/bot`;
  readonly #runtimes: string;

  /** @param runtimes Where the tools and the project with the package are. */
  constructor(runtimes: string) {
    this.#runtimes = runtimes;
  }

  greenroom(args: readonly string[], cwd = this.folder): TerminalProcess {
    const program = `${this.#runtimes}/app/node_modules/.bin/greenroom`;
    return this.run([program, ...args], cwd);
  }

  run(program: readonly string[], cwd = this.folder): TerminalProcess {
    const { PATH = "", ...env } = plainEnv();
    const path = `${this.#runtimes}/tools/node_modules/node/bin:${PATH}`;
    return new TerminalProcess(program, { cwd, env: { ...env, PATH: path, NO_COLOR: "1", TERM: "xterm" } });
  }

  /** Makes the folder, as a person does, with the package that a registry would have. */
  async makeBot(user: string): Promise<void> {
    await using made = this.greenroom(["new"], this.parent);
    await answerNew(made, user);
    assertStringIncludes(made.shown, "npx greenroom login");
    await Deno.symlink(`${this.#runtimes}/app/node_modules`, `${this.folder}/node_modules`);
  }

  /** Runs `greenroom` to its good end, and returns what it shows. */
  async done(...args: readonly string[]): Promise<string> {
    await using terminal = this.greenroom(args);
    assertEquals(await terminal.ended(), 0, terminal.shown);
    return terminal.shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.parent, { recursive: true });
  }
}

/** Alice and the bot compare emoji. */
async function verify(desk: Desk, stage: Stage): Promise<void> {
  await using terminal = desk.greenroom(["verify", stage.alice.mxid]);
  const request = await stage.verificationRequest();
  await request.accept({ ways: ["sas"] });
  const { emoji = [] } = await request.compare();
  await terminal.expect("Does the other device");
  for (const { name } of emoji) assertStringIncludes(terminal.shown, `  ${name}`);
  await terminal.type("y");
  await request.confirm();
  assertEquals(await terminal.ended(), 0, terminal.shown);
  assert(emoji.length > 0 && (await request.done).isIdentityVerified);
}

for (const encrypted of [false, true]) {
  const kind = encrypted ? "an encrypted" : "a plain";
  runtimeTest(
    `On Node 24, greenroom leads from an empty folder to ${kind} chat with a bot`,
    async (folder) => {
      await using stage = new Stage(encrypted, PASSWORD);
      const url = await stage.homeserver.listen();
      await using desk = new Desk(folder);
      await desk.makeBot(stage.bot.userId);
      await using login = desk.greenroom(["login", `--homeserver=${url}`]);
      await login.answer("The password of", `${PASSWORD}\r`);
      assertEquals(await login.ended(), 0, login.shown);
      assertStringIncludes(login.shown, "Its device is signed");
      assert(!login.shown.includes(PASSWORD));
      const doctor = await desk.done("doctor");
      assert(!/^(?:error|warning)/m.test(doctor), doctor);
      await using run = desk.greenroom(["run"]);
      await run.expect("node --env-file=.env bot.ts");
      const room = await stage.room();
      await stage.say(room, "!ping");
      assertEquals(await stage.heard(1), ["**pong**"]);
      await run.type(CTRL_C);
      assertEquals(await run.ended(), 130, run.shown);
      const types = stage.homeserver.room(room).messages.map(({ type }) => type);
      assertEquals(types.includes("m.room.encrypted"), encrypted);
      assertStringIncludes(await desk.done("rooms"), room);
      assertMatch(await desk.done("send", room, "from the shell"), /^\$/);
      assertEquals(await stage.heard(2), ["**pong**", "from the shell"]);
      await using listen = desk.greenroom(["listen", room]);
      await listen.expect("Listening");
      await stage.say(room, "to the shell");
      await listen.expect("to the shell");
      await listen.type(CTRL_C);
      assertEquals(await listen.ended(), 130, listen.shown);
      if (encrypted) await verify(desk, stage);
      await desk.done("store", "seal", "data/store.key");
      assertStringIncludes(await desk.done("store", "inspect"), stage.bot.userId);
      await using test = desk.run(["npm", "test"]);
      assertEquals(await test.ended(), 0, test.shown);
    },
  );
}
