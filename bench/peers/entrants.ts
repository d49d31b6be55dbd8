/**
 * Who takes part, and how they are started.
 *
 * @module
 */

import { PEER_PACKAGES } from "../../tools/peers.ts";
import { installPython } from "../../tools/python.ts";
import { installJsPeers, nodeVersion } from "./js_peers.ts";

const CONTESTANTS = `${import.meta.dirname ?? "."}/contestants`;

/** Somebody who takes part. */
export interface Entrant {
  /** As it stands in tables. */
  readonly name: string;
  /** The program. */
  readonly command: string;
  /** Its arguments, before those that say what to do. */
  readonly args: readonly string[];
  /** Where it runs. Default: here. */
  readonly cwd?: string;
  /** Whether each token is durable, in a file that is synced, before its events are handled. Default: false. */
  readonly durable?: boolean;
  /** Leaves out what nobody would do so: many idle clients in a process, say. Default: false. */
  readonly playsOnly?: boolean;
}

/** The names that goals are about. */
export const NAMES = {
  limit: "limit (fetch, JSON.parse)",
  durableLimit: "limit, token in SQLite",
  memory: "Greenroom, memory",
  sqlite: "Greenroom, SQLite",
  kv: "Greenroom, Deno KV",
  jsSdk: "matrix-js-sdk, Deno",
} as const;

/** Those who can be had here; who can't is named to `print`, and with `CI=true` an error unless `--own` leaves others out. */
export async function entrants(print: (line: string) => void): Promise<Entrant[]> {
  const all: Entrant[] = [
    deno(NAMES.limit, "limit.ts"),
    { ...deno(NAMES.durableLimit, "limit.ts", "--store=sqlite"), durable: true, playsOnly: true },
    deno(NAMES.memory, "greenroom.ts"),
    { ...deno(NAMES.sqlite, "greenroom.ts", "--store=sqlite"), durable: true, playsOnly: true },
    { ...deno(NAMES.kv, "greenroom.ts", "--store=kv"), durable: true, playsOnly: true },
  ];
  if (Deno.args.includes("--own")) return all;
  const tryTo = async (name: string, add: () => Promise<Entrant[]>) => {
    try {
      all.push(...await add());
    } catch (error) {
      if (Deno.env.get("CI") === "true") throw error;
      print(`${name} is left out: ${String(error)}`);
    }
  };
  await tryTo("who is written in JavaScript", () => inJavaScript(print));
  await tryTo("mautrix-python", async () => [await python("mautrix-python", "mautrix", print)]);
  await tryTo("matrix-nio", async () => [await python("matrix-nio", "nio", print)]);
  return all;
}

function deno(name: string, script: string, ...args: string[]): Entrant {
  const flags = ["--quiet", "--no-check", "--allow-all", "--unstable-kv", "--v8-flags=--expose-gc"];
  return { name, command: Deno.execPath(), args: ["run", ...flags, `${CONTESTANTS}/${script}`, ...args] };
}

async function inJavaScript(print: (line: string) => void): Promise<Entrant[]> {
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
      name: `${client}, ${title}${more.length === 0 ? "" : ", file"}`,
      command,
      args: [...args, script, ...more],
      cwd,
    }));
  const inFile = on("matrix-bot-sdk", "bot_sdk.mjs", "--store=file").slice(0, 1);
  return [
    ...on("matrix-bot-sdk", "bot_sdk.mjs"),
    ...inFile.map((entrant) => ({ ...entrant, playsOnly: true })),
    ...on("matrix-js-sdk", "js_sdk.mjs"),
  ];
}

async function python(
  name: string,
  peer: keyof typeof PEER_PACKAGES,
  print: (line: string) => void,
): Promise<Entrant> {
  const command = await installPython(PEER_PACKAGES[peer], print);
  return { name, command, args: [`${CONTESTANTS}/${peer}_client.py`] };
}
