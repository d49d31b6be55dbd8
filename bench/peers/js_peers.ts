/**
 * Installs other people's clients in JavaScript, pinned, into the repository's ignored folder
 * `.cache/`, beside the scripts that drive them: one folder for Deno and for Node.
 *
 * Deno installs them, and runs no scripts of theirs; so the native library that matrix-bot-sdk
 * would then download gets a stand-in.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { inTurn, ROOT, run } from "../../tools/process.ts";

const HERE = import.meta.dirname ?? ".";
const PINS = `${HERE}/npm`;
const SCRIPTS = ["drive.mjs", "quiet.mjs", "js_sdk.mjs", "bot_sdk.mjs", "bot_sdk_appservice.mjs"];
const NATIVE = "@matrix-org/matrix-sdk-crypto-nodejs";

/** Makes sure that they are installed; gives the folder that has the scripts. */
export async function installJsPeers(print: (line: string) => void): Promise<string> {
  const files = await Promise.all(
    ["package.json", "deno.lock", "stand_in/index.cjs"].map((name) => Deno.readTextFile(`${PINS}/${name}`)),
  );
  const stamp = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 16);
  const folder = `${ROOT}.cache/js-peers-${stamp}`;
  return await inTurn(`${folder}.lock`, async () => {
    if (!await exists(`${folder}/installed`)) {
      print("installing matrix-js-sdk and matrix-bot-sdk (once)");
      await Deno.mkdir(folder, { recursive: true });
      for (const name of ["package.json", "deno.lock"]) {
        await Deno.copyFile(`${PINS}/${name}`, `${folder}/${name}`);
      }
      await install(folder);
      await putStandIn(folder);
      await Deno.writeTextFile(`${folder}/installed`, "");
    }
    for (const name of SCRIPTS) await Deno.copyFile(`${HERE}/contestants/${name}`, `${folder}/${name}`);
    return folder;
  });
}

async function install(folder: string): Promise<void> {
  const args = ["install", "--quiet", "--frozen", "--node-modules-dir=auto"];
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder }).output();
  if (code !== 0) {
    throw new Error(`Cannot install clients in JavaScript: ${new TextDecoder().decode(stderr)}`);
  }
}

/** The file is removed first: it may be one with that of Deno's own cache. */
async function putStandIn(folder: string): Promise<void> {
  const modules = `${folder}/node_modules/.deno`;
  for await (const { name } of Deno.readDir(modules)) {
    if (!name.startsWith(NATIVE.replace("/", "+"))) continue;
    const file = `${modules}/${name}/node_modules/${NATIVE}/index.js`;
    await Deno.remove(file);
    await Deno.copyFile(`${PINS}/stand_in/index.cjs`, file);
  }
}

/** What Node says of its version; undefined if there is none. */
export async function nodeVersion(): Promise<string | undefined> {
  try {
    const { code, stdout } = await run("node", ["--version"]);
    return code === 0 ? stdout.trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
