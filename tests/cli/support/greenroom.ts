/**
 * The command line as a process, in a folder of its own, with a homeserver in this process.
 *
 * @module
 */

import { Homeserver, type HomeserverOptions, type TestUser } from "@greenroom/matrix/testing";
import { assertEquals } from "@std/assert";

/** The program. */
export const ENTRY: string = new URL("../../../src/cli/mod.ts", import.meta.url).pathname;

/** What a process that has ended left behind. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What is given to a process. */
export interface Given {
  readonly cwd?: string;
  /** What standard input says. Default: nothing. */
  readonly input?: string;
  readonly env?: Record<string, string>;
}

/** The environment of this process, without what a bot or the command line reads of it. */
export function plainEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("MATRIX_")),
  );
}

/** The command line on Deno, or as tests of other runtimes have it. */
const [PROGRAM = "", ...FIRST] = Deno.env.get("GREENROOM_CLI")?.split(" ") ??
  [Deno.execPath(), "run", "-A", "--no-check", "--quiet", ENTRY];

/** What npm would install there. */
const MODULES = Deno.env.get("GREENROOM_NODE_MODULES");

/** Starts `greenroom`. */
export function startGreenroom(args: readonly string[], { cwd, env }: Given = {}): Deno.ChildProcess {
  return new Deno.Command(PROGRAM, {
    args: [...FIRST, ...args],
    cwd,
    clearEnv: true,
    env: { ...plainEnv(), NO_COLOR: "1", ...env },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" } as const,
  }).spawn();
}

/** What a process says, read as it comes. */
export class Output {
  /** All of it, once the process has ended. */
  readonly all: Promise<string>;
  #text = "";
  #wake = () => {};
  #isOver = false;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.all = this.#read(stream);
  }

  /** Waits until it has something in it, and returns what there is by then. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.#isOver) throw new Error(`It ended without ${pattern}: ${this.#text}`);
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#text;
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      this.#text += piece;
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
    return this.#text;
  }
}

/** Runs `greenroom` to its end. */
export async function greenroom(args: readonly string[], given: Given = {}): Promise<Ended> {
  const child = startGreenroom(args, given);
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(given.input ?? "")).catch(() => {}); // it may have ended
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out ?? "", stderr: err ?? "" };
}

/** The commands that `greenroom --help` lists. */
export function commandsIn(help: string): string[] {
  return [...help.matchAll(/^ {2}([a-z-]+(?: [a-z]+)*)/gm)].map(([, name = ""]) => name.trim());
}

/** A homeserver, with the account of a bot, and a folder for it. */
export class Place implements AsyncDisposable {
  readonly homeserver: Homeserver;
  readonly url: string;
  readonly bot: TestUser;
  /** Where folders of bots are made. */
  readonly parent: string;
  /** The folder of the bot. */
  readonly folder: string;

  private constructor(homeserver: Homeserver, url: string, parent: string) {
    [this.homeserver, this.url, this.parent, this.folder] = [homeserver, url, parent, `${parent}/bot`];
    this.bot = homeserver.createUser("bot", { password: PASSWORD });
  }

  static async make(options?: HomeserverOptions): Promise<Place> {
    const homeserver = new Homeserver(options);
    return new Place(
      homeserver,
      await homeserver.listen(),
      await Deno.makeTempDir({ prefix: "greenroom-cli-" }),
    );
  }

  /** Makes the folder of the bot. */
  async makeBot(): Promise<void> {
    const made = await greenroom(["new", "bot", `--user=${this.bot.userId}`], { cwd: this.parent });
    assertEquals(made.code, 0, made.stderr);
    if (MODULES !== undefined) await Deno.symlink(MODULES, `${this.folder}/node_modules`);
  }

  /** Makes the folder of the bot, and logs the bot in. */
  async makeLoggedInBot(): Promise<void> {
    await this.makeBot();
    const login = await this.login();
    assertEquals(login.code, 0, login.stderr);
  }

  /** Logs the bot in by its password. */
  async login(...more: string[]): Promise<Ended> {
    return await this.run(["login", "--password-stdin", `--homeserver=${this.url}`, ...more], {
      input: `${PASSWORD}\n`,
    });
  }

  /** Logs a bot in by a token. */
  async loginByToken(token: string, ...more: string[]): Promise<Ended> {
    return await this.run(["login", "--token-stdin", `--homeserver=${this.url}`, ...more], {
      input: `${token}\n`,
    });
  }

  /** Runs `greenroom` in the folder of the bot. */
  async run(args: readonly string[], given: Given = {}): Promise<Ended> {
    return await greenroom(args, { cwd: this.folder, ...given });
  }

  /** Makes sure that the doctor finds nothing to mend. */
  async assertSound(given: Given = {}): Promise<void> {
    const { code, stdout } = await this.run(["doctor", "--json"], given);
    assertEquals([code, /"(?:warning|error)"/.test(stdout)], [0, false], stdout);
  }

  /** What is in a file of the bot; undefined: there is none. */
  async read(path: string): Promise<string | undefined> {
    return await Deno.readTextFile(`${this.folder}/${path}`).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.homeserver.close();
    await Deno.remove(this.parent, { recursive: true });
  }
}

/** The password of the bot; nothing that is printed or written may have it. */
export const PASSWORD = "correct horse battery";
