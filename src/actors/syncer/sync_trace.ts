/**
 * The span of one sync response, from its receipt until its handlers have been started.
 *
 * @module
 */

import { beginChild, beginTrace, count, failed, type TraceParent, within } from "../../base/telemetry.ts";
import type { SyncParts } from "./sync_parts.ts";
import type { SyncContext } from "./sync_batch.ts";
import { type SyncPorts, type TakenSync, takeSync } from "./sync_pipeline.ts";

/** A response that is traced. */
export class SyncTrace {
  readonly #span = beginTrace("matrix response", { kind: "CONSUMER" });

  /** Where spans of its handlers belong. */
  get parent(): TraceParent {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return { traceId, spanId, traceFlags };
  }

  /** Takes the response in, as {@link takeSync} does, with a span for each actor. */
  async take(parts: SyncParts, context: SyncContext, { crypto, store }: SyncPorts): Promise<TakenSync> {
    try {
      const taken = await takeSync(parts, context, {
        crypto: crypto &&
          { receiveSync: (input) => this.#step("matrix decrypt", () => crypto.receiveSync(input)) },
        store: { commitSync: (change) => this.#step("matrix commit", () => store.commitSync(change)) },
      });
      this.#note(parts);
      return { ...taken, trace: this };
    } catch (error) {
      this.end(error);
      throw error;
    }
  }

  /** Ends the span. */
  end(error?: unknown): void {
    if (error !== undefined) failed(this.#span, error);
    this.#span.end();
  }

  #note({ rooms, undecryptable }: SyncParts): void {
    let events = 0;
    for (const { filled, timeline } of rooms) events += filled.length + timeline.length;
    this.#span.setAttributes({
      "greenroom.sync.rooms": rooms.length,
      "greenroom.sync.events": events,
      "greenroom.sync.undecryptable": undecryptable.size,
    });
    for (const { code } of undecryptable.values()) count("undecryptable", 1, { code });
  }

  #step<Result>(name: string, work: () => Result): Result {
    return within(beginChild(this.#span, name), work);
  }
}
