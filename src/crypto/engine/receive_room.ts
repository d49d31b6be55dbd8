/**
 * How the engine receives what a room is like: who is in it, and how it is encrypted.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { StateEvent } from "../../types/events/event.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { Transaction } from "../records/transaction.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { MemberChange } from "./engine_protocol.ts";
import type { RoomDescription, RoomStateInput } from "../sharing/sharing_protocol.ts";

/** Receives the state of a room. */
export async function receiveRoomState(
  tx: Transaction,
  { rooms, devices, outbound, history }: EngineParts,
  room: RoomStateInput,
): Promise<void> {
  for (const event of room.events) {
    if (event.type === "m.room.member") history.memberEvent(tx, room.roomId, event);
  }
  const changes = rooms.receiveState(tx, room);
  if (changes.track.length > 0) devices.track(tx, changes.track);
  // Synapse announces no devices of a user who joined one room and was banned from another meanwhile.
  if (changes.joined.length > 0) devices.changed(tx, changes.joined);
  if (changes.left.length > 0 || changes.settingsChanged) await outbound.roomChanged(tx, changes);
}

/**
 * Receives a change of a member before the sync shows it. Of who was invited it may have shown by now that they have
 * joined, when the answer to the invitation was slower.
 */
export async function receiveMemberChange(
  tx: Transaction,
  parts: EngineParts,
  { roomId, userId, membership }: MemberChange,
): Promise<void> {
  if (membership === Membership.INVITE && parts.rooms.hasJoined(roomId, userId)) return;
  const event: StateEvent = {
    type: "m.room.member",
    state_key: userId,
    content: { membership },
    room_id: roomId,
    sender: parts.context.own.userId,
    event_id: "$",
    origin_server_ts: 0,
    source: SyncStream.INTERNAL,
  };
  await receiveRoomState(tx, parts, { roomId, events: [event], limited: false, lossy: false });
}

/** Receives the description of a room. */
export async function receiveDescription(
  tx: Transaction,
  { rooms, devices, outbound }: EngineParts,
  description: RoomDescription,
): Promise<void> {
  const changes = rooms.describe(tx, description);
  devices.track(tx, changes.track);
  await outbound.roomChanged(tx, changes);
}
