/**
 * The contestants, and how they are started.
 *
 * @module
 */

import { PEER_PACKAGES } from "../../tools/peers.ts";
import { installPython } from "../../tools/python.ts";
import { installJsPeers, nodeVersion } from "./js_peers.ts";

const CONTESTANTS = `${import.meta.dirname ?? "."}/contestants`;

/** A contestant. */
export interface Entrant {
  /** As it stands in tables. */
  readonly name: string;
  /** The program. */
  readonly command: string;
  /** Its arguments, before those that say what to do. */
  readonly args: readonly string[];
  /** Where it runs. Default: here. */
  readonly cwd?: string;
  /** What is added to its environment. Default: nothing. */
  readonly env?: Record<string, string>;
  /** Leaves out unusual uses, like many idle clients in a process. Default: false. */
  readonly playsOnly?: boolean;
}

/** The contestants of each job. */
export interface Entrants {
  readonly plain: readonly Entrant[];
  /** Rooms are encrypted. */
  readonly encrypted: readonly Entrant[];
}

/** The names that goals are about. */
export const NAMES = {
  limit: "limit (fetch, JSON.parse)",
  encryptedLimit: "limit (fetch, JSON.parse, vodozemac-wasm)",
  durableLimit: "limit, token in SQLite",
  memory: "Greenroom, memory",
  typed: "Greenroom, memory, typed handlers",
  sqlite: "Greenroom, SQLite",
  kv: "Greenroom, Deno KV",
  jsSdk: "matrix-js-sdk, Deno",
} as const;

/** What has a contestant encrypt. */
export const ENCRYPTED = "--encrypted=yes";

/**
 * The contestants that can be installed here. Others are named to `print`, and with `CI=true` an
 * error unless `--own` leaves them out.
 */
export async function entrants(print: (line: string) => void): Promise<Entrants> {
  const own: Entrants = {
    plain: [
      limit(),
      { ...deno(NAMES.durableLimit, "limit.ts", "--store=sqlite"), playsOnly: true },
      ...greenroom(),
      { ...deno(NAMES.typed, "greenroom.ts", "--handlers=typed"), playsOnly: true },
    ],
    encrypted: [limit(ENCRYPTED), ...greenroom(ENCRYPTED)],
  };
  if (Deno.args.includes("--own")) return own;
  const tryTo = async (name: string, find: () => Promise<Entrants>): Promise<Entrants> => {
    try {
      return await find();
    } catch (error) {
      if (Deno.env.get("CI") === "true") throw error;
      print(`${name} is left out: ${String(error)}`);
      return { plain: [], encrypted: [] };
    }
  };
  const others = await Promise.all([
    tryTo("who is written in JavaScript", () => inJavaScript(print)),
    tryTo("mautrix-python", () => mautrix(print)),
    tryTo("matrix-nio", () => nio(print)),
  ]);
  const olmMachine = deno("matrix-sdk-crypto-wasm, memory", "olm_machine.ts", ENCRYPTED);
  return {
    plain: [...own.plain, ...others.flatMap(({ plain }) => plain)],
    encrypted: [...own.encrypted, olmMachine, ...others.flatMap(({ encrypted }) => encrypted)],
  };
}

/** What no client can be faster than. */
export function limit(...args: string[]): Entrant {
  return args.includes(ENCRYPTED)
    ? deno(NAMES.encryptedLimit, "limit_encrypted.ts", ...args)
    : deno(NAMES.limit, "limit.ts", ...args);
}

/** Ours, with each of its stores. */
export function greenroom(...args: string[]): Entrant[] {
  const durable = (name: string, store: string) => ({
    ...deno(name, "greenroom.ts", `--store=${store}`, ...args),
    playsOnly: true,
  });
  return [
    deno(NAMES.memory, "greenroom.ts", ...args),
    durable(NAMES.sqlite, "sqlite"),
    durable(NAMES.kv, "kv"),
  ];
}

function deno(name: string, script: string, ...args: string[]): Entrant {
  const flags = ["--quiet", "--no-check", "--allow-all", "--unstable-kv", "--v8-flags=--expose-gc"];
  return { name, command: Deno.execPath(), args: ["run", ...flags, `${CONTESTANTS}/${script}`, ...args] };
}

async function inJavaScript(print: (line: string) => void): Promise<Entrants> {
  const cwd = await installJsPeers(print);
  const flags = [
    "--quiet",
    "--no-check",
    "--allow-all",
    "--node-modules-dir=manual",
    "--v8-flags=--expose-gc",
  ];
  const runtimes = [{ title: "Deno", command: Deno.execPath(), args: ["run", ...flags] }];
  if (await nodeVersion() !== undefined) {
    runtimes.push({ title: "Node", command: "node", args: ["--expose-gc"] });
  } else {
    print("clients on Node are left out: there is no Node");
  }
  const on = (client: string, script: string, ...more: string[]): Entrant[] =>
    runtimes.map(({ title, command, args }) => ({
      name: `${client}, ${title}`,
      command,
      args: [...args, script, ...more],
      cwd,
    }));
  const inFile = on("matrix-bot-sdk", "bot_sdk.mjs", "--store=file").slice(0, 1);
  return {
    plain: [
      ...on("matrix-bot-sdk", "bot_sdk.mjs"),
      ...inFile.map((entrant) => ({ ...entrant, name: `${entrant.name}, file`, playsOnly: true })),
      ...on("matrix-js-sdk", "js_sdk.mjs"),
    ],
    encrypted: on("matrix-js-sdk", "js_sdk.mjs", ENCRYPTED).slice(0, 1),
  };
}

async function mautrix(print: (line: string) => void): Promise<Entrants> {
  const command = await installPython(PEER_PACKAGES.mautrix, print);
  const encrypted = [`${CONTESTANTS}/mautrix_encrypted.py`, ENCRYPTED];
  return {
    plain: [{ name: "mautrix-python", command, args: [`${CONTESTANTS}/mautrix_client.py`] }],
    encrypted: [
      { name: "mautrix-python, memory", command, args: encrypted },
      { name: "mautrix-python, SQLite", command, args: [...encrypted, "--store=sqlite"] },
    ],
  };
}

async function nio(print: (line: string) => void): Promise<Entrants> {
  const command = await installPython(PEER_PACKAGES.nio, print);
  const args = [`${CONTESTANTS}/nio_client.py`];
  return {
    plain: [{ name: "matrix-nio", command, args }],
    encrypted: [{ name: "matrix-nio, SQLite", command, args: [...args, ENCRYPTED] }],
  };
}
