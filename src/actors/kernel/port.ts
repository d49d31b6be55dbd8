/**
 * What an actor and its askers on the two sides of a port have in common: the port, and the frames that go through it.
 *
 * @module
 */

import { isJsonObject } from "../../types/json.ts";
import { parseWireError, type WireError } from "./wire_error.ts";

/** One side of a port: a `MessagePort`, a `Worker`, or the global scope of a Worker. */
export interface Endpoint {
  /** Sends a copy of `message` to the other side; throws if it can't be cloned. */
  postMessage(message: unknown): void;
  /** Adds a listener for `message`, `messageerror`, `error` or `close`. */
  addEventListener(type: string, listener: (event: Event) => void): void;
  /** Removes the listener. */
  removeEventListener(type: string, listener: (event: Event) => void): void;
  /** Lets messages in, where they wait for that, as those of a `MessagePort` do. */
  start?(): void;
}

/**
 * What goes through a port.
 *
 * From asker to actor go `ask`, `cancel` (the ask's signal was aborted) and `bye` (the asker stops the actor). From actor
 * to asker go `reply`, `failed` (why `done` rejects) and, last of all, `bye` (the actor has ended). IDs exist only here.
 */
export type Frame =
  | {
    readonly type: "ask";
    readonly id: number;
    readonly kind: string;
    readonly body: unknown;
    /** Whether a `cancel` may follow. */
    readonly cancellable: boolean;
  }
  | { readonly type: "reply"; readonly id: number; readonly ok: true; readonly value: unknown }
  | {
    readonly type: "reply";
    readonly id: number;
    readonly ok: false;
    readonly error: WireError;
    /** Whether `error` is no more than the reason of the `cancel`. */
    readonly cancelled: boolean;
  }
  | { readonly type: "cancel"; readonly id: number; readonly reason: WireError }
  | { readonly type: "failed"; readonly error: WireError }
  | { readonly type: "bye" };

/**
 * Reads a frame.
 *
 * @param data Data from outside.
 * @returns The frame; `undefined` if it is none, as when others use the port too.
 */
export function parseFrame(data: unknown): Frame | undefined {
  if (!isJsonObject(data)) return undefined;
  const { type, id } = data;
  if (type === "bye") return { type };
  if (type === "failed") return { type, error: parseWireError(data.error) };
  if (typeof id !== "number") return undefined;
  switch (type) {
    case "ask":
      // A kind that is no string gets an answer too: the actor knows no kind of that name.
      return {
        type,
        id,
        kind: typeof data.kind === "string" ? data.kind : "",
        body: data.body,
        cancellable: data.cancellable === true,
      };
    case "cancel":
      return { type, id, reason: parseWireError(data.reason) };
    case "reply":
      return data.ok === true ? { type, id, ok: true, value: data.value } : {
        type,
        id,
        ok: false,
        error: parseWireError(data.error),
        cancelled: data.cancelled === true,
      };
    default:
      return undefined;
  }
}

/**
 * Listens at an endpoint.
 *
 * @param endpoint Where.
 * @param listeners What to call, by the type of event.
 * @returns Ends it.
 */
export function listen(
  endpoint: Endpoint,
  listeners: Readonly<Record<string, (event: Event) => void>>,
): () => void {
  for (const [type, listener] of Object.entries(listeners)) endpoint.addEventListener(type, listener);
  endpoint.start?.();
  return () => {
    for (const [type, listener] of Object.entries(listeners)) endpoint.removeEventListener(type, listener);
  };
}

/** The frame in an event, if it carries one. */
export function frameOf(event: Event): Frame | undefined {
  return event instanceof MessageEvent ? parseFrame(event.data) : undefined;
}
