/**
 * State events as their contents.
 *
 * @module
 */

import type { StoredState } from "../../store/device/mod.ts";
import { Misfit, UNNOTED } from "../../types/checks/shape.ts";
import { roomMember } from "../../types/checks/state_shapes.ts";
import type { RoomMemberContent } from "../../types/content/member_content.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { RoomID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";

/** A state event of which only the content is known. */
export function synthetic(roomId: RoomID, type: string, stateKey: string, content: object): StoredState {
  return {
    type,
    room_id: roomId,
    state_key: stateKey,
    content: content as JsonObject,
    sender: "@:",
    source: SyncStream.INTERNAL,
  };
}

/** The content of a member event; undefined if it does not fit. */
export function memberContent({ content }: StoredState): RoomMemberContent | undefined {
  const fitting = roomMember(content, UNNOTED);
  return fitting instanceof Misfit ? undefined : fitting;
}
