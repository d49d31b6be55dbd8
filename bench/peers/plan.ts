/**
 * What a client is given to do, in order: jobs, each of some sync responses.
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
}

/** The sizes that the goals are about. */
export const FULL: Sizes = {
  rooms: 500,
  members: 40,
  timeline: 20,
  incremental: 30,
  busyRooms: 50,
  busyTimeline: 20,
  small: 2_000,
  smallTimeline: 5,
};

/** Enough to see that everything runs. */
export const QUICK: Sizes = {
  ...FULL,
  rooms: 50,
  incremental: 5,
  busyRooms: 20,
  small: 200,
};

/** One room, and one event: for clients that only start, or wait. */
export const ONE_EVENT: Sizes = { ...FULL, rooms: 1, members: 2, timeline: 1, incremental: 0, small: 0 };
/** How the names of clients begin that are given {@linkcode ONE_EVENT} at once. */
export const BRIEF = "brief-";

/** A job: responses that are given one after the other. */
export interface Job {
  readonly name: JobName;
  /** What it is, in a few words. */
  readonly title: string;
  /** How many responses. */
  readonly syncs: number;
  /** How many events their timelines have, all together. */
  readonly events: number;
}

/** The jobs' names, in the order in which they are done. */
export type JobName = "initial" | "incremental" | "small";

/** The jobs, in order. */
export function jobsOf(sizes: Sizes): Job[] {
  const { rooms, members, timeline, incremental, busyRooms, busyTimeline, small, smallTimeline } = sizes;
  const number = (value: number) => value.toLocaleString("en");
  const each = busyRooms * busyTimeline;
  return [
    {
      name: "initial",
      title: `1: an initial sync of ${rooms} rooms, each with ${timeline} events and ${members} members`,
      syncs: 1,
      events: rooms * timeline,
    },
    {
      name: "incremental",
      title: `2: ${incremental} syncs of ${number(each)} events`,
      syncs: incremental,
      events: incremental * each,
    },
    {
      name: "small",
      title: `3: ${number(small)} syncs of ${smallTimeline} events`,
      syncs: small,
      events: small * smallTimeline,
    },
  ];
}
