/**
 * A Synapse for tests: `Synapse.start()` in code, `deno task synapse` by hand.
 *
 * It is installed on first use, listens on a free loopback port, keeps its data in a temporary
 * folder, and leaves nothing behind when it is stopped.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { randomSecret, synapseConfig, synapseLogConfig } from "./synapse/config.ts";
import { installPython } from "./python.ts";
import { registerUser, type SynapseServer } from "./synapse/register_user.ts";

/** How a Synapse for tests is started. */
export interface SynapseOptions {
  /**
   * The name in its user IDs.
   *
   * @default {"localhost"}
   */
  serverName?: string;
  /**
   * How long an access token lives that came with a refresh token; short, so that a test can see it
   * end. Tokens of other logins do not end.
   *
   * @default {"3s"}
   */
  refreshableAccessTokenLifetime?: string;
  /**
   * The files with the registrations of its application services.
   *
   * @default {[]}
   */
  appservices?: readonly string[];
  /**
   * Takes what is worth telling: that Synapse is being installed.
   *
   * @default {console.log}
   */
  print?: (line: string) => void;
}

const START_ATTEMPTS = 600;
const START_INTERVAL_MS = 100;
const STOP_DEADLINE_MS = 10_000;
const LOG_TAIL_LINES = 40;

/** The environment variable with the Python that has Synapse, where a test may not install it. */
export const INSTALLED_SYNAPSE = "GREENROOM_SYNAPSE_PYTHON";

/**
 * Installs Synapse if it has to.
 *
 * @param print Takes what is worth telling.
 * @returns The path of the Python that has it.
 */
export async function installSynapse(print: (line: string) => void): Promise<string> {
  return await installPython({ name: "synapse", package: "matrix-synapse" }, print);
}

/** A running Synapse. */
export class Synapse implements SynapseServer, AsyncDisposable {
  readonly baseUrl: string;
  readonly serverName: string;
  readonly sharedSecret: string;
  readonly #python: string;
  readonly #folder: string;
  #process: Deno.ChildProcess;
  #ended = false;

  private constructor(python: string, folder: string, server: SynapseServer) {
    this.#python = python;
    this.#folder = folder;
    this.baseUrl = server.baseUrl;
    this.serverName = server.serverName;
    this.sharedSecret = server.sharedSecret;
    this.#process = this.#spawn();
  }

  /** The ID of its process. */
  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Installs Synapse if it has to, starts one, and waits until it answers.
   *
   * @throws {Error} If it does not come up: with the end of its log.
   */
  static async start(options: SynapseOptions = {}): Promise<Synapse> {
    const {
      serverName = "localhost",
      refreshableAccessTokenLifetime = "3s",
      appservices = [],
      print = console.log,
    } = options;
    const python = Deno.env.get(INSTALLED_SYNAPSE) ?? await installSynapse(print);
    const folder = await Deno.makeTempDir({ prefix: "greenroom-synapse-" });
    const port = freePort();
    const sharedSecret = randomSecret(16);
    const config = synapseConfig({
      folder,
      port,
      serverName,
      sharedSecret,
      refreshableAccessTokenLifetime,
      appservices,
    });
    await Deno.writeTextFile(`${folder}/log.json`, JSON.stringify(synapseLogConfig));
    await Deno.writeTextFile(`${folder}/homeserver.json`, JSON.stringify(config));
    const server = { baseUrl: `http://127.0.0.1:${port}`, serverName, sharedSecret };
    const synapse = new Synapse(python, folder, server);
    try {
      await synapse.#waitUntilItAnswers();
    } catch (error) {
      await synapse.stop();
      throw error;
    }
    return synapse;
  }

  /** The last lines that Synapse wrote to its log. */
  async logTail(): Promise<string> {
    const log = await Deno.readTextFile(`${this.#folder}/output.log`).catch(() => "");
    return log.trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  }

  /** Ends its process, and starts another with the same data at the same address. */
  async restart(): Promise<void> {
    await this.#end();
    this.#process = this.#spawn();
    await this.#waitUntilItAnswers();
  }

  /** Stops it, with force if it takes too long, and removes its data. */
  async stop(): Promise<void> {
    await this.#end();
    await Deno.remove(this.#folder, { recursive: true });
  }

  #spawn(): Deno.ChildProcess {
    const folder = this.#folder;
    const process = new Deno.Command(this.#python, {
      args: [`${import.meta.dirname}/synapse/launch.py`, `${folder}/output.log`, `${folder}/homeserver.json`],
      // The order of its sets, so that it is the same in every run: read markers have one.
      env: { PYTHONHASHSEED: "1" },
      stdin: "piped", // its end shows Synapse that this process has ended
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#ended = false;
    process.status.then(() => this.#ended = true);
    return process;
  }

  async #end(): Promise<void> {
    const deadline = new AbortController();
    if (!this.#ended) this.#process.kill("SIGTERM");
    const late = delay(STOP_DEADLINE_MS, { signal: deadline.signal }).then(() => {
      if (!this.#ended) this.#process.kill("SIGKILL");
    }, () => {});
    await this.#process.status;
    deadline.abort();
    await late;
    await this.#process.stdin.close().catch(() => {}); // the other end is gone
  }

  /** {@linkcode Synapse.prototype.stop} at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #waitUntilItAnswers(): Promise<void> {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
      if (this.#ended) throw new Error(`Cannot start Synapse: it ended; its log:\n${await this.logTail()}`);
      try {
        const response = await fetch(`${this.baseUrl}/_matrix/client/versions`);
        await response.body?.cancel();
        if (response.ok) return;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // not listening yet
      }
      await delay(START_INTERVAL_MS);
    }
    throw new Error(`Cannot start Synapse: it does not answer; its log:\n${await this.logTail()}`);
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

if (import.meta.main) {
  await using synapse = await Synapse.start();
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stopped.resolve);
  const { userId, accessToken } = await registerUser(synapse, {
    localpart: "admin",
    password: "admin",
    admin: true,
  });
  console.log(
    `Synapse at ${synapse.baseUrl}, user ${userId}, password admin, token ${accessToken}; stop it with Ctrl-C`,
  );
  await stopped.promise;
}
