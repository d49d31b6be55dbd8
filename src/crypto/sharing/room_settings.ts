/**
 * The encryption settings of a room: no later event weakens them.
 *
 * @module
 */

import { isJsonObject } from "../../types/json.ts";

/** The encryption settings of a room. */
export interface RoomSettings {
  /**
   * The algorithm that the room was first encrypted with; undefined if it was malformed, so that
   * nothing can be sent.
   */
  readonly algorithm: string | undefined;
  /** For how long a session is used at most, in milliseconds. */
  readonly rotationPeriodMs: number;
  /** For how many messages a session is used at most. */
  readonly rotationPeriodMsgs: number;
  /** The history visibility; undefined if there is none, or a malformed one. */
  readonly historyVisibility: HistoryVisibility | undefined;
}

/** The history visibility of a room. */
export type HistoryVisibility = (typeof HISTORY_VISIBILITIES)[number];

/** The shortest time for which a session is used, in milliseconds: an hour. */
export const MIN_ROTATION_PERIOD_MS = 3_600_000;

const DEFAULT_ROTATION_PERIOD_MS = 604_800_000;
const DEFAULT_ROTATION_PERIOD_MSGS = 100;
const MAX_ROTATION_PERIOD_MSGS = 10_000;
const HISTORY_VISIBILITIES = ["world_readable", "shared", "invited", "joined"] as const;

/** Applies a content of `m.room.encryption`: the first algorithm stays, and limits only tighten. */
export function withEncryption(before: RoomSettings | undefined, content: unknown): RoomSettings {
  const said = isJsonObject(content) ? content : {};
  const periodMs = clamped(said.rotation_period_ms, MIN_ROTATION_PERIOD_MS, Number.MAX_SAFE_INTEGER);
  const periodMsgs = clamped(said.rotation_period_msgs, 1, MAX_ROTATION_PERIOD_MSGS);
  return {
    algorithm: before?.algorithm ?? (typeof said.algorithm === "string" ? said.algorithm : undefined),
    rotationPeriodMs: tightest(before?.rotationPeriodMs, periodMs, DEFAULT_ROTATION_PERIOD_MS),
    rotationPeriodMsgs: tightest(before?.rotationPeriodMsgs, periodMsgs, DEFAULT_ROTATION_PERIOD_MSGS),
    historyVisibility: before?.historyVisibility,
  };
}

/** Reads a content of `m.room.history_visibility`. */
export function historyVisibilityOf(content: unknown): HistoryVisibility | undefined {
  const said = isJsonObject(content) ? content.history_visibility : undefined;
  return HISTORY_VISIBILITIES.find((visibility) => visibility === said);
}

/** Whether two settings are the same. */
export function sameSettings(first: RoomSettings | undefined, second: RoomSettings | undefined): boolean {
  return first?.algorithm === second?.algorithm && first?.rotationPeriodMs === second?.rotationPeriodMs &&
    first?.rotationPeriodMsgs === second?.rotationPeriodMsgs &&
    first?.historyVisibility === second?.historyVisibility;
}

/**
 * Whether earlier messages may be shared with users who join later: an unknown visibility allows
 * nothing.
 */
export function isHistoryShared(
  { historyVisibility }: { readonly historyVisibility?: unknown },
): boolean {
  return historyVisibility === "shared" || historyVisibility === "world_readable";
}

function clamped(value: unknown, least: number, most: number): number | undefined {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) return undefined;
  return Math.min(Math.max(value, least), most);
}

function tightest(before: number | undefined, said: number | undefined, fallback: number): number {
  if (before === undefined) return said ?? fallback;
  return Math.min(before, said ?? before);
}
