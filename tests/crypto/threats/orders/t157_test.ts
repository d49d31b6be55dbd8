/**
 * A server votes in any user's name: it writes a session into the backup, and shows votes,
 * edits and the end of a poll that are encrypted with it.
 *
 * What must hold: what only a key of the backup opens counts for nothing in a poll, be it true;
 * what comes by its sender's key does. The poll itself may be one that only the backup opens.
 *
 * The class of mistake: what may be read of the past decides now.
 */

import { assertEquals } from "@std/assert";
import { countPoll, sendPoll } from "../../../../src/bot/polls/polls.ts";
import { POLL_EVENTS, pollEnd, pollResponse } from "@greenroom/matrix/bot";
import { clientStage } from "../../../client/support/stage.ts";
import { newSharer, roomOf, sharer, sharing } from "../../../encryption/history/scene.ts";

Deno.test("T157: votes and the end of a poll that only the backup opens do not count, and those of known senders do", async () => {
  await using here = clientStage();
  const encryption = { ...sharing("host"), backup: true };
  const first = await sharer(here, "host", { encryption });
  const room = await roomOf(first, []);
  const poll = await sendPoll(first, room, { question: "To be?", answers: ["Yes", "No"] });
  await first.sendMessageEvent(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["1"]));
  await first.sendMessageEvent(room, POLL_EVENTS.END, pollEnd(poll, "over"));
  await first.crypto?.idle();
  const counted = async (client: typeof first) => {
    const { answers, endedAt } = await countPoll(client, room, poll);
    return [answers.map(({ votes }) => votes), endedAt !== undefined];
  };
  assertEquals(await counted(first), [[1, 0], true]);
  const next = await newSharer(here, "host", { encryption });
  await next.syncOnce();
  assertEquals(await counted(next), [[0, 0], false]);
  await here.clock.tick(1);
  await next.sendMessageEvent(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["2"]));
  assertEquals(await counted(next), [[0, 1], false]);
});
