/**
 * What the package exports, as `deno doc` tells of it.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { ROOT, run } from "../process.ts";

/** A comment. */
interface JsDoc {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string }[];
}

/** A member of a class or an interface. */
export interface ExportedMember {
  readonly name: string;
  /** Of a method: what it is. */
  readonly kind?: string;
  readonly accessibility?: string;
  /** Whether its name is a symbol. */
  readonly computed?: boolean;
  /** Of a property. */
  readonly readonly?: boolean;
  readonly optional?: boolean;
  readonly tsType?: { readonly repr: string };
  /** Of a method or a getter. */
  readonly functionDef?: { readonly returnType?: { readonly repr: string } };
  readonly jsDoc?: JsDoc;
}

/** Something that is exported. */
export interface Exported {
  readonly name: string;
  /** The entry that exports it first, as programs import it. */
  readonly entry: string;
  readonly kind: string;
  readonly doc: string;
  readonly jsDoc: JsDoc | undefined;
  /** The class that it extends. */
  readonly base: string | undefined;
  readonly members: readonly ExportedMember[];
}

/** As much as is read of what `deno doc --json` writes. */
interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocumentedSymbol[] }>>;
}

interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly jsDoc?: JsDoc;
    readonly def?: {
      readonly extends?: unknown;
      readonly properties?: readonly ExportedMember[];
      readonly methods?: readonly ExportedMember[];
    };
  }[];
}

let found: Promise<readonly Exported[]> | undefined;

/** All that the entries export, each name and kind once. */
export function exportedSymbols(): Promise<readonly Exported[]> {
  return found ??= read();
}

async function read(): Promise<Exported[]> {
  const { stdout } = await run("deno", ["doc", "--json", ...Object.values(denoJson.exports)]);
  const { nodes }: Documentation = JSON.parse(stdout);
  const all = new Map<string, Exported>();
  for (const [path, file] of Object.entries(denoJson.exports)) {
    const { symbols = [] } = nodes[new URL(file, `file://${ROOT}`).href] ?? {};
    for (const { name, declarations } of symbols) {
      for (const { kind, jsDoc, def } of declarations) {
        const key = `${kind} ${name}`;
        if (all.has(key) || kind === "reference") continue; // to what an entry before exports, too
        all.set(key, {
          ...{ name, kind, entry: `${denoJson.name}${path.slice(1)}`, doc: jsDoc?.doc ?? "", jsDoc },
          base: typeof def?.extends === "string" ? def.extends : undefined,
          members: [...def?.properties ?? [], ...def?.methods ?? []],
        });
      }
    }
  }
  return [...all.values()];
}
