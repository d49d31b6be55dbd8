/**
 * Installs programs in Python, pinned, into the repository's ignored folder `.cache/`.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { inTurn, ROOT, run } from "./process.ts";

const CACHE = `${ROOT}.cache`;

/** Why nothing can be installed where {@linkcode findPython} finds nothing, and what to do. */
export const NO_PYTHON =
  "no Python 3.10 or newer with venv and pip was found; install python3 and python3-venv";

/** What is installed: a package, which `tools/python/<name>.txt` pins with all that it needs. */
export interface PythonPackage {
  /** The name of the file with the pins, and of the folder. */
  name: string;
  /** The package that gives the folder its version. */
  package: string;
}

/** libolm, to compare with. */
export const LIBOLM: PythonPackage = { name: "libolm", package: "python-olm" };

/** A Python that can hold them. */
export interface Python {
  /** How to call it. */
  command: string;
  /** What it says of its version. */
  version: string;
}

/**
 * The Python to install with: 3.10 or newer, with `venv` and `pip`; `undefined` if there is none.
 */
export async function findPython(): Promise<Python | undefined> {
  const probe = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(sys.version)";
  for (const command of ["python3", "python"]) {
    try {
      const { code, output } = await run(command, ["-c", probe]);
      if (code === 0) return { command, version: output.trim() };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return undefined;
}

/**
 * Makes sure that a package is installed.
 *
 * A stamp is written last, so that an installation that did not come to its end is done again, as
 * is one of other versions. One process installs while the others wait.
 *
 * @param print Takes the line that says why the first run takes longer.
 * @returns The path of the Python that has the package.
 */
export async function installPython(wanted: PythonPackage, print: (line: string) => void): Promise<string> {
  const python = await findPython();
  if (python === undefined) throw new Error(`Cannot install ${wanted.package}: ${NO_PYTHON}`);
  const pins = `${ROOT}tools/python/${wanted.name}.txt`;
  const requirements = await readPins(pins);
  const version = requirements.match(new RegExp(`^${wanted.package}==(\\S+)$`, "m"))?.[1];
  if (version === undefined) throw new Error(`Cannot install ${wanted.package}: ${pins} does not pin it`);

  const folder = `${CACHE}/${wanted.name}-${version}`;
  const stamp = createHash("sha256").update(`${python.version}\n${requirements}`).digest("hex");
  return await inTurn(`${folder}.lock`, async () => {
    if (await readIfPresent(`${folder}/installed`) !== stamp) {
      print(`installing ${wanted.package} ${version}: once, a minute or two`);
      await removeIfPresent(folder);
      await mustRun(python.command, ["-m", "venv", folder]);
      await mustRun(`${folder}/bin/python`, ["-m", "pip", "install", "--quiet", "--requirement", pins]);
      await Deno.writeTextFile(`${folder}/installed`, stamp);
    }
    return `${folder}/bin/python`;
  });
}

/** The pins of a file, and of those that it names with `-r`. */
async function readPins(path: string): Promise<string> {
  const pins = await Deno.readTextFile(path);
  const named = pins.matchAll(/^-r (\S+)$/gm).map(([, name]) => readPins(`${ROOT}tools/python/${name}`));
  return [pins, ...await Promise.all(named)].join("\n");
}

async function mustRun(command: string, args: string[]): Promise<void> {
  const { code, output } = await run(command, args);
  if (code !== 0) throw new Error(`Cannot install: ${command} ${args.join(" ")} failed:\n${output}`);
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function removeIfPresent(folder: string): Promise<void> {
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
