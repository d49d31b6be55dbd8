/**
 * Who imports whom, as Deno itself sees it: type imports, re-exports and dynamic imports included.
 *
 * @module
 */

import { ROOT, run } from "../process.ts";
import type { ImportEdge } from "./types.ts";

interface DenoInfo {
  modules: {
    specifier: string;
    dependencies?: { code?: { specifier?: string }; type?: { specifier?: string }; isDynamic?: boolean }[];
  }[];
}

/**
 * The imports among files of the repository, starting from the given ones.
 *
 * @param paths Files, by their paths from the repository's folder on.
 */
export async function importGraph(paths: string[]): Promise<ImportEdge[]> {
  // A file, since the arguments of a command are limited.
  const list = await Deno.makeTempFile({ prefix: "imports-", suffix: ".ts" });
  try {
    const source = paths.map((path) => `import ${JSON.stringify(`file://${ROOT}${path}`)};\n`).join("");
    await Deno.writeTextFile(list, source);
    const { code, output, stdout } = await run("deno", ["info", "--json", "--config=deno.json", list]);
    if (code !== 0) throw new Error(`Cannot read the imports: deno info said\n${output}`);
    return edges(JSON.parse(stdout), `file://${ROOT}`);
  } finally {
    await Deno.remove(list);
  }
}

function edges(info: DenoInfo, root: string): ImportEdge[] {
  const local = (specifier: string | undefined): specifier is string => specifier?.startsWith(root) === true;
  return info.modules.filter((module) => local(module.specifier)).flatMap((module) =>
    (module.dependencies ?? []).flatMap(({ code, type, isDynamic }) => {
      const target = code?.specifier ?? type?.specifier;
      if (!local(target)) return [];
      return [{
        from: module.specifier.slice(root.length),
        to: target.slice(root.length),
        typeOnly: code === undefined,
        lazy: isDynamic === true,
      }];
    })
  );
}
