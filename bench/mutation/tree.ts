/**
 * A copy of the repository in which each guard is a switch.
 *
 * @module
 */

import { dirname } from "node:path";
import { ROOT, run } from "../../tools/process.ts";
import { plant } from "./guards.ts";
import type { Mutant } from "./types.ts";

/** What is mutated: encryption and what has to do with it, and what guards against others besides. */
const MUTATED = [
  /^src\/(?:crypto|encryption)\/.*\.ts$/,
  /^vodozemac-wasm\/(?:mod|src\/\w+)\.ts$/,
  /^src\/actors\/crypto\/\w+\.ts$/,
  /^src\/actors\/syncer\/(?:membership|sync_batch|sync_parts)\.ts$/,
  /^src\/actors\/dispatcher\/delivery_scope\.ts$/,
  /^src\/base\/runs\.ts$/,
  /^src\/errors\/matrix_error\.ts$/,
  /^src\/types\/checks\/event_check\.ts$/,
  /^src\/client\/(?:client_core|encrypting_api)\.ts$/,
  /^src\/client\/serving\/serving\.ts$/,
  /^src\/api\/http\/exchange\.ts$/,
  /^src\/store\/(?:files|sealed)\/\w+\.ts$/,
  /^src\/appservice\/(?:ghost_encryption|homeserver_door|registration)\.ts$/,
  /^src\/bot\/(?:media|policy|polls)\/\w+\.ts$/,
  /^src\/bot\/moderation\/(?:policy_lists|server_acl)\.ts$/,
  /^src\/bot\/text\/(?:close_markdown|format_message)\.ts$/,
  /^src\/bot\/(?:updates|context\/(?:context|choices))\.ts$/,
];

/** Files without which neither sources nor tests can be loaded. */
const NEEDED = /\.(?:ts|js|json|wasm|md|txt|py|lock|toml|rs)$/;
/** Where in the tree the switch and the worker are. */
const HERE = "bench/mutation";

/** The tree, and what can be broken in it. */
export interface Tree {
  /** Its folder; it goes when this is disposed of. */
  readonly root: string;
  readonly mutants: readonly Mutant[];
  /** The number of guards, by file. */
  readonly guards: ReadonlyMap<string, number>;
  /** Its test files in a folder, or the one that is named, from {@link root} on. */
  tests(place: string): readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Copies the files that git tracks, and instruments the sources. */
export async function plantTree(): Promise<Tree> {
  const { code, stdout, output } = await run("git", [
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  if (code !== 0) throw new Error(`Cannot list the repository's files: git said ${output}`);
  const paths = stdout.split("\0").filter((path) => NEEDED.test(path) && !path.includes(".cache")).toSorted();
  const root = `${await Deno.makeTempDir({ prefix: "mutants-" })}/`;
  const mutants: Mutant[] = [];
  const guards = new Map<string, number>();
  for (const path of paths) {
    await Deno.mkdir(dirname(root + path), { recursive: true });
    if (!MUTATED.some((mutated) => mutated.test(path))) {
      await Deno.copyFile(ROOT + path, root + path).catch(unlessGone);
      continue;
    }
    const planted = plant(path, await Deno.readTextFile(ROOT + path), mutants.length + 1);
    mutants.push(...planted.mutants);
    guards.set(path, planted.guards);
    const toSwitch = `${"../".repeat(path.split("/").length - 1)}${HERE}/switch.ts`;
    await Deno.writeTextFile(root + path, `import * as __m from "${toSwitch}"; ${planted.text}`);
  }
  return {
    root,
    mutants,
    guards,
    tests: (place) => paths.filter((path) => `${path}/`.startsWith(`${place}/`) && path.endsWith("_test.ts")),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
