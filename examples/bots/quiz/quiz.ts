/** Polls, and a quiz with points. */

import { type Bot, defineSession } from "@greenroom/matrix/bot";
import type { EventID } from "@greenroom/matrix/types";

/** A question of the quiz: the first answer is right. */
export interface Question {
  question: string;
  answers: readonly string[];
}

const QUESTIONS: readonly Question[] = [
  { question: "Which play has a ghost in its first scene?", answers: ["Hamlet", "Othello", "King Lear"] },
  { question: "Who wrote “The Cherry Orchard”?", answers: ["Chekhov", "Ibsen", "Shaw"] },
  { question: "What must not be said in a theatre?", answers: ["Macbeth", "Encore", "Bravo"] },
];

const rounds = defineSession({
  name: "quiz.rounds",
  per: "room",
  initial: () => ({ next: 0, poll: undefined as EventID | undefined, right: "" }),
});
const scores = defineSession({
  name: "quiz.scores",
  per: "room",
  initial: () => ({ points: {} as Record<string, number> }),
});

/** Adds the commands to a bot. */
export function quiz(bot: Bot, questions = QUESTIONS): void {
  bot.command("poll <question> <answers...>", { description: 'A poll: !poll "Tea?" yes, no' }, async (c) => {
    await c.sendPoll(c.args.question, c.args.answers.split(",").map((each) => each.trim()));
  });

  bot.command("quiz", { description: "Asks the next question" }, async (c) => {
    const round = await c.getSession(rounds);
    if (round.poll !== undefined) return await c.reply("A question is open; !solve it first.");
    const asked = questions[round.next++ % questions.length];
    if (asked === undefined) return await c.reply("There are no questions.");
    const shuffled = await c.step(() => asked.answers.toSorted(() => Math.random() - 0.5));
    round.right = asked.answers[0] ?? "";
    const poll = await c.sendPoll(asked.question, shuffled, { undisclosed: true });
    round.poll = poll.eventId;
    return poll;
  });

  bot.command("solve", { description: "Ends the question, and gives points" }, async (c) => {
    const round = await c.getSession(rounds);
    if (round.poll === undefined) return await c.reply("No question is open.");
    const { answers } = await c.endPoll(round.poll);
    const winners = answers.find(({ text }) => text === round.right)?.voters ?? [];
    const { points } = await c.getSession(scores);
    for (const user of winners) points[user] = (points[user] ?? 0) + 1;
    round.poll = undefined;
    const names = winners.length === 0 ? "nobody" : winners.join(", ");
    return await c.send(`It was ${round.right}. A point for ${names}.`, { format: "plain" });
  });

  bot.command("points", { description: "Shows the points" }, async (c) => {
    const { points } = await c.getSession(scores);
    const lines = Object.entries(points).toSorted(([, one], [, other]) => other - one)
      .map(([user, count]) => `${count} ${user}`);
    await c.reply(lines.join("\n") || "Nobody has points yet.", { format: "plain" });
  });
}
