/**
 * What happens around an application service.
 *
 * @module
 */

import type { Operation } from "../../../tests/client/support/crash.ts";
import { INCOMING, OUTGOING, SERVICE_COMMITS, SERVICE_REQUESTS } from "../appservice/service_operations.ts";
import type { ServiceWeather } from "../appservice/service_way.ts";
import type { WorldService } from "../appservice/world_service.ts";
import { Chance } from "../core/chance.ts";
import { COMMON } from "../world/operations.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";
import { rareFault } from "./rare_faults.ts";

/** For what something lies in wait. */
const NAMES = { commits: SERVICE_COMMITS, requests: SERVICE_REQUESTS };
/** Where a process ends: most of all where it keeps transactions, and where it sends. */
const MOST_OF_ALL: readonly (readonly [Operation, string | undefined])[] = [
  ["commit", "counting/head counting/in"],
  ["commit", "sync"],
  ["commit", "session/"],
  ["commit", "settled/"],
  ["commit", undefined],
  ["request", "PUT v3/rooms/*/send/m.room.message"],
  ["request", "PUT v3/rooms/*/send/m.room.encrypted"],
  ["request", undefined],
];
const PLACES = [
  ...MOST_OF_ALL,
  ...MOST_OF_ALL,
  ...MOST_OF_ALL,
  ...SERVICE_COMMITS.map((name) => ["commit", name] as const),
  ...SERVICE_REQUESTS.map((name) => ["request", name] as const),
];
/** Before which request of a ghost its device is deleted; undefined: at once. */
const BEFORE = [undefined, "/sendToDevice/", "/send/", "/keys/"];
/** How late what is late is, in milliseconds. */
const LATE = [1_000, 20_000, 3_600_000];
/** How many processes run at most. */
const MOST = 3;
/** What is committed while something is answered, encrypted or not. */
const ANSWERING = ["outbound_session", "session/", "outbox", "send_key", "olm-session", "sync", undefined];
/** How long it takes until what is said is answered, mostly, in milliseconds. */
const ANSWERED = 10_000;

/** Does something in a world that has an application service. */
function of(
  perform: (service: WorldService, scene: Scene) => void | Promise<void>,
): (scene: Scene) => void | Promise<void> {
  return (scene) => scene.world.service === undefined ? undefined : perform(scene.world.service, scene);
}

/** The kinds. */
export const serviceKinds: readonly ActionKind[] = [
  {
    name: "people talk to a service",
    weight: 90,
    isOfService: true,
    perform: of(async (service, { world, action: { who, where, what } }) => {
      for (let count = 0; count <= what % 4; count++) {
        await service.people.say(who + count, where);
        if ((what >> 2) % 3 === 0) await world.timeline.clock().delay(1 + (what >> 4) * 20);
      }
    }),
  },
  {
    name: "a ghost of a service is thrown out",
    weight: 8,
    isOfService: true,
    perform: of(({ people }, { action: { who, where } }) => people.throwOut(who, where)),
  },
  {
    name: "a service is started, and the homeserver does not get through",
    weight: 8,
    isOfService: true,
    perform: of(async (service, { action: { who, where, what } }) => {
      const run = chosen(service.runs, who);
      if (!service.plan.stays || !service.plan.pings || run === undefined) return;
      const times = 1 + what % 3;
      const [list, kind] = what % 4 === 0
        ? [service.way.outgoing, chosen(OUTGOING, where)]
        : [service.way.incoming, chosen(INCOMING, where)];
      list.push({ kind: kind ?? "lost", times, ms: chosen(LATE, what >> 2) ?? 0, path: "/ping" });
      await service.stop(run);
    }),
  },
  {
    name: "the homeserver deletes the device of a ghost",
    weight: 10,
    isOfService: true,
    perform: of(async (service, { world, action: { who, what } }) => {
      const ghost = service.users[1 + who % service.plan.ghosts];
      if (!service.plan.isEncrypted || ghost === undefined) return;
      const path = chosen(BEFORE, what);
      if (path === undefined) return await service.deleteDevice(ghost);
      service.way.deletions.set(ghost, path);
      world.note(`the device of ${ghost} is to be deleted before its next "${path}"`);
    }),
  },
  {
    name: "a service ends in the middle of what it does",
    weight: 50,
    isOfService: true,
    perform: of(({ runs }, { world, action: { who, where, what } }) => {
      const run = chosen(runs, who);
      const [operation, subject] = chosen(PLACES, where) ?? ["commit", undefined];
      const kind = what % 5 === 0 ? "error" : "crash";
      run?.process.plan({
        ...{ operation, kind, after: (what >> 1) % 6, takesEffect: (what >> 4) % 2 === 0 },
        ...subject === undefined ? {} : { subject },
      });
      world.note(`${run?.name}: ${kind} planned for a ${operation} of ${subject}`);
    }),
  },
  {
    name: "a service meets with a fault of what is rare",
    weight: 40,
    isOfService: true,
    perform: of(({ runs, way }, { world, action: { who, where, what } }) => {
      const run = chosen(runs, who);
      if (what % 3 === 0) {
        way.outgoing.push({ kind: chosen(OUTGOING, where) ?? "lost", times: 1, ms: 0, spares: COMMON });
        return world.note("the next request of the service that is rare goes wrong");
      }
      run?.process.plan(rareFault({ where, what }));
      run?.process.plan(rareFault({ where: where * 5 + what, what: what + 1 }));
      world.note(`${run?.name}: something goes wrong with what is rare`);
    }),
  },
  {
    name: "something lies in wait for a service",
    weight: 40,
    isOfService: true,
    perform: of(({ ambushes }, { action: { who, where, what } }) => {
      const chance = new Chance(`ambush ${who} ${where} ${what}`);
      ambushes.draw(chance, [undefined, NAMES, NAMES, NAMES]);
    }),
  },
  {
    name: "a service is killed",
    weight: 15,
    isOfService: true,
    perform: of((service, { action: { who } }) => {
      const run = chosen(service.runs, who);
      if (run !== undefined) service.kill(run);
    }),
  },
  {
    name: "a service is stopped",
    weight: 12,
    isOfService: true,
    perform: of((service, { action: { who } }) => {
      const run = chosen(service.runs, who);
      if (run !== undefined) service.stop(run);
    }),
  },
  {
    name: "a service stands still",
    weight: 6,
    isOfService: true,
    perform: of(({ runs }, { world, action: { who, what } }) => {
      const run = chosen(runs, who);
      if (run === undefined) return;
      world.note(`${run.name} stands still`);
      run.process.pause();
      world.timeline.schedule(
        (1 + what % 8) * 20_000,
        `${run.name} goes on`,
        () => run.process.resume(),
      );
    }),
  },
  {
    name: "another instance of a service",
    weight: 15,
    isOfService: true,
    perform: of((service) => {
      if (service.runs.length < MOST) service.begin();
    }),
  },
  {
    name: "the store fails while a service answers several",
    weight: 12,
    isOfService: true,
    perform: of(async (service, { world, action: { who, where, what } }) => {
      const { name, process } = chosen(service.runs, who) ?? service.begin();
      const subject = chosen(ANSWERING, what);
      process.plan({
        ...{ operation: "commit", kind: "error", after: (what >> 3) % 4, takesEffect: where % 4 === 0 },
        ...subject === undefined ? {} : { subject },
      });
      world.note(`${name}: error planned for a commit of ${subject}, while several things are said`);
      for (let count = 0; count < 2 + (what >> 5) % 3; count++) await service.people.say(who + count, where);
    }),
  },
  {
    name: "a ghost is thrown out while another instance takes what comes",
    weight: 6,
    isOfService: true,
    perform: of(async (service, { world, action: { who, where } }) => {
      const { people, plan, way, users } = service;
      if (plan.stays) return; // one instance takes all
      while (service.runs.length < 2) service.begin();
      const [one, other] = service.runs;
      const say = async (times: number): Promise<void> => {
        for (let count = 0; count < times; count++) await people.say(who, where);
        await world.timeline.pass(ANSWERED);
      };
      world.note(`what comes goes to ${one?.name}, and then to ${other?.name}`);
      way.goesTo = one;
      await say(users.length);
      way.goesTo = other;
      await people.throwOut(who, where);
      await world.timeline.pass(ANSWERED);
      way.goesTo = one;
      await say(users.length);
      way.goesTo = undefined;
    }),
  },
  {
    name: "a service looks for what is left",
    weight: 10,
    isOfService: true,
    perform: of((service, { action: { who } }) => {
      const run = chosen(service.runs, who);
      if (run !== undefined && !service.plan.stays) service.look(run);
    }),
  },
  {
    name: "what a homeserver tells a service goes wrong",
    weight: 50,
    isOfService: true,
    perform: of(({ way }, { world, action: { where, what } }) => {
      const weather: ServiceWeather = {
        kind: chosen(INCOMING, where) ?? "lost",
        times: 1 + what % 3,
        ms: chosen(LATE, what >> 2) ?? 0,
      };
      way.incoming.push(weather);
      world.note(`the next ${weather.times} requests to the service are ${weather.kind}`);
    }),
  },
  {
    name: "what a service asks goes wrong",
    weight: 20,
    isOfService: true,
    perform: of(({ way }, { world, action: { where } }) => {
      const weather: ServiceWeather = { kind: chosen(OUTGOING, where) ?? "lost", times: 1, ms: 0 };
      way.outgoing.push(weather);
      world.note(`the next request of the service is ${weather.kind}`);
    }),
  },
  {
    name: "the homeserver does not know the token of a service for a while",
    weight: 8,
    isOfService: true,
    perform: of(({ way, people }, { world, action: { who, where, what } }) => {
      way.unknownUntil = world.timeline.now + (1 + what % 6) * 5_000;
      world.note("the homeserver does not know the token of the service");
      return people.say(who, where);
    }),
  },
];
