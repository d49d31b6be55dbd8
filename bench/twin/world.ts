/** What the generator knows of the homeserver: enough to send what makes sense. */

import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import type { Step } from "./step.ts";

/** A request that has no number yet, and what it changes. */
export interface Move extends Omit<Step, "id" | "beside"> {
  /** Notes what has changed. */
  readonly done?: (id: number) => void;
  /** Whether it is sent as it is. Default: it may be changed. */
  readonly isAsItIs?: true;
}

/** What of a request is not the same for all. */
export type MoveParts = Partial<Omit<Move, "method" | "path">>;

/** A login. */
export interface Login {
  readonly token: string;
  readonly device: string;
  /** Tokens of its syncs, the latest last. */
  readonly batches: string[];
  /** Positions of its connection of sliding sync, the latest last. */
  readonly positions: string[];
}

/** A user. */
export interface Person {
  readonly name: string;
  readonly id: string;
  readonly logins: Login[];
  readonly filters: string[];
  readonly backups: string[];
}

/** An event. */
export interface Posted {
  readonly id: string;
  readonly type: string;
  readonly by: Person;
}

/** A room. */
export interface Place {
  readonly id: string;
  readonly members: Map<Person, string>;
  readonly events: Posted[];
  readonly pages: string[];
}

/** Segments of a path below `/_matrix/client/v3`. */
export const v3 = (...segments: string[]): string[] => ["_matrix", "client", "v3", ...segments];
/** Segments of a path below `/_matrix/client/v1`. */
export const v1 = (...segments: string[]): string[] => ["_matrix", "client", "v1", ...segments];

/** The feature of sliding sync, in the form that Synapse has. */
export const SLIDING = "org.matrix.simplified_msc3575";
/** The path of sliding sync. */
export const SLIDING_PATH: readonly string[] = ["_matrix", "client", "unstable", SLIDING, "sync"];

/** A name of a user that there is not. */
export const NOBODY = "@nobody-{{run}}:localhost";

/** The model. */
export class World {
  readonly random: Random;
  readonly people: Person[] = [];
  readonly rooms: Place[] = [];
  readonly media: string[] = [];
  #transactions = 0;

  /** Starts with nobody. */
  constructor(random: Random) {
    this.random = random;
  }

  /** One of several. */
  pick<T>(...items: readonly T[]): T {
    return this.random.pick(items);
  }

  /** True or false. */
  flag(): boolean {
    return this.random.chance(50);
  }

  /** Something, or nothing in most cases. */
  maybe<T>(percent: number, make: () => T): T | undefined {
    return this.random.chance(percent) ? make() : undefined;
  }

  /** A user. */
  person(): Person {
    return this.random.pick(this.people);
  }

  /** The ID of a user, seldom of none. */
  someone(): string {
    return this.random.chance(4) ? this.pick(NOBODY, "nobody", "@far:away.example") : this.person().id;
  }

  /** A login of a user. */
  login(person: Person): Login {
    return this.random.pick(person.logins);
  }

  /** A request by a user. */
  by(person: Person, method: string, path: string[], parts: MoveParts = {}): Move {
    return { token: this.login(person).token, method, path, ...parts };
  }

  /** A room, seldom one that is not there. */
  room(): Place {
    if (this.random.chance(3)) {
      const id = this.pick("!none:localhost", "!none", `!${"x".repeat(43)}`, "none");
      return { id, members: new Map(), events: [], pages: [] };
    }
    return this.random.pick(this.rooms);
  }

  /** A user with this membership in a room; anyone, if there is none, and seldom all the same. */
  who(room: Place, ...memberships: string[]): Person {
    const fitting = [...room.members].filter(([, is]) => memberships.includes(is)).map(([person]) => person);
    return fitting.length === 0 || this.random.chance(8) ? this.person() : this.random.pick(fitting);
  }

  /** A member of a room. */
  member(room: Place): Person {
    return this.who(room, "join");
  }

  /** The ID of an event of a room, seldom of another or none. */
  event(room: Place, fits: (event: Posted) => boolean = () => true): string {
    const events = room.events.filter(fits);
    if (events.length === 0 || this.random.chance(5)) {
      const strange = this.random.pick(this.rooms).events;
      return this.pick("$none", `$${"y".repeat(43)}`, "none", strange.at(-1)?.id ?? "$none");
    }
    return this.random.chance(50) ? events.at(-1)?.id ?? "$none" : this.random.pick(events).id;
  }

  /** A transaction ID, seldom one that was used. */
  transaction(): string {
    return this.random.chance(8)
      ? `t${this.random.below(this.#transactions + 1)}`
      : `t${++this.#transactions}`;
  }

  /** A text that one can search for. */
  words(): string {
    return this.pick(
      "Hamlet",
      "the play",
      "Is this a dagger {{run}}",
      "",
      "üñí ☃ 🎭",
      "a\nb",
      "x".repeat(300),
    );
  }

  /** What notes an event that was sent. */
  posted(room: Place, by: Person, type: string): Move["done"] {
    return (id) => {
      room.events.push({ id: `{{${id}.event_id}}`, by, type });
    };
  }

  /** What notes a membership. */
  becomes(room: Place, membership: string, ...people: Person[]): Move["done"] {
    return () => {
      for (const person of people) room.members.set(person, membership);
    };
  }

  /** The user with this ID. */
  find(id: string): Person | undefined {
    return this.people.find((person) => person.id === id);
  }
}
