/**
 * The npm packages of the lock file.
 *
 * @module
 */

import { ROOT } from "../process.ts";
import type { Dependency, Run } from "./types.ts";

/** What `deno info` says of a package. */
interface PackageInfo {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
  readonly localPath: string;
}

/** The packages, and the names of those that a program gets which imports Greenroom. */
export interface NpmPackages {
  readonly all: readonly Dependency[];
  readonly shipped: readonly string[];
}

/** Reads what the lock file and Deno's cache say of the packages. */
export async function npmPackages(run: Run, entries: readonly string[]): Promise<NpmPackages> {
  const lock = JSON.parse(await Deno.readTextFile(`${ROOT}deno.lock`));
  const infos = await Promise.all(
    entries.map(async (entry) => JSON.parse((await run("deno", ["info", "--json", entry])).stdout)),
  );
  const packages: Record<string, PackageInfo> = Object.assign(
    {},
    ...infos.map(({ npmPackages }) => npmPackages),
  );
  const all = Object.keys(lock.npm).map(async (id) => {
    const { name, version, localPath } = packages[id] ?? { name: id, version: "", localPath: "" };
    return {
      name: `${name} ${version}`.trim(),
      licence: await licenceIn(localPath),
      isHashed: /^sha512-/.test(lock.npm[id].integrity ?? ""),
    };
  });
  const shipped = new Set<string>();
  const add = (id: string): void => {
    if (shipped.has(id)) return;
    shipped.add(id);
    packages[id]?.dependencies.forEach(add);
  };
  for (const { modules } of infos) {
    for (const { kind, npmPackage } of modules) if (kind === "npm") add(npmPackage);
  }
  return { all: await Promise.all(all), shipped: [...shipped].map((id) => packages[id]?.name ?? id).sort() };
}

/** What a package's own description says: as a text, or as it was once written. */
async function licenceIn(folder: string): Promise<string | undefined> {
  const text = await Deno.readTextFile(`${folder}/package.json`).catch(() => undefined);
  if (text === undefined) return undefined;
  const { license, licenses } = JSON.parse(text);
  const all = [license ?? licenses ?? "none"].flat().map((each) => each?.type ?? each);
  return all.join(" AND ");
}
