/**
 * Writes `src/client/option_places.ts`: which argument of each operation of a client its options are, for the
 * error of a call that gives something else there.
 *
 * `deno task members` writes it; a test says when it is out of date.
 *
 * @module
 */

import { formatted } from "./formatted.ts";
import { ROOT, run } from "./process.ts";

/** Where they are. */
export const PLACES_FILE = "src/client/option_places.ts";

/** What clients have by other ways: `client_operations.ts` does not check how it is called. */
const OTHERS: ReadonlySet<string> = new Set([
  ...[
    "start",
    "syncOnce",
    "dispatchInternalEvent",
    "runInternalEvent",
    "dispatchManualEvent",
    "addEventHandler",
  ],
  ...["logout", "logoutAll", "deactivateAccount", "registerWake"],
]);

interface Definition {
  readonly methods?: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly tsType?: { readonly repr?: string } }[];
  }[];
}

interface Documentation {
  readonly nodes: Record<string, {
    readonly symbols: readonly {
      readonly name: string;
      readonly declarations: readonly { readonly kind: string; readonly def?: Definition }[];
    }[];
  }>;
}

/** The text of the file. */
export async function placesText(): Promise<string> {
  const { stdout } = await run("deno", ["doc", "--json", "mod.ts"]);
  const { nodes } = JSON.parse(stdout) as Documentation;
  const places: Set<string>[] = [];
  for (const { name: symbol, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    if (symbol !== "Client") continue;
    const interfaces = declarations.filter(({ kind }) => kind === "interface");
    for (const { name, params } of interfaces.flatMap(({ def }) => def?.methods ?? [])) {
      const last = params.at(-1);
      const hasOptions = last?.name === "options" && /Options$/.test(last.tsType?.repr ?? "");
      if (hasOptions && !OTHERS.has(name)) (places[params.length - 1] ??= new Set()).add(name);
    }
  }
  const lines = Array.from(places, (names) => `  ${JSON.stringify([...names ?? []].join(" "))},`);
  return await formatted(`/**
 * Where operations take options. A file of its own because \`deno task members\` writes it.
 *
 * @module
 */

/** The names of operations, by the number of arguments in front of the options. */
export const OPTION_PLACES: readonly string[] = [
${lines.join("\n")}
];
`);
}

/** Writes the file. */
export async function writePlaces(): Promise<void> {
  await Deno.writeTextFile(`${ROOT}${PLACES_FILE}`, await placesText());
}
