/**
 * Writes `src/client/signatures.ts`: how each operation of a client is called, for the error of a call that
 * gives something else than options where they belong.
 *
 * `deno task members` writes it; a test says when it is out of date.
 *
 * @module
 */

import { formatted } from "./formatted.ts";
import { ROOT, run } from "./process.ts";

/** Where they are. */
export const SIGNATURES_FILE = "src/client/signatures.ts";

/** How many options a signature names. */
const NAMED = 6;

/** What every request takes: no signature names it. */
const EVERYWHERE = ["RequestOptions"];

interface Type {
  readonly repr?: string;
  readonly kind?: string;
  readonly value?: unknown;
}

interface Definition {
  readonly extends?: readonly Type[];
  readonly properties?: readonly { readonly name: string }[];
  readonly methods?: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly tsType?: Type }[];
  }[];
}

/** The text of the file. */
export async function signaturesText(): Promise<string> {
  const { stdout } = await run("deno", ["doc", "--json", "mod.ts", "types.ts"]);
  const { nodes } = JSON.parse(stdout) as {
    readonly nodes: Record<string, {
      readonly symbols: readonly {
        readonly name: string;
        readonly declarations: readonly { readonly kind: string; readonly def?: Definition }[];
      }[];
    }>;
  };
  const interfaces = new Map<string, Definition[]>();
  for (const { name, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    interfaces.set(name, declarations.flatMap(({ kind, def }) => kind === "interface" && def ? [def] : []));
  }
  const optionsOf = (name: string): string[] =>
    EVERYWHERE.includes(name) ? [] : (interfaces.get(name) ?? []).flatMap((def) => [
      ...(def.properties ?? []).map((each) => each.name),
      ...(def.extends ?? []).flatMap((base) => ofBase(base, optionsOf)),
    ]);
  const lines = new Map<string, string>();
  for (const { name, params } of (interfaces.get("Client") ?? []).flatMap(({ methods }) => methods ?? [])) {
    const last = params.at(-1);
    if (last?.name !== "options" || lines.has(name) || !/Options$/.test(last.tsType?.repr ?? "")) continue;
    const own = [...new Set(optionsOf(last.tsType?.repr ?? ""))];
    const shown = [...own.slice(0, NAMED), ...(own.length > NAMED ? ["…"] : [])].join(", ");
    const options = own.length === 0 ? "options" : `{ ${shown} }`;
    lines.set(name, [...params.slice(0, -1).map((each) => each.name), options].join(", "));
  }
  const members = [...lines].map(([name, text]) => `  ${name}: ${JSON.stringify(text)},`);
  return await formatted(`/**
 * How operations that take options are called, with their first options. \`deno task members\` writes it.
 *
 * @module
 */

/** The arguments of each, as an error shows them. */
export const SIGNATURES: Readonly<Record<string, string>> = {
${members.join("\n")}
};
`);
}

/** The options of what an interface extends: of all, of those that `Pick` names, or but for those of `Omit`. */
function ofBase({ repr = "", value }: Type, optionsOf: (name: string) => string[]): string[] {
  const { typeParams = [] } = (value ?? {}) as { readonly typeParams?: readonly Type[] };
  const [base, keys] = typeParams;
  if (repr !== "Pick" && repr !== "Omit" || base === undefined) return optionsOf(repr);
  const named = new Set(JSON.stringify(keys).match(/(?<="string":")\w+/g));
  return optionsOf(base.repr ?? "").filter((name) => named.has(name) === (repr === "Pick"));
}

/** Writes the file. */
export async function writeSignatures(): Promise<void> {
  await Deno.writeTextFile(`${ROOT}${SIGNATURES_FILE}`, await signaturesText());
}
