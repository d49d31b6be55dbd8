import { assertEquals } from "@std/assert";

const PROGRAM = new URL("../support/stopping_program.ts", import.meta.url).pathname;
const FLAGS = ["--no-check", "--quiet", "--unstable-kv", "--allow-read", "--allow-write", "--allow-env"];
const STORES = ["MemoryStore", "SqliteStore", "KvStore"];
/** What a process gets that has not ended: no test waits for it, but one that fails. */
const PATIENCE = 120_000;

const programs: (readonly [kind: string, store: string])[] = [
  ...["Client", "Bot", "Appservice"].flatMap((kind) => STORES.map((store) => [kind, store] as const)),
  ["Bot", "path"],
  ...["with a signal", "after a pass", "stopped by its handler"].map((how) =>
    [`Client ${how}`, "SqliteStore"] as const
  ),
];

for (const [kind, store] of programs) {
  Deno.test(`A program is over when its ${kind} was stopped, with its store open (${store})`, async () => {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", ...FLAGS, PROGRAM, kind, store],
      stderr: "inherit",
      signal: AbortSignal.timeout(PATIENCE),
    }).output();
    assertEquals([success, new TextDecoder().decode(stdout)], [true, "the end of the program\n"]);
  });
}
