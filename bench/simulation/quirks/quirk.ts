/**
 * What a quirk is made of: a layer between clients and the homeserver that does what real servers do, and
 * the one in the process does not.
 *
 * @module
 */

import type { Chance } from "../core/chance.ts";
import type { Timeline } from "../core/timeline.ts";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Device } from "../world/device.ts";
import type { SentRequest } from "../world/process.ts";
import { changeSync } from "../world/sync_view.ts";

// deno-lint-ignore no-explicit-any -- the JSON of an answer, which is changed in any way
export type Json = any;

/** A request of a device. */
export interface Asked {
  readonly device: Device;
  readonly request: SentRequest;
}

/** Has the next layer, or the homeserver, answer a request. */
export type Next = (request: SentRequest) => Promise<Response>;

/** A layer. */
export interface Layer {
  /** Answers a request, with or without the next layer. */
  ask(asked: Asked, next: Next): Promise<Response>;
  /**
   * Changes a transaction to an application service.
   *
   * @param url Where it is sent.
   * @param text The transaction.
   * @param delivered The events of those that have arrived before.
   */
  transaction?(url: string, text: string, delivered: readonly Json[]): string;
  /**
   * Changes the text of an answer that goes out, when nothing of the world looks at it any more.
   *
   * @param text JSON.
   */
  last?(asked: Asked, text: string): string;
  /** The homeserver has begun anew: what it had in memory is gone. */
  forget?(): void;
}

/** What a layer finds around it. */
export interface QuirkPlace {
  readonly chance: Chance;
  readonly timeline: Timeline;
  readonly homeserver: WorldHomeserver;
  /** By sync token, when the server made it. */
  readonly tokens: Map<string, number>;
  /** Counts that it has done something. */
  readonly does: (how?: string) => void;
}

/** The room that a request names; undefined: it names none. */
export function roomOf({ url: { pathname } }: SentRequest): string | undefined {
  const room = /\/(?:rooms|join)\/([^/]+)/.exec(pathname)?.[1];
  return room === undefined ? undefined : decodeURIComponent(room);
}

/** The same answer with a body that is changed; one that says no is left as it is. */
export async function changed(response: Response, change: (body: Json) => void): Promise<Response> {
  if (!response.ok) return response;
  const body = await response.json();
  change(body);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return new Response(JSON.stringify(body), { status: response.status, headers });
}

/** An answer that says no. */
export function refusal(
  status: number,
  errcode: string,
  more: Readonly<Record<string, unknown>> = {},
): Response {
  return Response.json({ errcode, error: "Not now", ...more }, { status });
}

/** The same answer to a sync with a body that is changed as if it were one of the classic sync. */
export async function changedSync(
  response: Response,
  { device: { userId } }: Pick<Asked, "device">,
  change: (classic: Json) => void,
): Promise<Response> {
  return await changed(response, (body) => changeSync(body, userId, change));
}

/** The rooms that a sync response shows as joined. */
export function joinedIn(body: Json): [room: string, shown: Json][] {
  return Object.entries(body.rooms?.join ?? {});
}
