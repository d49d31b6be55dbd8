/**
 * The rooms of an application service, and what people do there.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import type { Saying } from "../world/saying.ts";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import type { ServicePlan } from "./world_service.ts";

/** What people have said to an application service. */
export interface Request {
  readonly number: number;
  readonly room: RoomID;
  /** Its event; undefined: it has not arrived. */
  readonly eventId: EventID | undefined;
  /** Who said it, if it was said encrypted. */
  readonly author?: Device;
}

/** A ghost that was thrown out of a room. */
export interface ThrownOut {
  readonly user: UserID;
  readonly room: RoomID;
  readonly eventId: EventID;
  /** The number of what people had said last by then. */
  readonly after: number;
}

/** What is said in an encrypted room, by its author's client. */
class SaidEncrypted implements Request {
  readonly number: number;
  readonly author: Device;
  readonly #saying: Saying;

  constructor(number: number, author: Device, saying: Saying) {
    this.number = number;
    this.author = author;
    this.#saying = saying;
  }

  get room(): RoomID {
    return this.#saying.room;
  }

  get eventId(): EventID | undefined {
    return this.#saying.eventId;
  }
}

/** What people say to an application service begins with this. */
export const SPOKEN_TO = "for the service";

/** How many messages a key encrypts: few, so that there are several. */
const ROTATION = 3;

/** How rooms are encrypted. */
const ENCRYPTION = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: ROTATION },
};

/** People around an application service. */
export class ServicePeople {
  readonly rooms: WorldRoom[] = [];
  /** What people have said, by number from 1 on. */
  readonly requests: Request[] = [];
  readonly thrownOut: ThrownOut[] = [];
  readonly #world: World;
  readonly #service: { readonly users: readonly UserID[]; readonly plan: ServicePlan };

  constructor(
    world: World,
    service: { readonly users: readonly UserID[]; readonly plan: ServicePlan },
  ) {
    this.#world = world;
    this.#service = service;
  }

  /** Makes rooms: people are there, and the users of the application service are invited. */
  async populate(): Promise<void> {
    const { users, plan } = this.#service;
    const people = this.#world.accounts.filter(({ isBot }) => !isBot);
    const tokens = await Promise.all(people.map((person) => person.token()));
    for (let count = 0; count < plan.rooms; count++) {
      const { room_id } = await this.#world.ask(tokens[0] ?? "", "POST", "v3/createRoom", {
        preset: plan.isPrivate ? "private_chat" : "public_chat",
        invite: [...users, ...people.slice(1).map(({ userId }) => userId)],
        initial_state: plan.isEncrypted ? [ENCRYPTION] : [],
      });
      for (const token of tokens) await this.#world.ask(token, "POST", `v3/join/${room_id}`, {});
      const id = room_id as RoomID;
      this.rooms.push({ id, encryptedAt: plan.isEncrypted ? this.#world.timeline.now : Infinity });
      this.#world.wire.rotations.set(id, ROTATION);
      this.#world.note(`room ${count + 1} of the service is ${room_id}`);
    }
  }

  /** Has a person say something: encrypted, with the client of a device. */
  async say(who: number, where: number): Promise<void> {
    const people = this.#world.accounts.filter(({ isBot }) => !isBot);
    const [person, room] = [people[who % people.length], this.rooms[where % this.rooms.length]];
    if (person === undefined || room === undefined) return;
    const number = this.requests.length + 1;
    if (this.#service.plan.isEncrypted) {
      const author = person.devices.find(({ isRunning }) => isRunning);
      if (author === undefined) return;
      const saying = this.#world.say(author, room, { words: () => `${SPOKEN_TO} ${number}` });
      if (saying !== undefined) this.requests.push(new SaidEncrypted(number, author, saying));
      return;
    }
    const path = `v3/rooms/${encodeURIComponent(room.id)}/send/m.room.message/service-${number}`;
    const { event_id } = await this.#world.ask(await person.token(), "PUT", path, {
      msgtype: "m.text",
      body: `${SPOKEN_TO} ${number}`,
    });
    this.requests.push({ number, room: room.id, eventId: event_id as EventID });
    this.#world.note(`${person.userId} says ${number} to the service: ${event_id}`);
  }

  /** Has the first person throw a ghost out of a room; the own user comes back by invitation alone. */
  async throwOut(who: number, where: number): Promise<void> {
    const { users, plan } = this.#service;
    const [person] = this.#world.accounts;
    const [user, room] = [users[1 + who % plan.ghosts], this.rooms[where % this.rooms.length]];
    if (person === undefined || user === undefined || room === undefined) return;
    const token = await person.token();
    await this.#world.ask(token, "POST", `v3/rooms/${encodeURIComponent(room.id)}/kick`, { user_id: user });
    const event = this.#world.homeserver.room(room.id).events.findLast(({ type, state_key }) =>
      type === "m.room.member" && state_key === user
    );
    if (event?.content.membership !== "leave") return;
    const eventId = event.event_id as EventID;
    this.thrownOut.push({ user, room: room.id, eventId, after: this.requests.length });
    this.#world.note(`${user} is thrown out of ${room.id}: ${eventId}`);
  }
}
