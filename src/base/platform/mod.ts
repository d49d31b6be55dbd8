/**
 * What the platform gives: the only door to `Deno` and to modules of Node.
 * The npm package has other adapters in place of `deno.ts`.
 *
 * @module
 */

export { platform } from "./deno.ts";
export { type Digest, type PlatformFile, type PlatformServer, SEEK } from "./port.ts";
