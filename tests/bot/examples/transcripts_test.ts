import { assert, assertEquals } from "@std/assert";
import { pollResponse, readPoll } from "@greenroom/matrix/bot";
import type { BotTester, TestRoom } from "@greenroom/matrix/testing";
import { feed } from "../../../examples/bots/feed/feed.ts";
import { moderation } from "../../../examples/bots/moderation/moderation.ts";
import { quiz } from "../../../examples/bots/quiz/quiz.ts";
import { reminders } from "../../../examples/bots/reminders/reminders.ts";
import { trying } from "../support.ts";

const MINUTE = 60_000;
const POLL = "org.matrix.msc3381.poll";

/** A line of a transcript: who, and what they say, which may go on in the next lines. */
interface Line {
  readonly who: string;
  readonly text: string;
}

/** The transcript in the README of an example. */
async function transcript(name: string): Promise<Line[]> {
  const path = new URL(`../../../examples/bots/${name}/README.md`, import.meta.url);
  const [, block = ""] = /```console\n(.*?)```/s.exec(await Deno.readTextFile(path)) ?? [];
  const lines: { who: string; text: string }[] = [];
  for (const line of block.trimEnd().split("\n")) {
    const [, who, text = ""] = /^(\w+) +(.*)$/.exec(line) ?? [];
    const last = lines.at(-1);
    if (who !== undefined) lines.push({ who, text });
    else if (/^ +\(.*\)$/.test(line)) lines.push({ who: "", text: line.trim() });
    else if (last !== undefined) last.text += `\n${line.trim()}`;
  }
  return lines;
}

/** Plays a transcript: users say what they say there, and the bot has to. */
async function play(
  tester: BotTester,
  { name, room, later }: { name: string; room: TestRoom; later?: () => void },
): Promise<void> {
  const lines = await transcript(name);
  assert(lines.length > 0, `${name} has no transcript`);
  for (const { who, text } of lines) {
    const [, reaction] = /^reacts with (.+)$/.exec(text) ?? [];
    const [, question] = /^asks (.+)$/.exec(text) ?? [];
    const [, vote] = /^votes (.+)$/.exec(text) ?? [];
    const polls = () => room.view().messages.filter(({ type }) => type === `${POLL}.start`);
    if (who === "") {
      later?.();
      await tester.pass(10 * MINUTE);
    } else if (vote !== undefined) {
      const poll = polls().at(-1);
      const answer = readPoll(poll?.content)?.answers.find((each) => each.text === vote);
      assert(poll !== undefined && answer !== undefined, text);
      await room.as(who).send(`${POLL}.response`, { ...pollResponse(poll.event_id, [answer.id]) });
    } else if (who !== "bot") await room.as(who).say(text);
    else if (reaction !== undefined) await room.expectReaction(reaction);
    else if (question !== undefined) {
      const asked = () => readPoll(polls().at(-1)?.content)?.question;
      await tester.until(() => asked() === question, `the bot asks ${question}`);
    } else await room.expect(text);
  }
  await room.expectNothing();
}

Deno.test("The reminder bot does what the transcript in its README shows", async () => {
  await using tester = trying(reminders);
  await play(tester, { name: "reminders", room: await tester.room("alice", "bob") });
});

Deno.test("The quiz bot does what the transcript in its README shows", async () => {
  await using tester = trying(quiz);
  await play(tester, { name: "quiz", room: await tester.room("alice", "bob") });
});

Deno.test("The moderation bot does what the transcript in its README shows", async () => {
  const options = { admins: ["@alice:localhost"] as const };
  await using tester = trying((bot) => moderation(bot, "!list:localhost"), options);
  const room = await tester.room("alice", "bob");
  const path = `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels`;
  await tester.request("alice", "PUT", path, { users: { [tester.mxid]: 100 } });
  await play(tester, { name: "moderation", room });
});

Deno.test("The feed bot does what the transcript in its README shows", async () => {
  const items = ["first"];
  const load = (url: string) => {
    const all = items.map((name) =>
      `<item><guid>${name}</guid><title>${name}</title><link>/${name}</link><description>${name}</description></item>`
    );
    const text = `<rss version="2.0"><channel><title>News</title>${all.reverse().join("")}</channel></rss>`;
    return Promise.resolve({ text, url, etag: undefined });
  };
  await using tester = trying((bot) => void feed(bot, { address: "https://bot.example.org", load }), {
    admins: { powerLevel: 50 },
  });
  const room = await tester.room("alice", "bob");
  await play(tester, { name: "feed", room, later: () => void items.push("second") });
  assertEquals(items.length, 2);
});
