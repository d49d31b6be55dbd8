/**
 * An instance of the app: a process, from its cold start to its end.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { ROOT } from "../../tools/process.ts";

/** How long an instance may take until it answers, in milliseconds. */
const START_MS = 180_000;
/** How often it is looked for, in milliseconds. */
const LOOK_MS = 10;
/** How long an instance has between the signal and its end, in milliseconds. */
const GRACE_MS = 5_000;

/** A process of the app. */
export class Instance {
  /** Resolves when it answers, to how long that took in milliseconds; rejects if it never does. */
  readonly ready: Promise<number>;
  /** How many requests it is answering. */
  busy = 0;
  /** Whether it has been told to end, or has ended. */
  isOver = false;
  readonly #child: Deno.ChildProcess;
  readonly #port: number;
  readonly #ended: Promise<unknown>;
  readonly #stderr: Promise<string>;

  /** @param env The environment of the app. */
  constructor(env: Record<string, string>) {
    const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    this.#port = listener.addr.port;
    listener.close();
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--unstable-kv", "--unstable-cron", `${ROOT}examples/deploy/main.ts`],
      env: { NO_COLOR: "1", DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${this.#port}`, ...env },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#stderr = new Response(this.#child.stderr).text();
    this.#ended = this.#child.status.then(() => this.isOver = true);
    this.ready = this.#start();
    this.ready.catch(() => {}); // whoever sends it a request gets that
  }

  /** What it wrote, when it has ended. */
  async told(): Promise<string> {
    await this.#ended;
    return await this.#stderr;
  }

  /** Has it answer a request. */
  async answer(path: string, body: Uint8Array<ArrayBuffer>): Promise<Response> {
    this.busy++;
    try {
      await this.ready;
      const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
      return new Response(await response.text(), { status: response.status, headers: response.headers });
    } finally {
      this.busy--;
    }
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    if (!this.isOver) this.#signal("SIGKILL");
    await this.#ended;
  }

  /** Ends it as the platform does: a signal, some time, and the end. */
  async stop(): Promise<void> {
    if (!this.isOver) this.#signal("SIGINT");
    const late = setTimeout(() => this.#signal("SIGKILL"), GRACE_MS);
    await this.#ended;
    clearTimeout(late);
  }

  #signal(signal: Deno.Signal): void {
    this.isOver = true;
    try {
      this.#child.kill(signal);
    } catch {
      // It has ended.
    }
  }

  async #start(): Promise<number> {
    const begun = performance.now();
    while (performance.now() - begun < START_MS && !this.isOver) {
      const connection = await Deno.connect({ port: this.#port, hostname: "127.0.0.1" }).catch(() =>
        undefined
      );
      connection?.close();
      if (connection !== undefined) return performance.now() - begun;
      await delay(LOOK_MS);
    }
    throw new Error("The instance does not answer");
  }
}
