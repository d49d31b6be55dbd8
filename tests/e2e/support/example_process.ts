/**
 * An example bot as its README says that it is run: a process with one command.
 *
 * @module
 */

import { within } from "./deadline.ts";

/** What a process says that has ended in good order, since it was told to. */
const TERMINATED = 128 + 15;

/** A bot of `examples/bots/`, which is ended and begun again on the same store. */
export class ExampleProcess implements AsyncDisposable {
  readonly #path: string;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #child: Deno.ChildProcess;

  private constructor(path: string, folder: string, env: Record<string, string>) {
    this.#path = path;
    this.#folder = folder;
    this.#env = env;
    this.#child = this.#begin();
  }

  /**
   * Begins it.
   *
   * @param name The folder of the example.
   * @param env What its environment says, beside where its store is.
   */
  static async start(name: string, env: Record<string, string>): Promise<ExampleProcess> {
    const path = ExampleProcess.path(name);
    const folder = await Deno.makeTempDir({ prefix: `greenroom-${name}-` });
    return new ExampleProcess(path, folder, { MATRIX_STORE: `${folder}/bot.kv`, ...env });
  }

  /** Where the main module of an example is. */
  static path(name: string): string {
    return new URL(`../../../examples/bots/${name}/main.ts`, import.meta.url).pathname;
  }

  /** Ends it as a deployment does, and begins it again. */
  async restart(): Promise<void> {
    await this.#end();
    this.#child = this.#begin();
  }

  /** Ends it, and removes what it kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    await Deno.remove(this.#folder, { recursive: true });
  }

  #begin(): Deno.ChildProcess {
    const { BRIDGE_REGISTRATION: file } = this.#env;
    const readable = [this.#folder, ...file === undefined ? [] : [file]].join(",");
    const store = [`--allow-read=${readable}`, `--allow-write=${this.#folder}`];
    return new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--no-check", "--unstable-kv", "--allow-net", "--allow-env"],
        ...store,
        this.#path,
      ],
      env: this.#env,
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  /** Ends the process, which has to end in good order. */
  async #end(): Promise<void> {
    this.#child.kill("SIGTERM");
    const { code } = await within(this.#child.status, `${this.#path} ends`);
    if (code !== TERMINATED) throw new Error(`${this.#path} ended with ${code}`);
  }
}
