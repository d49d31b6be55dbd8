/**
 * What an application service in a world does: it answers each message with a counter, by its own user or
 * by a ghost.
 *
 * @module
 */

import { defineSession } from "@greenroom/matrix";
import { Appservice, type AppserviceOptions } from "@greenroom/matrix/appservice";
import { describe } from "../../../bench/kill/answering.ts";
import type { Chance } from "../core/chance.ts";
import type { Process } from "../world/process.ts";
import { loggerOf } from "../world/surroundings.ts";
import type { World } from "../world/world.ts";
import type { WorldService } from "./world_service.ts";

/** Of so many handlers, one takes its time, and how long at most, in milliseconds. */
const [SLOW, LONGEST] = [6, 10_000];
/** How long a device is left alone after the last sign of a process, in milliseconds. */
const LEASE = 60_000;

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

/** Where the program runs. */
interface Place {
  readonly world: World;
  readonly service: WorldService;
  readonly process: Process;
  readonly name: string;
  /** Decides how slow its handlers are. */
  readonly chance: Chance;
}

/** An application service with its handlers. */
export function serviceProgram(
  { world, service, process, name, chance }: Place,
  options: Pick<AppserviceOptions, "store" | "fetch">,
): Appservice {
  const appservice = new Appservice({
    registration: service.registration,
    serverName: "localhost",
    baseUrl: world.homeserver.baseUrl,
    clock: process.clock,
    lease: { duration: LEASE, owner: name },
    log: loggerOf(name, world.note),
    queries: { user: () => Promise.resolve({}) },
    ...options,
  });
  const pace = chance.branch("pace");
  const counted = async (work: () => Promise<void>): Promise<void> => {
    process.handlers++;
    await work().finally(() => process.handlers--);
  };
  appservice.on("INVITE", ({ room_id, state_key }) =>
    counted(async () => {
      if (pace.below(SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
      await appservice.intent(state_key).joinRoom(room_id);
    }));
  appservice.on("m.room.message", ({ room_id, content, event_id }, { session }) =>
    counted(async () => {
      const number = Number(/^for the service (\d+)$/.exec(content.body)?.[1]);
      if (Number.isNaN(number)) return;
      world.note(`${name} is handed ${number}: ${event_id}`);
      if (pace.below(SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
      await appservice.intent(answererOf(service, number)).sendText(
        room_id,
        `counted ${++session.count}: ${number}`,
      );
      if (pace.below(SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
    }), { session: counter, sequential: true });
  appservice.on("HANDLER_ERROR", ({ error }) => world.note(`${name}: a handler failed: ${describe(error)}`));
  return appservice;
}

/** Which user answers the message with a number. */
export function answererOf({ users }: Pick<WorldService, "users">, number: number): string {
  return users[number % users.length] as string;
}
