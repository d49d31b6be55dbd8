/**
 * What a client is given to do, in order: jobs, each of some sync responses, and in the end
 * messages to send.
 *
 * @module
 */

/** How much there is of everything. */
export interface Sizes {
  /** Of the initial sync. */
  readonly rooms: number;
  /** Members of each room. */
  readonly members: number;
  /** Events of each room's timeline in the initial sync. */
  readonly timeline: number;
  /** How many incremental syncs. */
  readonly incremental: number;
  /** Rooms in which something has happened, in each of them. */
  readonly busyRooms: number;
  /** Events of each such room. */
  readonly busyTimeline: number;
  /** How many small syncs. */
  readonly small: number;
  /** Events of each of them, of one room. */
  readonly smallTimeline: number;
  /** How many messages the client sends in the end. */
  readonly sends: number;
}

/** The sizes that the goals are about. */
export const FULL: Sizes = {
  rooms: 500,
  members: 40,
  timeline: 20,
  incremental: 60,
  busyRooms: 50,
  busyTimeline: 20,
  small: 2_000,
  smallTimeline: 5,
  sends: 1_000,
};

/** Enough to see that everything runs. */
const QUICK: Sizes = { ...FULL, rooms: 50, incremental: 5, busyRooms: 20, small: 200, sends: 50 };

/** Others need milliseconds for an event: fewer show what one costs. */
const ENCRYPTED: Sizes = { ...FULL, rooms: 100, incremental: 10, busyRooms: 20, small: 100 };

const ENCRYPTED_QUICK: Sizes = {
  ...ENCRYPTED,
  rooms: 10,
  incremental: 2,
  busyRooms: 5,
  small: 20,
  sends: 20,
};

/** One room, and one event: for clients that only start, or wait. */
const ONE_EVENT: Sizes = {
  ...FULL,
  rooms: 1,
  members: 2,
  timeline: 1,
  incremental: 0,
  small: 0,
  sends: 0,
};

/**
 * Among so many rooms, small syncs: for clients of which it is to be seen how what they do grows.
 */
const among = (rooms: number): Sizes => ({ ...ONE_EVENT, rooms, small: 500 });

/** Messages that come at a rate, in fifty rooms. */
const PACED: Sizes = { ...ONE_EVENT, rooms: 50, members: 4, small: 20_000, smallTimeline: 1 };

const PACED_QUICK: Sizes = { ...PACED, small: 500 };

/** What a client is given; its name at the stub homeserver begins with it. */
export type PlanName =
  | "play"
  | "crypt"
  | "first"
  | "firstcrypt"
  | "brief"
  | "paced"
  | "pacedcrypt"
  | `grow${number}`;

/** What a plan has for a client. */
export interface Plan {
  readonly sizes: Sizes;
  /** Whether rooms are encrypted. */
  readonly encrypted: boolean;
  /** Whether responses are given immediately, without waiting for a job to begin. */
  readonly atOnce: boolean;
  /** Whether messages come at a rate, and answers to them are timed. Default: false. */
  readonly paced?: boolean;
}

/** Only the initial sync, of which a client has but one: it is repeated more often. */
const ONLY_INITIAL: Partial<Sizes> = { incremental: 0, small: 0, sends: 0 };

/** Whether a plan's rooms are encrypted. */
export function isEncrypted(name: PlanName): boolean {
  return name.endsWith("crypt");
}

/** A plan by its name. */
export function planOf(name: PlanName, { quick }: { readonly quick: boolean }): Plan {
  const encrypted = isEncrypted(name);
  const all = encrypted ? quick ? ENCRYPTED_QUICK : ENCRYPTED : quick ? QUICK : FULL;
  if (name === "play" || name === "crypt") return { sizes: all, encrypted, atOnce: false };
  if (name.startsWith("first")) return { sizes: { ...all, ...ONLY_INITIAL }, encrypted, atOnce: false };
  if (name === "brief") return { sizes: ONE_EVENT, encrypted, atOnce: true };
  if (name.startsWith("paced")) {
    return { sizes: quick ? PACED_QUICK : PACED, encrypted, atOnce: false, paced: true };
  }
  return { sizes: among(Number(name.slice("grow".length))), encrypted, atOnce: false };
}

/** A job: responses that are given one after the other, or messages that are sent so. */
export interface Job {
  readonly name: JobName;
  /** What it is, in a few words. */
  readonly title: string;
  /** How many responses, or messages sent. */
  readonly syncs: number;
  /** How many events their timelines have, all together; or as many as are sent. */
  readonly events: number;
}

/** The jobs' names, in the order in which they are done. */
export type JobName = "initial" | "incremental" | "small" | "send";

/** The jobs of a plan, in order. */
export function jobsOf({ sizes, encrypted }: Plan): Job[] {
  const { rooms, members, timeline, incremental, busyRooms, busyTimeline, small, smallTimeline } = sizes;
  const number = (value: number) => value.toLocaleString("en");
  const each = busyRooms * busyTimeline;
  const [of, numbers] = encrypted ? [" encrypted", ["4.1", "4.2", "4.3"]] : ["", ["1", "2", "3"]];
  const jobs: Job[] = [
    {
      name: "initial",
      title: `${
        numbers[0]
      }: an initial sync of ${rooms}${of} rooms, each with ${timeline} events and ${members} members`,
      syncs: 1,
      events: rooms * timeline,
    },
    {
      name: "incremental",
      title: `${numbers[1]}: ${incremental} syncs of ${number(each)}${of} events`,
      syncs: incremental,
      events: incremental * each,
    },
    {
      name: "small",
      title: `${numbers[2]}: ${number(small)} syncs of ${smallTimeline}${of} events`,
      syncs: small,
      events: small * smallTimeline,
    },
    {
      name: "send",
      title: `5: send ${number(sizes.sends)}${of} messages, one after the other`,
      syncs: sizes.sends,
      events: sizes.sends,
    },
  ];
  return jobs.filter(({ syncs }) => syncs > 0);
}
