/**
 * PostgreSQL and Redis of Debian, each a process of its own in a temporary folder on loopback.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { freePort } from "../free_port.ts";
import { run } from "../process.ts";

const START_ATTEMPTS = 300;
const START_INTERVAL_MS = 100;
const PACKAGES = ["postgresql", "redis-server"];

/** A service that has started. */
export interface Service {
  /** The loopback port that it listens on. */
  readonly port: number;
}

/** The folder of PostgreSQL's programs; undefined if one of the services is not installed. */
async function installed(): Promise<string | undefined> {
  const redis = await Deno.stat("/usr/bin/redis-server").catch(() => undefined);
  const versions = await Array.fromAsync(Deno.readDir("/usr/lib/postgresql")).catch(() => []);
  const newest = versions.map(({ name }) => Number(name)).sort((one, other) => one - other).at(-1);
  return redis === undefined || newest === undefined ? undefined : `/usr/lib/postgresql/${newest}/bin`;
}

/**
 * Makes sure that they are installed.
 *
 * @param print Takes the line that says why the first run takes longer.
 * @returns The folder of PostgreSQL's programs.
 * @throws {Error} If they are not, and can't be.
 */
export async function installServices(print: (line: string) => void): Promise<string> {
  const there = await installed();
  if (there !== undefined) return there;
  const mend = `as root: apt-get install ${PACKAGES.join(" ")}`;
  if (Deno.uid() !== 0) throw new Error(`Cannot find PostgreSQL and Redis of Debian: install them ${mend}`);
  print(`installing ${PACKAGES.join(" and ")} (once)`);
  const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" }; // none of its own is started
  const args = ["install", "--yes", "--no-install-recommends", ...PACKAGES];
  const { code, output } = await run("apt-get", args, env);
  const folder = await installed();
  if (code !== 0 || folder === undefined) {
    throw new Error(`Cannot install PostgreSQL and Redis: do it ${mend}\n${output}`);
  }
  return folder;
}

/** Starts a Redis that keeps nothing. */
export async function startRedis(stack: AsyncDisposableStack): Promise<Service> {
  const port = freePort();
  const args = ["--bind", "127.0.0.1", "--port", `${port}`, "--save", "", "--dir", "/tmp"];
  await serve(stack, { command: ["/usr/bin/redis-server", ...args], port });
  return { port };
}

/**
 * Starts a PostgreSQL with an empty database `postgres` of the user `synapse`, which needs no
 * password.
 *
 * @param programs The folder of its programs.
 */
export async function startPostgres(stack: AsyncDisposableStack, programs: string): Promise<Service> {
  const port = freePort();
  const folder = await Deno.makeTempDir({ prefix: "greenroom-postgres-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  // It refuses root.
  const asUser = Deno.uid() === 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : [];
  if (Deno.uid() === 0) await run("chown", ["postgres", folder]);
  const init = [
    "--username=synapse",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    `--pgdata=${folder}/data`,
  ];
  const { code, output } = await run("setpriv", [...asUser, `${programs}/initdb`, ...init]);
  if (code !== 0) throw new Error(`Cannot start PostgreSQL: initdb failed:\n${output}`);
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const args = ["-D", `${folder}/data`, ...settings.flatMap((setting) => ["-c", setting])];
  await serve(stack, { command: [`${programs}/postgres`, ...args], port, asUser });
  return { port };
}

interface Serving {
  readonly command: readonly string[];
  readonly port: number;
  readonly asUser?: readonly string[];
}

/** Starts a program, which ends with this process, and waits until it listens. */
async function serve(stack: AsyncDisposableStack, { command, port, asUser = [] }: Serving): Promise<void> {
  const process = new Deno.Command("setpriv", {
    args: ["--pdeathsig=INT", ...asUser, ...command],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let isOver = false;
  process.status.then(() => isOver = true);
  stack.defer(async () => {
    if (!isOver) process.kill("SIGINT");
    await process.status;
  });
  for (let attempt = 0; attempt < START_ATTEMPTS && !isOver; attempt++) {
    try {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      connection.close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error; // not listening yet
    }
    await delay(START_INTERVAL_MS);
  }
  throw new Error(`Cannot start ${command[0]}: it does not listen`);
}
