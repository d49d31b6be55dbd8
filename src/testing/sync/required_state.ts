/**
 * Which state of a room sliding sync shows.
 *
 * As on Synapse: a connection that asks for more than before is shown that at once. Of members that are
 * loaded lazily, those of the timeline come, and without a gap all that have changed.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import type { Room, RoomEvent } from "../rooms/mod.ts";
import type { RequiredState, ShownRoom, StatePattern } from "../users/mod.ts";

const MEMBER = "m.room.member";
const EVERYTHING: StatePattern = { type: undefined, key: undefined };

/** What the lists and rooms of a request ask for together, in the spelling of Synapse. */
export function requiredState(parts: readonly unknown[], own: string): RequiredState {
  const pairs = parts.flatMap((part) => objectOf(part).required_state ?? [["*", "*"]]) as [string, string][];
  // As on Synapse: a type that is a wildcard brings all state, whatever the key.
  if (pairs.some(([type]) => type === "*")) return { include: [EVERYTHING], exclude: [], isLazy: false };
  const isLazy = pairs.some(([type, key]) => type === MEMBER && key === "$LAZY");
  const include = pairs.filter(([, key]) => key !== "$LAZY").map(([type, key]) => ({
    type,
    key: key === "*" ? undefined : key === "$ME" ? own : key,
  }));
  const hasAllMembers = include.some(({ type, key }) => type === MEMBER && key === undefined);
  return { include, exclude: [], isLazy: isLazy && !hasAllMembers };
}

/** The same in the merged spelling. */
export function mergedState(parts: readonly unknown[]): RequiredState {
  const asked = parts.map((part) => objectOf(objectOf(part).required_state));
  const patterns = (name: string): StatePattern[] =>
    asked.flatMap((each) => Array.isArray(each[name]) ? each[name].filter(isJsonObject) : []).map(patternOf);
  return {
    include: patterns("include"),
    exclude: patterns("exclude"),
    isLazy: asked.some((each) => each.lazy_members === true),
  };
}

function patternOf({ type, state_key: key }: JsonObject): StatePattern {
  return {
    type: typeof type === "string" ? type : undefined,
    key: typeof key === "string" ? key : undefined,
  };
}

/** Whether an event is asked for whatever the timeline has: of lazy members, those who are named. */
function isAsked({ include, exclude, isLazy }: RequiredState, { type, stateKey }: RoomEvent): boolean {
  const fits = (pattern: StatePattern): boolean =>
    (pattern.type ?? type) === type && (pattern.key ?? stateKey) === stateKey;
  const isNamed = (pattern: StatePattern): boolean => type !== MEMBER || !isLazy || pattern.type === MEMBER;
  return include.some((pattern) => fits(pattern) && isNamed(pattern)) && !exclude.some(fits);
}

function isAll({ include, exclude, isLazy }: RequiredState): boolean {
  const isEverything = ({ type, key }: StatePattern): boolean => type === undefined && key === undefined;
  return !isLazy && exclude.length === 0 && include.some(isEverything);
}

/** Whether a request asks for state that the connection has not been asked for before. */
export function asksMore(asked: RequiredState, before: RequiredState): boolean {
  if (isAll(before)) return false;
  const known = new Set(before.include.map(nameOf));
  return isAll(asked) || asked.include.some((pattern) => !known.has(nameOf(pattern)));
}

function nameOf({ type, key }: StatePattern): string {
  return JSON.stringify([type ?? null, key ?? null]);
}

/** The stretch of a room that is shown. */
export interface Stretch {
  readonly asked: RequiredState;
  /** What was shown of the room before; undefined: it is shown as it is. */
  readonly before: ShownRoom | undefined;
  /** Up to where. */
  readonly until: number;
  readonly timeline: { readonly events: readonly RoomEvent[]; readonly limited: boolean };
}

/** The state that is shown of a room, and the members that the connection has then. */
export function stateShown(
  room: Room,
  { asked, before, until, timeline: { events, limited } }: Stretch,
): { readonly state: readonly RoomEvent[]; readonly members: ReadonlySet<string> } {
  const full = room.fullState(until);
  const changes = before === undefined ? [] : room.stateChanges(before.until, until);
  const lazy = new Set<string>();
  if (asked.isLazy) {
    for (const { sender, type, stateKey } of events) {
      lazy.add(sender);
      if (type === MEMBER && stateKey !== undefined) lazy.add(stateKey);
    }
    if (before !== undefined && !limited) { for (const name of membersIn(changes)) lazy.add(name); }
  }
  for (const event of full) {
    if (event.type === MEMBER && isAsked(asked, event)) lazy.delete(event.stateKey ?? "");
  }
  const isLazy = ({ type, stateKey = "" }: RoomEvent): boolean => type === MEMBER && lazy.has(stateKey);
  if (before === undefined) {
    return { state: full.filter((event) => isAsked(asked, event) || isLazy(event)), members: lazy };
  }
  const isMore = asksMore(asked, before.state);
  const isNew = (event: RoomEvent): boolean =>
    isLazy(event)
      ? !before.members.has(event.stateKey ?? "")
      : isMore && isAsked(asked, event) && (isAll(asked) || !isAsked(before.state, event));
  const added = isAll(before.state) ? [] : full.filter(isNew);
  const members = new Set(before.members);
  for (const name of membersIn(changes)) members.delete(name);
  for (const name of lazy) members.add(name);
  const shown = new Set([...added, ...changes.filter((event) => isAsked(asked, event) || isLazy(event))]);
  return { state: [...shown], members };
}

function membersIn(state: readonly RoomEvent[]): string[] {
  return state.filter(({ type }) => type === MEMBER).map(({ stateKey = "" }) => stateKey);
}
