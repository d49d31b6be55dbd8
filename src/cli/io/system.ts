/**
 * What runs the command line, and its files. The modules of Node are there on Deno, Node and Bun.
 *
 * @module
 */

import { lstat, stat } from "node:fs/promises";
import process from "node:process";
import type { Stats } from "node:fs";

/** What runs it. */
export const RUNTIME: "deno" | "node" | "bun" = "deno" in process.versions
  ? "deno"
  : "bun" in process.versions
  ? "bun"
  : "node";

/** What a path leads to; undefined: nothing. */
export async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined);
}

/** Whether there is something at a path, a link for one. */
export async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false);
}

/** Whether the system has refused something with a code, such as ENOENT. */
export function failedWith(error: unknown, code: string): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === code;
}

/** Whether colours are not wanted. */
export function hasNoColor(): boolean {
  return (process.env.NO_COLOR ?? "") !== "";
}
