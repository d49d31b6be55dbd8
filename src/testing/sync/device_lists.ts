/**
 * Whose devices a client must look at again, in a sync response and from `GET /keys/changes`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#extensions-to-sync-1 | Extensions to /sync}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { membershipOf } from "../model/events/room_event.ts";
import { firstAfter } from "../model/events/search.ts";
import type { ServerState } from "../model/server_state.ts";
import type { Arrivals } from "./arrivals.ts";
import { startOf, type SyncJob } from "./sync_job.ts";
import type { User } from "../model/users/user.ts";

/** Users whose devices have changed or who can now be seen, and users who can no longer be seen. */
export interface DeviceLists {
  /** To be queried again. */
  readonly changed: UserID[];
  /** To be forgotten. */
  readonly left: UserID[];
}

/** What happened after stream position `from`, up to `to`. */
export function deviceListsBetween(server: ServerState, user: User, from: number, to: number): DeviceLists {
  const changed = new Set<UserID>();
  const gone = new Set<UserID>();
  for (const id of server.deviceChanges.between(from, to)) {
    if (id === user.id || server.shareRoom(user, id)) changed.add(id);
  }
  for (const [roomId, own] of user.memberships) {
    const room = server.rooms.get(roomId);
    if (room === undefined) continue;
    const joined = membershipOf(own) === "join";
    const joinedBefore = room.membership(user.id, from) === "join";
    if (joined && !joinedBefore) {
      for (const member of room.membersWith("join")) changed.add(member);
    } else if (!joined && joinedBefore) {
      for (const [member, event] of room.members) {
        if (membershipOf(event) === "join" || room.membership(member, from) === "join") gone.add(member);
      }
    } else if (joined) {
      for (let i = firstAfter(room.stateEvents, from); i < room.stateEvents.length; i++) {
        const event = room.stateEvents[i];
        if (event?.type !== "m.room.member" || event.stateKey === undefined || event.position > to) continue;
        const member = event.stateKey as UserID;
        const before = room.membership(member, from) === "join";
        const after = room.membership(member) === "join";
        if (after && !before) changed.add(member);
        if (before && !after) gone.add(member);
      }
    }
  }
  const left = [...gone].filter((id) => id !== user.id && !server.shareRoom(user, id));
  return { changed: [...changed], left };
}

/** What a sync response says: more than has changed, since each member event counts. */
export function deviceListsOf(job: SyncJob, { come, gone }: Arrivals): DeviceLists {
  if (job.since === undefined) return { changed: [], left: [] };
  const { server, user } = job;
  const { changed, left } = deviceListsBetween(server, user, startOf(job), job.until);
  const isOut = (id: UserID) => id !== user.id && !server.shareRoom(user, id);
  return {
    changed: [...new Set([...changed, ...come])],
    left: [...new Set([...left, ...[...gone].filter(isOut)])],
  };
}
