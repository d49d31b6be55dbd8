/**
 * People who answer what a bot of the kit asks them: most of them soon, some late, twice, wrongly, or
 * not at all.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { Chance } from "../core/chance.ts";
import type { Device } from "../world/device.ts";
import type { Surroundings } from "../world/surroundings.ts";
import { answerText, CONFIRMATION, isOpenToAll, NO, readQuestion, YES } from "./kit_texts.ts";

/** Who answers. */
export interface KitPerson {
  readonly device: Device;
  readonly world: Surroundings;
  /** Decides how. */
  readonly pace: Chance;
}

/** How long most take to answer, and some, in milliseconds. */
const [SOON, LATE] = [1_500, 25_000];
/** Of so many who are not asked, one answers. */
const MEDDLERS = 5;

/** Has the user of a device answer questions that it reads. */
export function answerQuestions(client: Client, person: KitPerson): void {
  const { device, world, pace } = person;
  client.on("m.room.message", ({ room_id, event_id, content }) => {
    const question = readQuestion(String(content.body));
    if (question === undefined) return;
    const asked = world.sayings.get(question.command)?.device.account;
    const isAsked = asked === device.account ||
      (isOpenToAll(question.command) && question.question !== CONFIRMATION);
    if (!isAsked && pace.below(MEDDLERS) > 0) return;
    answer(client, person, { room_id, event_id, ...question });
  }, { name: "kit" });
}

function answer(
  client: Client,
  { device, world, pace }: KitPerson,
  { room_id: room, event_id: event, ...question }: {
    readonly room_id: RoomID;
    readonly event_id: EventID;
    readonly command: number;
    readonly question: string;
  },
): void {
  const say = (ms: number, words: (number: number) => string): void =>
    void world.timeline.schedule(ms, "", () => world.reply(device, room, words));
  const right = (number: number): string => answerText(question, number);
  const how = pace.below(10);
  const soon = pace.below(SOON);
  if (how === 9) return;
  const ms = how === 8 ? pace.below(LATE) : soon;
  if (question.question === CONFIRMATION) {
    const key = how === 7 ? NO : YES;
    world.timeline.schedule(ms, "", () => void client.react(room, event, key).catch(() => {}));
    return;
  }
  say(ms, right);
  if (how === 7) say(ms, right);
  if (how === 6) say(pace.below(ms + 1), (number) => `peer ${device.name} ${number}`);
}
