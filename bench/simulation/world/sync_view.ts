/**
 * Syncs of all kinds as if they were classic ones: what changes answers need not know which it is.
 *
 * @module
 */

import type { SentRequest } from "./process.ts";

// deno-lint-ignore no-explicit-any -- the JSON of an answer, which is changed in any way
type Json = any;

/** Whether a request is a sync. */
export function isSync({ url: { pathname } }: Pick<SentRequest, "url">): boolean {
  return pathname.endsWith("/sync");
}

/** Whether a request is a classic sync. */
export function isClassicSync({ url: { pathname } }: Pick<SentRequest, "url">): boolean {
  return pathname.endsWith("/v3/sync");
}

/** Where a sync goes on; null: at the start. */
export function sinceOf(
  { url: { pathname, searchParams }, body }: Pick<SentRequest, "url" | "body">,
): string | null {
  if (pathname.endsWith("/v4/sync")) return JSON.parse(body ?? "{}").pos ?? null;
  return searchParams.get("since") ?? searchParams.get("pos");
}

/** How long a sync waits, in milliseconds. */
export function timeoutOf(
  { url: { pathname, searchParams }, body }: Pick<SentRequest, "url" | "body">,
): number {
  const timeout = pathname.endsWith("/v4/sync")
    ? JSON.parse(body ?? "{}").timeout
    : searchParams.get("timeout");
  return Number(timeout ?? 0);
}

/** The same sync, which does not wait. */
export function withoutWait<Asked extends Pick<SentRequest, "url" | "body">>(request: Asked): Asked {
  if (request.url.pathname.endsWith("/v4/sync")) {
    return { ...request, body: JSON.stringify({ ...JSON.parse(request.body ?? "{}"), timeout: 0 }) };
  }
  const url = new URL(request.url);
  url.searchParams.set("timeout", "0");
  return { ...request, url };
}

/** The token of the classic sync that a token has in it. */
export function classicToken(token: string): string {
  return token.replace(/^\d+\//, "").replace(/~\d+$/, "");
}

/** The names that the parts of a room have. */
const NAMES = {
  unstable: { timeline: "timeline", stripped: "invite_state" },
  merged: { timeline: "timeline_events", stripped: "stripped_state" },
} as const;

/**
 * Changes an answer to a sync, as one of the classic sync, whose rooms say beside that if they are `initial`.
 *
 * @param body The answer.
 * @param own The acting user.
 */
export function changeSync(body: Json, own: string, change: (classic: Json) => void): void {
  if (typeof body?.pos !== "string") return change(body);
  const isMerged = Object.values<Json>(body.lists ?? {}).every((list) => list?.ops === undefined);
  const names = NAMES[isMerged ? "merged" : "unstable"];
  const extensions = body.extensions ??= {};
  const { to_device, e2ee, account_data } = extensions;
  const view: Json = {
    next_batch: body.pos,
    rooms: sectionsOf(body.rooms ?? {}, own, names),
    ...to_device !== undefined && { to_device: { events: to_device.events } },
    ...account_data !== undefined && { account_data: { events: account_data.global } },
    ...e2ee,
  };
  change(view);
  const { next_batch, rooms, to_device: messages, account_data: data, ...keys } = view;
  const isAhead = body.pos === next_batch;
  body.pos = next_batch;
  // What is taken out of it is acknowledged with its end, as in the classic sync.
  if (messages === undefined && !isAhead) delete extensions.to_device;
  else if (messages !== undefined || to_device !== undefined) {
    extensions.to_device = isObject(messages ?? {}) ? { ...to_device, events: [], ...messages } : messages;
  }
  if (data !== undefined) extensions.account_data = { ...account_data, global: data?.events ?? data };
  if (Object.keys(keys).length > 0) extensions.e2ee = keys;
  else delete extensions.e2ee;
  if (isObject(rooms)) restore(body.rooms ??= {}, rooms, names);
  else if (rooms === undefined) delete body.rooms;
  else body.rooms = rooms;
}

type Names = typeof NAMES[keyof typeof NAMES];

function sectionsOf(rooms: Json, own: string, names: Names): Json {
  const sections: Json = {};
  for (const [id, room] of Object.entries<Json>(rooms)) {
    const stripped = room[names.stripped];
    const [events = [], state = []] = [room[names.timeline], room.required_state];
    const section = stripped !== undefined
      ? "invite"
      : isOut(room, [...state, ...events], own)
      ? "leave"
      : "join";
    (sections[section] ??= {})[id] = section === "invite" ? { invite_state: { events: stripped } } : {
      timeline: { events, limited: room.limited, prev_batch: room.prev_batch },
      state_after: { events: state },
      ...room.initial === true && { initial: true },
    };
  }
  return sections;
}

function isOut({ membership }: Json, events: readonly Json[], own: string): boolean {
  const member = events.findLast(({ type, state_key }) => type === "m.room.member" && state_key === own);
  return ["leave", "ban"].includes(membership ?? member?.content?.membership);
}

function restore(rooms: Json, sections: Json, names: Names): void {
  const shown = new Set<string>();
  for (const section of ["join", "leave", "invite", "knock"]) {
    if (!isObject(sections[section])) continue;
    for (const [id, part] of Object.entries<Json>(sections[section])) {
      shown.add(id);
      if (isObject(part)) Object.assign(rooms[id] ??= {}, roomOf(part, names));
      else rooms[id] = part;
    }
  }
  for (const id of Object.keys(rooms)) if (!shown.has(id)) delete rooms[id];
}

function roomOf({ timeline, state, state_after, invite_state, knock_state }: Json, names: Names): Json {
  const stripped = (invite_state ?? knock_state)?.events;
  const states = [state_after?.events ?? [], state?.events ?? []];
  return {
    ...stripped !== undefined && { [names.stripped]: stripped },
    ...timeline !== undefined && {
      [names.timeline]: timeline?.events ?? timeline,
      limited: timeline?.limited,
      prev_batch: timeline?.prev_batch,
    },
    ...(state_after ?? state) !== undefined && {
      required_state: states.every(Array.isArray)
        ? states.flat()
        : states.find((each) => !Array.isArray(each)),
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
