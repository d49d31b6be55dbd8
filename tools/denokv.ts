/**
 * A denokv for tests, which serves a database of Deno KV over HTTP: `Denokv.start()` in code,
 * `deno task denokv` by hand.
 *
 * It is built on first use, which takes minutes, into the repository's ignored folder `.cache/`. It
 * listens on a loopback port, keeps its database in a temporary folder, and leaves nothing behind
 * when it is stopped.
 *
 * @module
 */

import { getPriority } from "node:os";
import { delay } from "@std/async/delay";
import { freePort } from "./free_port.ts";
import { inTurn, ROOT, run } from "./process.ts";

const VERSION = "0.14.0";
const FOLDER = `${ROOT}.cache/denokv-${VERSION}`;
const BINARY = `${FOLDER}/bin/denokv`;

/** The priority of a build. */
const NICE = 10;
/** Minutes on a busy machine; one that has ended is not waited for. */
const START_ATTEMPTS = 6_000;
const START_INTERVAL_MS = 50;
const OUTPUT_TAIL_LINES = 40;

/** Why nothing can be built where {@linkcode hasCargo} finds nothing, and what to do. */
export const NO_CARGO = "no cargo was found to build denokv with; install Rust (https://rustup.rs)";

/** Whether denokv is there, or can be built. */
export async function hasDenokv(): Promise<boolean> {
  return await isDenokvBuilt() || await hasCargo();
}

/** Whether denokv is there. */
export async function isDenokvBuilt(): Promise<boolean> {
  return await isFile(BINARY);
}

/** Whether there is a Rust to build with. */
export async function hasCargo(): Promise<boolean> {
  try {
    return (await run("cargo", ["--version"])).code === 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return false;
    throw error;
  }
}

/**
 * Makes sure that denokv is built.
 *
 * One process builds while the others wait. What a build has done that did not come to its end is not done
 * again.
 *
 * @param print Takes the line that says why the first run takes longer.
 * @returns The path of the program.
 */
export async function installDenokv(print: (line: string) => void): Promise<string> {
  if (await isFile(BINARY)) return BINARY;
  if (!await hasCargo()) throw new Error(`Cannot build denokv: ${NO_CARGO}`);
  return await inTurn(`${FOLDER}.lock`, async () => await isFile(BINARY) ? BINARY : await build(print));
}

async function build(print: (line: string) => void): Promise<string> {
  await Deno.mkdir(FOLDER, { recursive: true });
  print(`building denokv ${VERSION} (once, about ten minutes)`);
  const target = `${FOLDER}/target`;
  const cargo = [
    ...["cargo", "install", "denokv", "--version", VERSION, "--locked"],
    ...["--root", FOLDER, "--target-dir", target],
  ];
  // Beside other work, which goes first.
  const nice = ["nice", "-n", String(Math.max(0, NICE - getPriority()))];
  const [command = "cargo", ...args] = Deno.build.os === "windows" ? cargo : [...nice, ...cargo];
  const { code, output } = await run(command, args);
  if (code !== 0) throw new Error(`Cannot build denokv: cargo failed:\n${tail(output)}`);
  await Deno.remove(target, { recursive: true }); // a gigabyte
  return BINARY;
}

/** How a denokv for tests is started. */
export interface DenokvOptions {
  /**
   * The folder of an earlier one, whose database is served again.
   *
   * @default {a new one, which is removed at the end}
   */
  folder?: string;
  /**
   * Where it listens on the loopback interface.
   *
   * @default {a free port}
   */
  port?: number;
  /**
   * What clients must have: at least twelve characters.
   *
   * @default {a new one}
   */
  accessToken?: string;
  /** Serves the database without changing it. False by default. */
  readOnly?: boolean;
  /**
   * Takes what is worth telling: that denokv is being built.
   *
   * @default {console.log}
   */
  print?: (line: string) => void;
}

/** A running denokv. */
export class Denokv implements AsyncDisposable {
  /** What to open. */
  readonly url: string;
  /** What `DENO_KV_ACCESS_TOKEN` must say. */
  readonly accessToken: string;
  /** Where the database is, with nothing else. */
  readonly folder: string;
  /** Where it listens. */
  readonly port: number;
  readonly #process: Deno.ChildProcess;
  readonly #output: Promise<string>;
  readonly #ownsFolder: boolean;
  #ended = false;

  private constructor(
    process: Deno.ChildProcess,
    options: Required<Pick<DenokvOptions, "folder" | "port" | "accessToken">> & { owns: boolean },
  ) {
    this.#process = process;
    this.#output = new Response(process.stderr).text();
    this.#ownsFolder = options.owns;
    this.folder = options.folder;
    this.port = options.port;
    this.accessToken = options.accessToken;
    this.url = `http://127.0.0.1:${options.port}`;
    process.status.then(() => this.#ended = true);
  }

  /**
   * Builds denokv if it has to, starts one, and waits until it answers.
   *
   * @throws {Error} If it does not come up: with the end of what it said.
   */
  static async start(options: DenokvOptions = {}): Promise<Denokv> {
    const { port = freePort(), accessToken = crypto.randomUUID(), print = console.log } = options;
    const program = Deno.env.get("GREENROOM_DENOKV") ?? await installDenokv(print);
    const folder = options.folder ?? await Deno.makeTempDir({ prefix: "greenroom-denokv-" });
    const process = new Deno.Command(program, {
      args: [
        ...["--sqlite-path", `${folder}/kv.sqlite3`, "serve", "--addr", `127.0.0.1:${port}`],
        ...(options.readOnly ? ["--read-only"] : []),
      ],
      env: { DENO_KV_ACCESS_TOKEN: accessToken },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const owns = options.folder === undefined;
    const denokv = new Denokv(process, { folder, port, accessToken, owns });
    try {
      await denokv.#waitUntilItAnswers();
    } catch (error) {
      await denokv.stop();
      throw error;
    }
    return denokv;
  }

  /** The ID of its process. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Sends it a signal: `SIGSTOP` and `SIGCONT`, say. */
  signal(signal: Deno.Signal): void {
    if (!this.#ended) this.#process.kill(signal);
  }

  /** Kills it, without a chance to put anything in order; its folder stays. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await Promise.all([this.#process.status, this.#output]);
  }

  /** Stops it, and removes its database if it was its own. */
  async stop(): Promise<void> {
    await this.kill(); // it has no other way to be stopped that would do more
    if (this.#ownsFolder) await Deno.remove(this.folder, { recursive: true });
  }

  /** {@linkcode Denokv.prototype.stop} at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #waitUntilItAnswers(): Promise<void> {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
      if (this.#ended) throw new Error(`Cannot start denokv: it ended:\n${tail(await this.#output)}`);
      try {
        const response = await fetch(this.url, { method: "POST" });
        await response.body?.cancel();
        return;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // not listening yet
      }
      await delay(START_INTERVAL_MS);
    }
    throw new Error("Cannot start denokv: it does not answer");
  }
}

function tail(output: string): string {
  return output.trimEnd().split("\n").slice(-OUTPUT_TAIL_LINES).join("\n");
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

if (import.meta.main) {
  await using denokv = await Denokv.start();
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stopped.resolve);
  console.log(
    `denokv at ${denokv.url}, DENO_KV_ACCESS_TOKEN=${denokv.accessToken}; stop it with Ctrl-C`,
  );
  await stopped.promise;
}
