/**
 * What of the package takes options, as `deno doc` tells of it.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { run } from "../process.ts";

/** A function, a method or a constructor with an object of options. */
export interface OptionTaker {
  /** The class or interface; empty: none. */
  readonly owner: string;
  /** Its name; of a constructor, `new` and the class. */
  readonly name: string;
  /** Which of its parameters the options are. */
  readonly index: number;
}

interface Type {
  readonly kind?: string;
  readonly repr?: string;
  readonly value?: unknown;
}

interface Parameter {
  readonly tsType?: Type;
  /** Of one with a default. */
  readonly left?: { readonly tsType?: Type };
}

interface Member {
  readonly name: string;
  readonly accessibility?: string;
  readonly params?: readonly Parameter[];
  readonly functionDef?: { readonly params: readonly Parameter[] };
  readonly tsType?: Type;
}

interface Declaration {
  readonly kind: string;
  readonly def?: {
    readonly params?: readonly Parameter[];
    readonly constructors?: readonly { readonly params: readonly Parameter[] }[];
    readonly methods?: readonly Member[];
    readonly properties?: readonly Member[];
  };
}

interface Documentation {
  readonly nodes: Readonly<
    Record<string, { readonly symbols: readonly { name: string; declarations: readonly Declaration[] }[] }>
  >;
}

let found: Promise<readonly OptionTaker[]> | undefined;

/** All that takes options. */
export function optionTakers(): Promise<readonly OptionTaker[]> {
  return found ??= read();
}

async function read(): Promise<OptionTaker[]> {
  const { stdout } = await run("deno", ["doc", "--json", ...Object.values(denoJson.exports)]);
  const { nodes }: Documentation = JSON.parse(stdout);
  const takers = new Map<string, OptionTaker>();
  const note = (owner: string, name: string, params: readonly Parameter[] | undefined) => {
    const index = (params ?? []).findLastIndex((each) => isOptions(each.left?.tsType ?? each.tsType));
    if (index >= 0) takers.set(`${owner} ${name} ${index}`, { owner, name, index });
  };
  for (const { name, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    const isClass = declarations.some(({ kind }) => kind === "class");
    for (const { kind, def = {} } of declarations) {
      if (isClass && kind === "interface") continue; // shows members from elsewhere, which are found there
      if (kind === "function") note("", name, def.params);
      for (const { params } of def.constructors ?? []) note("", `new ${name}`, params);
      for (const member of [...def.methods ?? [], ...def.properties ?? []]) {
        if (member.accessibility !== undefined && member.accessibility !== "public") continue;
        const type = member.tsType?.kind === "fnOrConstructor" ? member.tsType.value as Member : undefined;
        note(name, member.name, member.params ?? member.functionDef?.params ?? type?.params);
      }
    }
  }
  return [...takers.values()];
}

/** Whether a type is one of options: its name says so, or it is written out as an object. */
function isOptions(type: Type | undefined): boolean {
  return type !== undefined && /"repr":"\w*(Options|Init)"|"kind":"typeLiteral"/.test(JSON.stringify(type));
}
