/**
 * A run with a bot of the kit: it is killed and restarted many times; then everything settles, and
 * is judged.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import type { SynapseServer } from "../../../tests/e2e/support/synapse.ts";
import { BotProcess } from "../bot_process.ts";
import type { Verdict } from "../judge.ts";
import { drawMoment } from "../moments.ts";
import { seeded } from "../random.ts";
import type { RunOptions } from "../run.ts";
import { introduce } from "../settling.ts";
import { Setup } from "../setup.ts";
import { judgeKit, type ShownReaction } from "./judge.ts";
import { Hearing, People, type Shown } from "./people.ts";
import { readKitText } from "./script.ts";

const BOT = new URL("./bot.ts", import.meta.url);
/** After how many kills a line is printed. */
const LINE = 10;
/** After how many processes without a message of the bot the next is killed only after some. */
const FRUITLESS = 3;
/** How long all may take to settle, in milliseconds. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 200;
/** How long what comes again after a clean stop is waited for, in milliseconds. */
const AGAIN_MS = 2_500;

/** Makes a run. */
export async function killKitRun(server: SynapseServer, options: RunOptions): Promise<Verdict> {
  const { way = {}, kills, seed } = options;
  await using setup = await Setup.build(server, { store: options.store, peers: "none", way });
  await using stack = new AsyncDisposableStack();
  const random = seeded(seed);
  const { ledger, bot, observer, rooms, plainRooms, guests } = setup;
  const problems: string[] = [];
  const orders = (kill: number) => ({
    ...setup.orders({ talks: false, stays: kill % 2 === 0 }),
    rooms: plainRooms,
  });
  const first = new BotProcess(BOT, orders(0));
  while (!(ledger.count("synced") > 0 && await setup.botIsPublished())) await delay(LOOK_MS);
  await introduce(setup);
  const people = new People(seeded(seed + 1));
  const begun = performance.now();
  const secret = new Hearing(observer, bot.userId);
  const hearings = [secret];
  for (const { roomId } of rooms) people.enter(secret, roomId);
  for (const guest of guests) {
    const client = stack.use(
      new Client({ baseUrl: server.baseUrl, accessToken: guest.accessToken, encryption: false, log: false }),
    );
    const hearing = new Hearing(client, bot.userId);
    hearings.push(hearing);
    client.start({ fillGaps: true }).catch((error) => problems.push(`a guest's sync ended: ${error}`));
    for (const roomId of plainRooms) people.enter(hearing, roomId);
  }
  let heard = 0;
  let heardAt = 0;
  const count = () => hearings.reduce((sum, { shown }) => sum + shown.size, 0);
  for (let kill = 1; kill <= kills; kill++) {
    const process = kill === 1 ? first : new BotProcess(BOT, orders(kill));
    const isStuck = kill - heardAt > FRUITLESS;
    const ending = await process.killAt(drawMoment(random, { isStuck, fruit: "ends send" }));
    if (ending.bySelf) problems.push(`a process ended before it was killed: ${ending.stderr}`);
    if (count() > heard) [heard, heardAt] = [count(), kill];
    if (kill % LINE === 0) {
      const seconds = Math.round((performance.now() - begun) / 1_000);
      const { begun: { length }, failed } = people;
      options.print(
        `${kill} kills in ${seconds} s: ${length} begun, ${heard} heard, failed ${failed.length}, ` +
          `refused ${ledger.count("refused")}, logged ${ledger.count("log")}`,
      );
    }
  }
  const last = new BotProcess(BOT, { ...orders(0), redelivers: true });
  if (!await people.stop(PATIENCE_MS)) {
    problems.push(`not all has settled; the last process is at ${last.underway.join(", ")}`);
  }
  const ordered = people.begun.filter(({ kind }) => kind === "order");
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(LOOK_MS)) {
    const said = hearings.flatMap(({ shown }) => [...shown.values()]).map(({ text }) => readKitText(text));
    const ready = new Set(said.flatMap((each) => each.kind === "reminds" ? [each.number] : []));
    if (ordered.every(({ number }) => ready.has(number))) break;
  }
  for (const stays of [0, 1]) { // what comes again after a clean stop would be seen, too
    const process = stays === 0 ? last : new BotProcess(BOT, orders(0));
    await process.reaches({ line: "ends take", patience: 20_000, after: AGAIN_MS });
    const { bySelf, stderr } = await process.stop();
    if (bySelf) problems.push(`a process did not stop in good order: ${stderr}`);
  }
  const shown: Shown[] = [...secret.shown.values()].filter(({ roomId }) =>
    rooms.some((room) => room.roomId === roomId)
  );
  for (const roomId of plainRooms) shown.push(...await shownIn(setup, roomId));
  const reactions = (await Promise.all([...rooms.map(({ roomId }) => roomId), ...plainRooms].map(
    async (roomId): Promise<ShownReaction[]> =>
      (await setup.history(roomId)).filter(({ type, sender }) =>
        type === "m.reaction" && sender === bot.userId
      ).map(({ content }) => {
        const { event_id: to, key } = content["m.relates_to"] as { event_id: string; key: string };
        return { to, key };
      }),
  ))).flat();
  const verdict = judgeKit({ begun: people.begun, shown, reactions, ledger: ledger.entries });
  problems.push(...people.failed.map((why) => `a person could not send: ${why}`), ...verdict.problems);
  for (const [eventId, why] of setup.undecryptable) {
    if (!secret.shown.has(eventId as Shown["eventId"])) problems.push(`could not decrypt ${eventId}: ${why}`);
  }
  if (options.keep && problems.length > 0) options.print(`The bot's files are in ${setup.keep()}`);
  return {
    counts: { ...verdict.counts, "seconds in all": Math.round((performance.now() - begun) / 1_000) },
    problems,
  };
}

/** What the bot has said in a room in clear, as the server has it. */
async function shownIn(setup: Setup, roomId: RoomID): Promise<Shown[]> {
  const shown = new Map<string, Shown>();
  for (const { type, sender, eventId, content, at } of await setup.history(roomId)) {
    if (type !== "m.room.message" || sender !== setup.bot.userId) continue;
    const relation = content["m.relates_to"] as { rel_type?: string; event_id?: string } | undefined;
    const text = String(content.body);
    const replaced = relation?.rel_type === "m.replace" ? shown.get(String(relation.event_id)) : undefined;
    if (replaced === undefined) {
      shown.set(eventId, { eventId: eventId as Shown["eventId"], roomId, text, first: text, at });
    } else {
      const { body } = content["m.new_content"] as { body: string };
      shown.set(replaced.eventId, { ...replaced, text: body });
    }
  }
  return [...shown.values()];
}
