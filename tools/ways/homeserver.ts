/**
 * The homeserver of a walk, in a process of its own: what it shares with a client is not on the way.
 *
 * Prints its address and the tokens of its users as JSON, and ends with its standard input.
 *
 * @module
 */

import { Homeserver, TestClock } from "@greenroom/matrix/testing";

/** What a walk needs of its homeserver. */
export interface WalkedHomeserver {
  readonly baseUrl: string;
  readonly tokens: Readonly<Record<string, string>>;
}

/** Starts it; it ends with this process. */
export async function startHomeserver(): Promise<WalkedHomeserver> {
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", import.meta.filename ?? ""],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const { value } = await stdout.pipeThrough(new TextDecoderStream()).getReader().read();
  return JSON.parse(value ?? "");
}

if (import.meta.main) {
  // It stands still, so that no timer makes a detour on a busy machine.
  await using homeserver = new Homeserver({ clock: new TestClock() });
  const users = ["alice", "bob"].map((user) => [user, homeserver.createUser(user).accessToken]);
  const baseUrl = await homeserver.listen();
  console.log(JSON.stringify({ baseUrl, tokens: Object.fromEntries(users) }));
  await Deno.stdin.readable.pipeTo(new WritableStream());
  Deno.exit(0);
}
