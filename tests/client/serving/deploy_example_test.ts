import { assertEquals } from "@std/assert";

/** Runs the example in a process of its own. */
async function example(timeline: string): Promise<unknown> {
  const folder = await Deno.makeTempDir();
  try {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", import.meta.resolve("../support/deploy_program.ts"), folder],
      env: { DENO_TIMELINE: timeline, NO_COLOR: "1" },
    }).output();
    const [text, failure] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    const line = text?.trim().split("\n").at(-1) ?? "";
    if (!line.startsWith("{")) throw new Error(`Cannot run the example: ${failure}`);
    return JSON.parse(line);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("examples/deploy: its cron joins where it was invited, has the bot woken, and answers nothing twice", async () => {
  assertEquals(await example("production"), { crons: ["* * * * *"], joined: true, said: ["1: one"] });
});

Deno.test("examples/deploy: a preview has no cron", async () => {
  assertEquals(await example("preview/branch"), { crons: [], joined: false, said: [] });
});
