/**
 * How a sync response is taken in although a message in it has the step fail, in a way that nobody has thought of: without that
 * message, since it would come again and again.
 *
 * @module
 */

import { culprits } from "../../base/culprits.ts";
import type { Logger } from "../../base/log.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { CryptoInput, CryptoOutput } from "./engine_protocol.ts";
import { MessageAtFault, type SyncIntake } from "./sync_intake.ts";

/** How many messages of each kind may be skipped: a store that fails has all of them fail. */
const MAX_SKIPPED = 10;

/** Takes in a sync response. */
export interface SyncStep {
  /** One step, which changes nothing if it fails. */
  take(intake: SyncIntake): Promise<CryptoOutput>;
  /** Whether the step would succeed. Nothing is changed. */
  works(intake: SyncIntake): Promise<boolean>;
}

/**
 * Takes in a sync response, if need be without messages to this device that have the step fail, and with nothing to decrypt in
 * encrypted events that do, so that they are told as malformed.
 */
export async function receiveDespiteFaults(
  input: CryptoInput,
  { step, log }: { readonly step: SyncStep; readonly log: Logger },
): Promise<CryptoOutput> {
  const skip = new Set<number>();
  let { encrypted } = input;
  for (;;) {
    try {
      return await step.take({ input: { ...input, encrypted }, skip });
    } catch (error) {
      if (error instanceof MessageAtFault) {
        if (skip.size === MAX_SKIPPED) throw error;
        log.error("Skipped a message to this device", { error: String(error.cause) });
        skip.add(error.index);
        continue;
      }
      const works = (events: readonly MessageEvent[]) =>
        step.works({ input: { ...input, encrypted: events }, skip });
      const found = encrypted === input.encrypted ? await withoutThoseAtFault(encrypted, works) : undefined;
      if (found === undefined) throw error;
      log.error("Skipped encrypted events", { count: found.atFault, error: String(error) });
      encrypted = found.events;
    }
  }
}

/** The events with those emptied that have the step fail; undefined if others have, or too many of them. */
async function withoutThoseAtFault(
  events: readonly MessageEvent[],
  works: (events: readonly MessageEvent[]) => Promise<boolean>,
): Promise<{ readonly events: MessageEvent[]; readonly atFault: number } | undefined> {
  const empty = events.map(emptied);
  if (events.length === 0 || !await works(empty)) return undefined;
  const found = await culprits(
    events.length,
    MAX_SKIPPED,
    (start, end) => works([...empty.slice(0, start), ...events.slice(start, end), ...empty.slice(end)]),
  );
  // Where none is at fault it is the commit that fails.
  if (found === undefined || found.length === 0) return undefined;
  const left = [...events];
  for (const place of found) left[place] = empty[place] as MessageEvent; // one for each event
  return { events: left, atFault: found.length };
}

function emptied({ type, sender, room_id, event_id, origin_server_ts, source }: MessageEvent): MessageEvent {
  return { type, sender, room_id, event_id, origin_server_ts, source, content: {} };
}
