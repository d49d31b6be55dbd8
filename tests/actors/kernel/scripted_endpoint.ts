/**
 * A port whose other side is a test.
 *
 * @module
 */

import type { Endpoint, Frame } from "../../../src/actors/kernel/port.ts";

/** What the actor of these tests can be asked. */
export interface Echo {
  /** Gives the body back. */
  echo(body: unknown): unknown;
  /** Is answered when the test says so. */
  wait(): string;
}

/** The frame that answers an ask. */
export const answer = (id: number, value: unknown): Frame => ({ type: "reply", id, ok: true, value });

/** One side of a port whose other side is the test. */
export class ScriptedEndpoint extends EventTarget implements Endpoint {
  /** What was said to the other side so far. */
  readonly sent: Frame[] = [];
  /** How many listeners there are at this moment. */
  listeners = 0;

  postMessage(message: unknown): void {
    this.sent.push(structuredClone(message) as Frame);
  }

  override addEventListener(...args: Parameters<EventTarget["addEventListener"]>): void {
    this.listeners++;
    super.addEventListener(...args);
  }

  override removeEventListener(...args: Parameters<EventTarget["removeEventListener"]>): void {
    this.listeners--;
    super.removeEventListener(...args);
  }

  /** Lets the other side say something. */
  receive(data: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  /** The IDs of what was asked so far. */
  get asked(): number[] {
    return this.sent.flatMap((frame) => frame.type === "ask" ? [frame.id] : []);
  }
}
