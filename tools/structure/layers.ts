/**
 * The layers of `src/`: imports go down only, and the kernel of the actors knows no Matrix.
 *
 * @module
 */

import type { ImportEdge, Violation } from "./types.ts";

/** A part of the product, and what it may import beside itself. */
interface Layer {
  name: string;
  files: RegExp;
  imports: string[];
  /** Layers of which only types may be imported. */
  types?: string[];
}

/** From the top down; a file belongs to the first that fits. */
const layers: Layer[] = [
  { name: "mod", files: /^mod\.ts$/, imports: ["client", "actors", "api", "crypto", "store", "ground"] },
  {
    name: "client",
    files: /^src\/client(_(dispatcher|encryption|life|operations|options|store))?\.ts$/,
    imports: ["actors", "api", "crypto", "store", "ground"],
  },
  { name: "actors", files: /^src\/actors\//, imports: ["api", "crypto", "store", "ground"] },
  { name: "api", files: /^src\/api\//, imports: ["ground"] },
  { name: "crypto", files: /^src\/crypto\//, imports: ["ground", "vodozemac"], types: ["store"] },
  { name: "store", files: /^src\/store\//, imports: ["ground"] },
  { name: "testing", files: /^src\/testing\//, imports: ["ground", "vodozemac"], types: ["store"] },
  { name: "vodozemac", files: /^vodozemac-wasm\//, imports: [] }, // a package of its own
  { name: "ground", files: /^src\/((types|errors)\/|[^/]+$)/, imports: [] }, // types, errors, clock, log, …
];

const layerOf = (path: string) => layers.find((layer) => layer.files.test(path));

/** Imports that go up, sideways, or out of the product; and files of the product that are in no layer. */
export function checkLayers(edges: ImportEdge[], paths: string[]): Violation[] {
  const strays = paths
    .filter((path) => path.startsWith("src/") && layerOf(path) === undefined)
    .map((path) => `${path}: belongs to no layer; add one to tools/structure/layers.ts`);
  const wrong = edges.flatMap(({ from, to, typeOnly }) => {
    const [importer, imported] = [layerOf(from), layerOf(to)];
    if (importer === undefined || importer === imported || to.startsWith("third_party/")) return [];
    if (imported === undefined) return [`${from}: imports ${to}, which is outside of the product`];
    const allowed = [...importer.imports, ...(typeOnly ? importer.types ?? [] : [])];
    return allowed.includes(imported.name) ? [] : [`${from}: ${importer.name} must not import ${to}`];
  });
  return [...strays, ...wrong];
}

const kernel = /^src\/actors\/(actor|mailbox|port|spawn|supervisor)\.ts$/;
const kernelMayImport = /^src\/(actors\/\w+|errors\/(actor|matrix|value)_error|types\/json|clock|log)\.ts$/;

/** What the kernel of the actors, or a file of `src/actors/` that it reaches, imports of Matrix. */
export function checkKernel(edges: ImportEdge[]): Violation[] {
  const targets = Map.groupBy(edges, (edge) => edge.from);
  const reached = new Set(edges.map((edge) => edge.from).filter((path) => kernel.test(path)));
  const violations: Violation[] = [];
  for (const path of reached) { // grows while it is walked
    for (const { to } of targets.get(path) ?? []) {
      if (to.startsWith("src/actors/")) reached.add(to);
      if (to.startsWith("src/") && !kernelMayImport.test(to)) {
        violations.push(`${path}: belongs to the actors' kernel and must not import ${to}`);
      }
    }
  }
  return violations;
}
