import { assertEquals } from "@std/assert";
import { play } from "./play.ts";
import { storyOf } from "./story.ts";

/** The seeds that the unit tests play; `deno task simulate` plays thousands. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

for (const seed of SEEDS) {
  Deno.test(`In the world of seed ${seed} nothing is lost, sent twice or shown to others`, async () => {
    assertEquals((await play(storyOf(seed))).violations, []);
  });
}

Deno.test("A seed replays exactly, in the same process and in another", async () => {
  const [seed = 1] = SEEDS;
  const { digest, lines } = await play(storyOf(seed), { keeps: true });
  assertEquals((await play(storyOf(seed), { keeps: true })).lines, lines);
  const args = ["run", "--no-prompt", "--no-check", "--allow-read", "--allow-env"];
  const script = new URL("./simulate.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args, script, `--seed=${seed}`] })
    .output();
  const printed = new TextDecoder().decode(stdout).trimEnd().split("\n");
  assertEquals(printed.at(-1), `digest ${digest}`);
});
