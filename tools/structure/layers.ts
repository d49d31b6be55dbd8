/**
 * The layers of `src/`: imports go down only, and the kernel of the actors is free of Matrix.
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
  /** Files that may be imported though their layers may not. */
  besides?: string[];
}

/** From the top down; a file belongs to the first that fits. */
const layers: Layer[] = [
  {
    name: "mod",
    files: /^(?:mod|types|errors)\.ts$/,
    imports: [
      "client",
      "encryption",
      "kernel",
      "actors",
      "api",
      "crypto",
      "store",
      "ground",
      "platform",
      "places",
    ],
  },
  {
    name: "cli",
    files: /^src\/cli\//,
    imports: ["mod"], // as applications do
    // Entries of the package, what errors ask for, the nearest name, what holds a device,
    // and what warns of key files that others may read.
    besides: [
      "src/errors/known_names.ts",
      "src/errors/hints.ts",
      "src/appservice/mod.ts",
      "src/oauth/mod.ts",
      "src/store/kv.ts",
      "src/store/sqlite.ts",
      "src/store/device/mod.ts",
      "src/store/files/files.ts",
    ],
  },
  {
    name: "bot",
    files: /^src\/bot\//,
    imports: ["mod", "platform", "places", "names"], // as applications do
    // Entries of the package, what finds homeservers, names of other libraries, what warns of key files
    // that others may read, what a signal ends, durations, handlers that call, HTML as text, bounded maps,
    // the turns by which queues keep their order, too, and spans.
    besides: [
      "src/oauth/mod.ts",
      "src/api/server/server.ts",
      "src/errors/hints.ts",
      "src/store/kv.ts",
      "src/store/sqlite.ts",
      "src/store/files/files.ts",
      "src/base/until_signal.ts",
      "src/base/clock.ts",
      "src/base/handler_call.ts",
      "src/base/html_text.ts",
      "src/base/recent_map.ts",
      "src/base/runs.ts",
      "src/base/telemetry.ts",
      "src/base/tracing.ts",
    ],
  },
  {
    name: "appservice",
    files: /^src\/appservice\//,
    imports: ["names", "client", "encryption", "actors", "api", "store", "ground", "platform", "places"],
  },
  {
    name: "oauth",
    files: /^src\/oauth\//,
    imports: ["names", "api", "store", "ground", "platform", "places"],
    types: ["client"],
  },
  {
    name: "synapse_admin",
    files: /^src\/synapse_admin\//,
    imports: ["names", "api", "ground", "platform", "places"],
  },
  {
    name: "client",
    files: /^src\/client\//,
    imports: [
      "encryption",
      "kernel",
      "actors",
      "api",
      "crypto",
      "store",
      "ground",
      "platform",
      "places",
      "names",
    ],
  },
  {
    name: "encryption",
    files: /^src\/encryption\//,
    imports: ["kernel", "actors", "api", "crypto", "store", "ground", "platform", "places", "names"],
  },
  // Free of Matrix, see below.
  { name: "kernel", files: /^src\/actors\/kernel\//, imports: ["ground", "platform"] },
  {
    name: "actors",
    files: /^src\/actors\//,
    imports: ["names", "kernel", "api", "crypto", "store", "ground", "platform", "places"],
  },
  { name: "api", files: /^src\/api\//, imports: ["names", "ground", "platform"] },
  { name: "crypto", files: /^src\/crypto\//, imports: ["ground", "platform", "vodozemac"], types: ["store"] },
  { name: "store", files: /^src\/store\//, imports: ["names", "ground", "platform"] },
  {
    name: "trace",
    files: /^src\/trace\//,
    imports: ["names", "ground"],
    types: ["mod"], // as applications do
    besides: ["src/testing/mod.ts"],
  },
  {
    name: "testing",
    files: /^src\/testing\//,
    imports: ["names", "ground", "platform", "places"],
    types: ["mod"], // as applications do; its values would load the client
    besides: ["src/store/base/mod.ts"], // for the `MemoryStore` that a bot is tried with
  },
  { name: "vodozemac", files: /^vodozemac-wasm\//, imports: [] }, // a package of its own
  { name: "platform", files: /^src\/base\/platform\//, imports: [] }, // the port to where it runs
  { name: "places", files: /^src\/base\/own_code\.ts$/, imports: [] }, // says which code is the package's
  {
    name: "names",
    files: /^src\/errors\/(known_names|check_function)\.ts$/,
    imports: ["ground", "platform"],
  }, // refuse typing errors
  { name: "ground", files: /^src\/(types|errors|base)\//, imports: ["platform", "places", "names"] },
];

const layerOf = (path: string) => layers.find((layer) => layer.files.test(path));

/**
 * Imports that go up, sideways, or out of the product; and files of the product that are in no
 * layer.
 */
export function checkLayers(edges: ImportEdge[], paths: string[]): Violation[] {
  const strays = paths
    .filter((path) => path.startsWith("src/") && layerOf(path) === undefined)
    .map((path) => `${path}: belongs to no layer; add one to tools/structure/layers.ts`);
  const wrong = edges.flatMap(({ from, to, typeOnly }) => {
    const [importer, imported] = [layerOf(from), layerOf(to)];
    if (importer === undefined || importer === imported || to.startsWith("third_party/")) return [];
    if (imported === undefined) return [`${from}: imports ${to}, which is outside of the product`];
    const allowed = [...importer.imports, ...(typeOnly ? importer.types ?? [] : [])];
    return allowed.includes(imported.name) || importer.besides?.includes(to)
      ? []
      : [`${from}: ${importer.name} must not import ${to}`];
  });
  return [...strays, ...wrong];
}

/** The modules of the encryption, from the bottom up: each may import those before it. */
const CRYPTO_MODULES = [
  ...["encoding", "ciphers", "records", "requests", "context"], // the ground
  ...["account", "devices", "identity"],
  ...["olm", "megolm", "sharing", "key_requests"], // sessions, and asking for their keys
  ...["attachments", "secrets", "key_files", "verification", "backup", "secret_requests"],
  ...["dehydration", "history"],
  "engine",
];

/** Imports of the encryption's modules that go up, and modules that have no place among them. */
export function checkCryptoModules(edges: ImportEdge[]): Violation[] {
  const moduleOf = (path: string) => /^src\/crypto\/(\w+)\//.exec(path)?.[1];
  return edges.flatMap(({ from, to }) => {
    const [importer, imported] = [moduleOf(from), moduleOf(to)];
    if (importer === undefined || imported === undefined || importer === imported) return [];
    const [upper, lower] = [CRYPTO_MODULES.indexOf(importer), CRYPTO_MODULES.indexOf(imported)];
    if (upper < 0) return [`${from}: its folder is not among the encryption's in tools/structure/layers.ts`];
    return lower >= 0 && lower < upper ? [] : [`${from}: ${importer} must not import ${to}`];
  });
}

const kernel = /^src\/actors\/kernel\//;
const kernelMayImport = /^src\/(actors\/kernel\/\w+|errors\/matrix_error|base\/\w+|base\/platform\/mod)\.ts$/;

/** What the kernel of the actors imports of Matrix. */
export function checkKernel(edges: ImportEdge[]): Violation[] {
  return edges
    .filter(({ from, to }) => kernel.test(from) && to.startsWith("src/") && !kernelMayImport.test(to))
    .map(({ from, to }) => `${from}: belongs to the actors' kernel and must not import ${to}`);
}
