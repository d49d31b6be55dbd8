/**
 * Sync responses as a homeserver would give them, made from a seed, and encoded beforehand.
 *
 * @module
 */

import { type Random, seeded } from "../../kill/random.ts";
import type { Sizes } from "./plan.ts";
import { type JoinedRoom, RoomInputs, withStrangers } from "./room_inputs.ts";

/** A sync response. */
export interface InputResponse {
  readonly next_batch: string;
  readonly rooms: { readonly join: Readonly<Record<string, JoinedRoom>> };
}

const encoder = new TextEncoder();

/** The token after so many responses. */
export function tokenAfter(responses: number): string {
  return `s${responses}_b_e_n_c_h`;
}

/**
 * All responses of all jobs, in order: that at an index is what a client gets with
 * {@linkcode tokenAfter} of the index.
 */
export function makeInputs(sizes: Sizes, seed: number): Uint8Array<ArrayBuffer>[] {
  const random = seeded(seed);
  const rooms = Array.from(
    { length: sizes.rooms },
    () => new RoomInputs(random, withStrangers(random, sizes.members)),
  );
  return Array.from(
    responses({ random, rooms, sizes }),
    (response) => encoder.encode(JSON.stringify(response)),
  );
}

/** All responses of all jobs, not encoded yet. */
export function* responses({ random, rooms, sizes }: {
  readonly random: Random;
  readonly rooms: readonly RoomInputs[];
  readonly sizes: Sizes;
}): Generator<InputResponse> {
  let given = 0;
  const counts = {
    device_one_time_keys_count: { signed_curve25519: 50 },
    device_unused_fallback_key_types: ["signed_curve25519"],
    device_lists: { changed: [], left: [] },
  };
  const response = (body: Pick<InputResponse, "rooms">): InputResponse => ({
    next_batch: tokenAfter(++given),
    ...counts,
    ...body,
  });
  const initial = {
    account_data: { events: globalAccountData(rooms) },
    presence: presence(random, rooms, 50),
    rooms: joined(rooms, (room) => ({ state: { events: room.state() }, ...room.update(sizes.timeline) })),
  };
  yield response(initial);
  for (let index = 0; index < sizes.incremental; index++) {
    const busy = some(random, rooms, sizes.busyRooms);
    const incremental = {
      presence: presence(random, busy, 20),
      rooms: joined(busy, (room) => room.update(sizes.busyTimeline)),
    };
    yield response(incremental);
  }
  for (let index = 0; index < sizes.small; index++) {
    yield response({ rooms: joined(some(random, rooms, 1), (room) => room.update(sizes.smallTimeline)) });
  }
}

function joined(
  rooms: readonly RoomInputs[],
  describe: (room: RoomInputs) => JoinedRoom,
): InputResponse["rooms"] {
  return { join: Object.fromEntries(rooms.map((room) => [room.roomId, describe(room)])) };
}

/** Different rooms, in a row that begins anywhere. */
function some(random: Random, rooms: readonly RoomInputs[], count: number): RoomInputs[] {
  const start = Math.floor(random() * rooms.length);
  return Array.from(
    { length: Math.min(count, rooms.length) },
    (_, index) => rooms[(start + index) % rooms.length],
  )
    .filter((room) => room !== undefined);
}

function presence(random: Random, rooms: readonly RoomInputs[], count: number): object {
  const events = Array.from({ length: count }, (_, index) => ({
    type: "m.presence",
    sender: rooms[index % rooms.length]?.userIds[1 + (index % 5)] ?? "@user:example.org",
    content: { presence: "online", currently_active: true, last_active_ago: Math.floor(random() * 1e6) },
  }));
  return { events };
}

function globalAccountData(rooms: readonly RoomInputs[]): object[] {
  const direct = rooms.slice(0, 20).map(({ roomId, userIds }) => [userIds[1], [roomId]]);
  return [
    { type: "m.direct", content: Object.fromEntries(direct) },
    { type: "m.ignored_user_list", content: { ignored_users: {} } },
    {
      type: "m.push_rules",
      content: { global: { override: [], content: [], room: [], sender: [], underride: [] } },
    },
  ];
}
