/**
 * A bot on a Synapse is killed with SIGKILL at random moments and started again: is each message
 * that it is sent answered exactly once, do its sessions count without a gap, is everything that it
 * sends decrypted exactly once, and is no index of a ratchet used twice?
 *
 * `deno task kill [KILLS] [--store=kv|sqlite|denokv] [--wake] [--transactions] [--kit]
 * [--sliding] [--seed=NUMBER]`
 *
 * `deno task workers deno task kill` has it sync by two workers in turns.
 *
 * With `--wake` it does not poll: the homeserver wakes it, and it makes passes. With
 * `--transactions` it is an application service; every other process of it is not started, but
 * handles each transaction with its request.
 *
 * With `--sliding` it syncs by sliding sync.
 *
 * With `--kit` it is a bot of the kit: people order from it in several steps, have it stream, and are
 * reminded by it. Is each step taken once, and what is due done once?
 *
 * It talks in three encrypted rooms, in one of which sessions rotate every few messages, and
 * answers there and in two rooms that are not encrypted; the others in them are another client of
 * ours and devices of matrix-nio. Half of the kills come at any time, the others right at a
 * request, a commit or the end of a handler. With `denokv`, that server is killed now and then too.
 * The exit code is 1 if anything was lost, repeated, refused or used twice, or is stuck in the end.
 *
 * @module
 */

import { freePort } from "../tools/free_port.ts";
import { Synapse } from "../tools/synapse.ts";
import type { SynapseServer } from "../tools/synapse/register_user.ts";
import { appserviceSynapse } from "./kill/appservice_synapse.ts";
import type { Way } from "./kill/setup.ts";
import { STORE_KINDS, type StoreKind } from "./kill/store_place.ts";

const URL_VARIABLE = "GREENROOM_SYNAPSE_URL";
const NAME_VARIABLE = "GREENROOM_SYNAPSE_NAME";
const SECRET_VARIABLE = "GREENROOM_SYNAPSE_SECRET";

/** How many problems are printed. */
const TOLD = 60;

interface Choice {
  readonly kills: number;
  readonly seed: number;
  readonly store: StoreKind;
  /** How the bot gets what is new. */
  readonly by: "polling" | "wake" | "transactions";
  /** How it syncs. Default: by the classic sync. */
  readonly sync: Way["sync"];
  /** Whether it is a bot of the kit. */
  readonly isKit: boolean;
}

async function main({ kills, seed, store, by, sync, isKit }: Choice): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  let way: Way = { ...(by === "wake" && { port: freePort() }), ...(sync !== undefined && { sync }) };
  let synapse: SynapseServer;
  if (by === "transactions") {
    ({ synapse, way } = stack.use(await appserviceSynapse(freePort())));
  } else synapse = givenServer() ?? stack.use(await Synapse.start());
  // What the tests against Synapse share looks for it there, and would start one of its own.
  Deno.env.set(URL_VARIABLE, synapse.baseUrl);
  Deno.env.set(NAME_VARIABLE, synapse.serverName);
  Deno.env.set(SECRET_VARIABLE, synapse.sharedSecret);
  const { killKitRun } = await import("./kill/kit/run.ts");
  const { killRun } = await import("./kill/run.ts");
  console.log(
    `${kills} kills ${isKit ? "of the kit " : ""}on ${store}, by ${by}, ${
      sync ?? "classic"
    } sync, seed ${seed}`,
  );
  const { counts, problems } = await (isKit ? killKitRun : killRun)(synapse, {
    kills,
    seed,
    store,
    way,
    print: console.log,
    keep: true,
  });
  console.table(counts);
  for (const problem of problems.slice(0, TOLD)) console.log(problem);
  if (problems.length > TOLD) console.log(`… and ${problems.length - TOLD} more`);
  return problems.length === 0;
}

/** The Synapse that runs already, as `deno task workers` says it. */
function givenServer(): SynapseServer | undefined {
  const [baseUrl, serverName, sharedSecret] = [URL_VARIABLE, NAME_VARIABLE, SECRET_VARIABLE].map((name) =>
    Deno.env.get(name)
  );
  if (baseUrl === undefined || serverName === undefined || sharedSecret === undefined) return undefined;
  return { baseUrl, serverName, sharedSecret };
}

/** What the command line says. */
function choice(args: readonly string[]): Choice {
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const store = STORE_KINDS.find((kind) => kind === (option("store") ?? "kv"));
  if (store === undefined) {
    console.error(`Cannot use that store: there are only ${STORE_KINDS.join(", ")}`);
    Deno.exit(2);
  }
  const kills = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 200);
  const by = (["wake", "transactions"] as const).find((each) => args.includes(`--${each}`)) ?? "polling";
  return {
    kills,
    seed: Number(option("seed") ?? Date.now() % 1_000_000),
    store,
    by,
    sync: args.includes("--sliding") ? "sliding" : undefined,
    isKit: args.includes("--kit"),
  };
}

if (import.meta.main) {
  const passed = await main(choice(Deno.args));
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
