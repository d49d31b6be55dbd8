/**
 * Has SIGINT and SIGTERM close what goes on, and the process end soon after it.
 *
 * @module
 */

import { platform } from "./platform/mod.ts";
import { idleDelay } from "./clock.ts";
import type { Logger } from "./log.ts";

/** How long a program has for what follows its `start()`, in milliseconds. */
const AFTERWARDS = 5_000;

/** The signals that ask a process to end, and their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

type EndingSignal = keyof typeof SIGNALS;

/** Closes something, given the signal. */
type Stop = (signal: EndingSignal) => Promise<void>;

/** A process ends once: these are of all that goes on in it. */
const stops = new Set<Stop>();
const listeners = new Map<EndingSignal, () => void>();
/** The signal that has asked the process to end. */
let ending: EndingSignal | undefined;

/**
 * Runs something that SIGINT and SIGTERM close, together with all else that is run so.
 *
 * The process then has the status 130 or 143, as shells show a signal. It ends by itself, when the
 * program is over, and is ended after {@link AFTERWARDS}. Under `deno run --watch`, where each save of
 * a file says so, the program begins again. A second signal ends it immediately. No effect where there
 * are no signals, as on Deno Deploy.
 *
 * @param run What goes on until it is closed.
 * @param options.signals Whether signals close it; otherwise it only runs.
 * @param options.close Closes it.
 * @param options.log Says which signal it was, and why it could not be closed.
 * @returns Resolves when it has ended, and is closed if there was a signal;
 *   at once where there was one before.
 */
export async function untilSignal(
  run: () => Promise<void>,
  { signals, close, log }: {
    readonly signals: boolean;
    readonly close: () => Promise<void>;
    readonly log: Logger;
  },
): Promise<void> {
  if (!signals) return await run();
  let closing: Promise<void> | undefined;
  const stop: Stop = (signal) => {
    log.info("Closing, since a signal asks the process to end", { signal });
    closing = close().catch((error) => log.error("Could not close", { error: String(error) }));
    return closing;
  };
  if (ending !== undefined) return await stop(ending);
  if (stops.size === 0) listen();
  stops.add(stop);
  try {
    await run();
  } finally {
    await closing;
    stops.delete(stop);
    if (stops.size === 0 && ending === undefined) listenNoMore();
  }
}

function listen(): void {
  for (const signal of Object.keys(SIGNALS) as EndingSignal[]) {
    const listener = () => void end(signal);
    try {
      platform.process.addSignalListener(signal, listener);
      listeners.set(signal, listener);
    } catch {
      // There is no such signal here, or there are none.
    }
  }
}

function listenNoMore(): void {
  for (const [signal, listener] of listeners) platform.process.removeSignalListener(signal, listener);
  listeners.clear();
}

async function end(signal: EndingSignal): Promise<void> {
  // Not by the signal itself: `deno run --watch` tells a program of a SIGTERM that the process never got,
  // and would be ended itself. And the first process of a container ignores signals without a listener.
  const status = 128 + SIGNALS[signal];
  if (ending !== undefined) platform.process.exit(status);
  ending = signal;
  platform.process.endWith(status);
  await Promise.allSettled([...stops].map((stop) => stop(signal)));
  await idleDelay(AFTERWARDS);
  platform.process.exit(status);
}
