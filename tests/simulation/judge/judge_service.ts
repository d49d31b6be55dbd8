/**
 * An application service has answered each message once, with counts that have no gap, in the order in
 * which transactions arrived; its inbox is empty when all is handled.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import { answererOf } from "../appservice/service_program.ts";
import type { WorldService } from "../appservice/world_service.ts";
import type { World } from "../world/world.ts";
import { Memberships } from "./memberships.ts";

/** How many transactions stay in the inbox of a process that goes on: it removes them from time to time. */
const MOST_KEPT = 100;
/** How long the end may take, in milliseconds. */
const ENDING = 600_000;

/** Judges the application service of a world, and ends it. */
export async function judgeService(world: World): Promise<void> {
  const { service } = world;
  if (service === undefined) return;
  for (const room of service.rooms) judgeRoom(world, service, room);
  const kept = await service.kept();
  if (kept > MOST_KEPT) world.violate(`the service keeps ${kept} transactions`);
  let isDone: boolean | undefined;
  service.end().then((done) => isDone = done);
  if (!await world.until(() => isDone !== undefined, ENDING)) world.violate("the service never ended");
  else if (isDone === false) world.violate("the service says that something is left");
  const left = await service.kept();
  if (left > 0) world.violate(`the service leaves ${left} transactions that it has handled`);
}

function judgeRoom(world: World, service: WorldService, room: RoomID): void {
  const violate = (what: string): void =>
    world.violate(`the service in its room ${service.rooms.indexOf(room) + 1}: ${what}`);
  const memberships = new Memberships(world.homeserver, room);
  const { messages } = world.homeserver.room(room);
  const answers = messages.flatMap(({ sender, content: { body } }) => {
    const [, count, number] = /^counted (\d+): (\d+)$/.exec(String(body)) ?? [];
    return count === undefined ? [] : [{ sender, count: Number(count), number: Number(number) }];
  });
  const counts = answers.map(({ count }) => count);
  if (counts.some((count, index) => count !== index + 1)) violate(`it has counted ${counts.join(", ")}`);
  for (const { sender, number } of answers) {
    if (sender !== answererOf(service, number)) violate(`${sender} has answered ${number}`);
  }
  const order = [...service.arrived];
  const asked = service.requests.filter((each) => each.room === room);
  for (const { number, eventId } of asked) {
    const times = answers.filter((answer) => answer.number === number).length;
    const at = messages.find(({ event_id }) => event_id === eventId)?.origin_server_ts ?? 0;
    // What was said before one of its users was there is none of its business.
    const isOwed = service.users.some((user) => memberships.joined(user, at, at));
    if (times > 1) violate(`it has answered ${number} ${times} times`);
    if (times === 0 && isOwed) violate(`it has not answered ${number}`);
  }
  const places = answers.map(({ number }) =>
    order.indexOf(asked.find((each) => each.number === number)?.eventId ?? "$")
  );
  if (places.some((place, index) => place < (places[index - 1] ?? 0))) {
    violate(`its answers are not in the order in which transactions arrived: ${places.join(", ")}`);
  }
  // Only what failed may be overtaken.
  for (const [index, { number }] of answers.entries()) {
    for (const later of answers.slice(index + 1)) {
      const first = asked.find((each) => each.number === later.number);
      if (first !== undefined && later.number < number && !service.way.failed.has(first.eventId)) {
        violate(`it has answered ${number} before ${later.number}, whose transaction never failed`);
      }
    }
  }
}
