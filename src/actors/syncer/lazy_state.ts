/**
 * The state that comes beside members that are loaded lazily, where types have to be named. Loaded late.
 *
 * A file of its own because nothing else names types from proposals.
 *
 * @module
 */

import { knownTypes } from "../../types/checks/content_shapes.ts";

/** Types that are not in the specification, or have another name in it. */
const UNSPECIFIED: readonly string[] = [
  ...["room.retention", "room.rule.room", "room.rule.server", "room.rule.user"].map((name) => `m.${name}`),
  ...["m.beacon_info", "m.call.member", "m.rtc.member", "m.widget"],
  ...["msc3401.call.member", "msc3672.beacon_info", "msc4143.rtc.member", "msc4391.command_description"]
    .map((name) => `org.matrix.${name}`),
  ...["im.vector.modular.widgets", "im.ponies.room_emotes"],
];

/**
 * The types of state that are asked for beside members.
 *
 * @param handled The types that have a handler.
 */
export function typesBesideMembers(handled: readonly string[]): string[] {
  const types = new Set([...knownTypes("state"), ...UNSPECIFIED, ...handled]);
  for (const type of ["m.room.member", "*"]) types.delete(type); // these would bring all members
  return [...types];
}
