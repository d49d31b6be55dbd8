/**
 * Loaded before a contestant, it writes what the contestant's functions took to the file that
 * `GREENROOM_PROFILE` names.
 *
 * @module
 */

import inspector from "node:inspector/promises";
import process from "node:process";

const file = Deno.env.get("GREENROOM_PROFILE") ?? "";
const { exit } = process;
const session = new inspector.Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.start");

/** A contestant ends so. */
process.exit = ((code?: number) => {
  void session.post("Profiler.stop").then(({ profile }) => {
    Deno.writeTextFileSync(file, JSON.stringify(profile));
    exit(code);
  });
}) as typeof exit;
