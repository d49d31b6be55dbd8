/**
 * What an application service in a world does: it answers each message with a counter, by its own user or
 * by a ghost.
 *
 * @module
 */

import { defineSession, ForbiddenError } from "@greenroom/matrix";
import { UnknownDeviceError } from "@greenroom/matrix/errors";
import { Appservice, type AppserviceOptions } from "@greenroom/matrix/appservice";
import type { EventID } from "@greenroom/matrix/types";
import { describe } from "../../kill/answering.ts";
import type { Chance } from "../core/chance.ts";
import type { Process } from "../world/process.ts";
import { EVERYBODY } from "../../../tests/support/everybody.ts";
import { loggerOf } from "../world/surroundings.ts";
import type { World } from "../world/world.ts";
import type { WorldService } from "./world_service.ts";

/** Of so many handlers, one takes its time, and how long at most, in milliseconds. */
const [SLOW, LONGEST] = [6, 10_000];
/** How long a device is left alone after the last sign of a process, in milliseconds. */
const LEASE = 60_000;

/** How often the homeserver may delete the device of who answers until a message is answered. */
const MOST_DELETIONS = 10;
/** How long after a handler has failed the process has ended, if it could not go on, in milliseconds. */
const ENDING = 5_000;
/** With what a handler fails that is cut off by a store that fails, or by the end of who acts. */
const CUT_OFF = /\b(?:ClientEndedError|ActorError|ActorStoppedError|StoreError)\b/;
/** With what one fails that is cut off by a token that the homeserver does not know. */
const UNKNOWN = /\bUnknownTokenError\b/;

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
    encryption: service.plan.isEncrypted && {
      ...world.isVouched ? {} : EVERYBODY,
      ...service.recoveryKey === undefined ? {} : { recoveryKey: service.recoveryKey },
    },
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
      const isRepeated = service.ledger.handed(number, world.timeline.now);
      if (isRepeated) world.reach("service: feed: hands over again what was cut off");
      if (pace.below(SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
      const count = ++session.count;
      // A device that is gone is made anew with the next request, and may be deleted again meanwhile.
      const say = async (left = MOST_DELETIONS): Promise<EventID> => {
        const intent = appservice.intent(answererOf(service, number));
        try {
          return await intent.sendText(room_id, `counted ${count}: ${number}`, { key: "answer" });
        } catch (error) {
          if (!isOfDevice(error) || left === 0) throw error;
          return await say(left - 1);
        }
      };
      const answer = await say().catch((error) => {
        noteFailure({ world, service, process, name }, number, error);
        throw error;
      });
      service.ledger.answers.set(answer, { count, number });
      if (pace.below(SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
    }), { session: counter, sequential: true });
  appservice.on("UNDECRYPTABLE", ({ event: { event_id }, code }) => {
    world.note(`${name} can't read ${event_id}: ${code}`);
    world.reach(`service: UNDECRYPTABLE ${code}`);
    service.ledger.late.add(event_id);
  });
  appservice.on("HANDLER_ERROR", ({ error }) => world.note(`${name}: a handler failed: ${describe(error)}`));
  return appservice;
}

/**
 * Notes that a handler has failed: it has settled, unless its process ends. That a ghost is no member, or
 * who answers has no device, is no reason, nor that the store has failed, or who acts has ended: then it has
 * not settled, and is called again. The own user is no member before it has joined by itself.
 */
function noteFailure(
  { world, service, process, name }: Pick<Place, "world" | "service" | "process" | "name">,
  number: number,
  error: unknown,
): void {
  const { users: [own], ledger } = service;
  const isOfGhost = answererOf(service, number) !== own;
  if ((error instanceof ForbiddenError && isOfGhost) || isOfDevice(error)) return;
  // Where the service is not unknown, it was known again by then, and only a user was not.
  const isCutOff = CUT_OFF.test(describe(error)) || UNKNOWN.test(describe(error)) && service.way.isUnknown;
  if (isCutOff) return world.reach("service: a handler is cut off");
  ledger.fails(name, number);
  world.timeline.schedule(ENDING, "", () => {
    if (process.isAlive || service.isStopped(process)) ledger.failed.add(number);
  });
}

/** Whether something failed since the homeserver has deleted the device of who acts. */
function isOfDevice(error: unknown): boolean {
  return error instanceof UnknownDeviceError || (error instanceof Error && isOfDevice(error.cause));
}

/** Which user answers the message with a number. */
export function answererOf({ users }: Pick<WorldService, "users">, number: number): string {
  return users[number % users.length] as string;
}
