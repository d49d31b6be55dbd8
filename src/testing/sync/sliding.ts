/**
 * Simplified sliding sync, as Synapse has it: what the classic sync says, in the other form, of all rooms
 * whatever the ranges.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Route, route } from "../http/http.ts";
import { type Answer, Failure } from "../json/json.ts";
import { SyncFilter } from "../rooms/mod.ts";
import { acknowledge, answerOf } from "./sync_answer.ts";
import { formatToken, parseToken } from "./sync_job.ts";
import type { Device } from "../users/mod.ts";

const FEATURE = "org.matrix.simplified_msc3575";
/** The names of the members that hold what is after the timeline in `sync_job.ts`. */
const STATE_AFTER = "state_after";

/** The routes of this file. */
export const slidingRoutes: readonly Route[] = [route("POST", `unstable/${FEATURE}/sync`, sync)];

async function sync(request: AuthedRequest): Promise<Answer> {
  const { server, user, device, json } = request;
  if (server.settings.unstableFeatures[FEATURE] !== true) {
    throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
  }
  const pos = request.query("pos");
  const timeout = request.queryInteger("timeout") ?? 0;
  const lists = Object.values(objectOf(json.lists)).map(objectOf);
  const wanted = objectOf(json.extensions);
  const connection = String(json.conn_id ?? "");
  const position = pos === undefined ? undefined : positionIn(device, connection, pos);
  device.slidingPositions.set(connection, pos === undefined ? [] : [pos]);
  const toDevice = Number(objectOf(wanted.to_device).since ?? 0);
  acknowledge({ device, since: { position: position ?? 0, toDevice } });
  const limit = lists[0]?.timeline_limit ?? 0;
  const since = position === undefined ? undefined : { position, toDevice };
  const filter = new SyncFilter({ room: { timeline: { limit }, ...(lists.length === 0 && { rooms: [] }) } });
  const plan = { server, user, device, since, filter, fullState: false, stateAfter: STATE_AFTER };
  const answer = answerIn(await answerOf(request, plan, timeout), wanted, since === undefined);
  const next = `${++server.slidingAnswers}/${answer.end}`;
  device.slidingPositions.set(connection, [...device.slidingPositions.get(connection) ?? [], next]);
  return { ...answer.content, pos: next };
}

/** The stream position of a place, if the connection knows that: the one it has used last, or that behind it. */
function positionIn({ slidingPositions }: Device, connection: string, pos: string): number {
  if (slidingPositions.get(connection)?.includes(pos) === true) {
    return parseToken(pos.slice(pos.indexOf("/") + 1)).position;
  }
  throw new Failure(400, "M_UNKNOWN_POS", "Unknown position");
}

/** An answer of the classic sync in the form of sliding sync. */
function answerIn(classic: JsonObject, wanted: JsonObject, isNew: boolean): SlidingAnswer {
  const { position, toDevice } = parseToken(String(classic.next_batch));
  const sections = objectOf(classic.rooms);
  const [invite, knock, leave, join] = ["invite", "knock", "leave", "join"].map((name) =>
    Object.entries(objectOf(sections[name])).map(([id, room]) => [id, objectOf(room)] as const)
  ) as unknown as [Rooms, Rooms, Rooms, Rooms];
  const shown = [...leave, ...join];
  const rooms = Object.fromEntries([
    ...shown.map(([id, room]) => [id, roomIn(room, isNew)] as const).filter((
      [, { timeline, required_state }],
    ) => timeline.length + required_state.length > 0),
    ...invite.map(([id, room]) =>
      [id, { initial: true, invite_state: eventsOf(room.invite_state) }] as const
    ),
    ...knock.map(([id, room]) => [id, { initial: true, invite_state: eventsOf(room.knock_state) }] as const),
  ]);
  const ephemeral = (type: string): JsonObject =>
    Object.fromEntries(
      join.map(([id, room]) =>
        [id, eventsOf(room.ephemeral).find((event) => objectOf(event).type === type)] as const
      )
        .filter(([, event]) => event !== undefined),
    );
  const ofRooms = shown.map(([id, room]) => [id, eventsOf(room.account_data)] as const);
  const extensions: JsonObject = {
    to_device: { next_batch: String(toDevice), events: eventsOf(classic.to_device) },
    e2ee: {
      ...(classic.device_lists !== undefined && { device_lists: classic.device_lists }),
      device_one_time_keys_count: { signed_curve25519: 0 }, // as on Synapse, however many there are
      device_unused_fallback_key_types: classic.device_unused_fallback_key_types,
    },
    account_data: {
      global: eventsOf(classic.account_data),
      rooms: Object.fromEntries(ofRooms.filter(([, events]) => events.length > 0)),
    },
    receipts: { rooms: ephemeral("m.receipt") },
    typing: { rooms: ephemeral("m.typing") },
  };
  const isWanted = ([name]: [string, unknown]): boolean => objectOf(wanted[name]).enabled === true;
  const content = {
    lists: {},
    rooms,
    extensions: Object.fromEntries(Object.entries(extensions).filter(isWanted)),
  };
  return { content, end: formatToken({ position, toDevice: position }) };
}

interface SlidingAnswer {
  readonly content: JsonObject;
  /** The classic token of its end, which is ahead of messages to the device that are left, as on Synapse. */
  readonly end: string;
}

type Rooms = readonly (readonly [string, JsonObject])[];

interface SlidingRoom {
  readonly initial?: boolean;
  readonly required_state: readonly unknown[];
  readonly timeline: readonly unknown[];
  readonly limited: boolean;
  readonly prev_batch: unknown;
}

function roomIn(room: JsonObject, isNew: boolean): SlidingRoom {
  const timeline = objectOf(room.timeline);
  return {
    ...(isNew && { initial: true }),
    required_state: eventsOf(room[STATE_AFTER]),
    timeline: eventsOf(timeline),
    limited: timeline.limited === true,
    prev_batch: timeline.prev_batch,
  };
}

function eventsOf(section: unknown): readonly unknown[] {
  const { events } = objectOf(section);
  return Array.isArray(events) ? events : [];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
