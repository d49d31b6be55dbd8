/**
 * Tokens of sync and of pagination.
 *
 * @module
 */

import { badRequest } from "../http/failure.ts";

/** A place in the stream. */
export interface SyncToken {
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

/** Reads a token of either kind. */
export function parseToken(text: string): SyncToken {
  const [, position, toDevice] = /^[st](\d+)(?:_(\d+))?$/.exec(text) ?? [];
  if (position === undefined) throw badRequest("M_UNKNOWN", `Invalid stream token ${JSON.stringify(text)}`);
  return { position: Number(position), toDevice: Number(toDevice ?? position) };
}
