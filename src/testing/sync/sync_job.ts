/**
 * One sync request, as all parts of its response see it; the tokens of sync and of pagination; and whose
 * devices a client must look at again, in a sync response and from `GET /keys/changes`.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#extensions-to-sync-1 | Extensions to /sync}
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { refused } from "../json/json.ts";
import { firstAfter, membershipOf, type Room, type RoomEvent, type SyncFilter } from "../rooms/mod.ts";
import type { ServerState } from "../server/mod.ts";
import type { Device, User } from "../users/mod.ts";

/** What a sync is about. */
export interface SyncJob {
  /** The homeserver. */
  readonly server: ServerState;
  /** Who syncs. */
  readonly user: User;
  readonly device: Device;
  /** Where the client stands; `undefined` for an initial sync. */
  readonly since: SyncToken | undefined;
  /** How far this response reaches. */
  readonly until: number;
  /** What the client wants to know. */
  readonly filter: SyncFilter;
  /** Whether all state of all rooms is wanted. */
  readonly fullState: boolean;
  /**
   * The member for state at the end of the timeline, if it is to be that; otherwise it is that at
   * its start, in `state`.
   */
  readonly stateAfter: string | undefined;
}

/** The stream position that the client has reached; 0 for an initial sync. */
export function startOf(job: SyncJob): number {
  return job.since?.position ?? 0;
}

/** A place in the stream. */
interface SyncToken {
  /** The stream position. */
  readonly position: number;
  /** The position of the last to-device message that was told; these come in portions. */
  readonly toDevice: number;
}

/** Writes a token. */
export function formatToken({ position, toDevice }: SyncToken): string {
  return `s${position}_${toDevice}`;
}

/** Writes a token for paginating from a stream position. */
export function pageToken(position: number): string {
  return `t${position}`;
}

/** Reads a token of either kind, or a position of sliding sync in its merged spelling. */
export function parseToken(text: string): SyncToken {
  const [, position, toDevice] = /^[st](\d+)(?:_(\d+))?(?:~\d+)?$/.exec(text) ?? [];
  if (position === undefined) throw refused(`Invalid stream token ${JSON.stringify(text)}`);
  return { position: Number(position), toDevice: Number(toDevice ?? position) };
}

/** Users whose devices have changed or who can now be seen, and users who can no longer be seen. */
interface DeviceLists {
  /** To be queried again. */
  readonly changed: UserID[];
  /** To be forgotten. */
  readonly left: UserID[];
}

/** Which rooms a user came into or left, and who came into the rooms that the user is in, or left them. */
interface Movements {
  readonly entered: readonly Room[];
  readonly left: readonly Room[];
  readonly come: Iterable<UserID>;
  readonly gone: Iterable<UserID>;
}

/** Makes the lists of a sync response: each member event that it shows counts. */
export function deviceListsOf({ server, user, since }: SyncJob, { come, gone }: Arrivals): DeviceLists {
  if (since === undefined) return { changed: [], left: [] };
  const { entered, visited, left } = ownMoves(server, user, since.position);
  return assemble(server, user, since.position, { entered: [...entered, ...visited], left, come, gone });
}

/** Makes the lists of what happened after a stream position. */
export function deviceListsSince(server: ServerState, user: User, since: number): DeviceLists {
  const come = new Set<UserID>();
  const gone = new Set<UserID>();
  const isPresent = (event: RoomEvent | undefined) => PRESENT.includes(membershipOf(event));
  for (const room of roomsOf(server, user)) {
    if (room.membership(user.id) !== "join") continue;
    for (const event of room.stateEvents.slice(firstAfter(room.stateEvents, since))) {
      if (event.type !== "m.room.member") continue;
      const member = event.stateKey as UserID;
      if (isPresent(event) === isPresent(event.replaces)) continue;
      (isPresent(event) ? come : gone).add(member);
      (isPresent(event) ? gone : come).delete(member);
    }
  }
  return assemble(server, user, since, { ...ownMoves(server, user, since), come, gone });
}

function roomsOf(server: ServerState, user: User): Room[] {
  return [...user.memberships.keys()].map((id) => server.rooms.get(id)).filter((room) => room !== undefined);
}

/** The rooms that a user came into, those that they also left again, and those that they left. */
function ownMoves(
  server: ServerState,
  user: User,
  since: number,
): Record<"entered" | "visited" | "left", Room[]> {
  const moves: Record<"entered" | "visited" | "left", Room[]> = { entered: [], visited: [], left: [] };
  for (const room of roomsOf(server, user)) {
    const changes = room.stateHistory("m.room.member", user.id).filter(({ position }) => position > since);
    const wasIn = room.membership(user.id, since) === "join";
    const cameIn = changes.some((event) => membershipOf(event) === "join");
    const wasOut = !wasIn || changes.some((event) => membershipOf(event) !== "join");
    if (room.membership(user.id) === "join") {
      if (changes.length > 0 && wasOut) moves.entered.push(room);
    } else {
      if (wasIn || cameIn) moves.left.push(room);
      if (cameIn && !wasIn) moves.visited.push(room);
    }
  }
  return moves;
}

function assemble(server: ServerState, user: User, since: number, moves: Movements): DeviceLists {
  const isSeen = (id: UserID) => server.shareRoom(user, id);
  const changes = server.deviceChanges.since(since, user);
  const met = moves.entered.flatMap((room) => room.membersWith("join"));
  const missed = moves.left.flatMap((room) => room.membersWith("join"));
  return {
    changed: [...new Set([...changes, ...met, ...moves.come])],
    left: [...new Set([...missed, ...moves.gone])].filter((id) => !isSeen(id)),
  };
}

/** The memberships of those who are, or will be, in a room. */
const PRESENT: readonly string[] = ["join", "invite", "knock"];

/** What an incremental sync tells of members; an initial one tells nothing. */
export class Arrivals {
  /** Users whose member event in a room of the user's says that they are, or will be, there. */
  readonly come: Set<UserID> = new Set();
  /** Users who were in a room of the user's. */
  readonly gone: Set<UserID> = new Set();

  /** Looks at the events that a response shows of a room that the user is in: state, then timeline. */
  note(events: Iterable<RoomEvent>): void {
    for (const event of events) {
      if (event.type !== "m.room.member" || event.stateKey === undefined) continue;
      const member = event.stateKey as UserID;
      if (PRESENT.includes(membershipOf(event))) {
        this.come.add(member);
        this.gone.delete(member);
      } else {
        if (membershipOf(event.replaces) === "join") this.gone.add(member);
        this.come.delete(member);
      }
    }
  }
}
