import { assertEquals } from "@std/assert";
import { play } from "../../bench/simulation/play.ts";
import { storyOf } from "../../bench/simulation/story.ts";

/** The seeds that the unit tests play; `deno task simulate` plays thousands. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** A world whose users vouch for their devices, have dehydrated ones, and share history. */
const RICH = 273;

Deno.test("What a world of users with recovery keys does is the same each time", async () => {
  const { plan, actions } = storyOf(RICH);
  assertEquals([plan.trust, plan.dehydrates, plan.sharesHistory], ["all", true, true]);
  const story = { plan, actions: actions.slice(0, 8) };
  const { lines } = await play(story, { keeps: true });
  assertEquals((await play(story, { keeps: true })).lines, lines);
});

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
  const script = new URL("../../bench/simulation/simulate.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args, script, `--seed=${seed}`] })
    .output();
  const printed = new TextDecoder().decode(stdout).trimEnd().split("\n");
  assertEquals(printed.at(-1), `digest ${digest}`);
});
