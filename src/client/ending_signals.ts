/**
 * Stops clients cleanly when a signal ends the process.
 *
 * @module
 */

/** The signals that ask a process to end, and their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

type EndingSignal = keyof typeof SIGNALS;

/** What is to be stopped first; given the signal. */
export type StopForSignal = (signal: EndingSignal) => Promise<void>;

/**
 * From now on, SIGINT and SIGTERM first call this and all other functions that were given, and then
 * end the process with the status 130 or 143, as shells show a signal. Under `deno run --watch`, where
 * each save of a file says so, the program begins again. A second signal ends it immediately. No effect where there are
 * no signals, as on Deno Deploy.
 *
 * @param stop What to do.
 * @returns Undoes it.
 */
export function stopOnSignals(stop: StopForSignal): () => void {
  if (stops.size === 0) listen();
  stops.add(stop);
  return () => {
    stops.delete(stop);
    if (stops.size === 0 && !isEnding) listenNoMore();
  };
}

/** A process ends once: this is of all clients in it. */
const stops = new Set<StopForSignal>();
let isEnding = false;

const listeners = new Map<EndingSignal, () => void>();

function listen(): void {
  for (const signal of Object.keys(SIGNALS) as EndingSignal[]) {
    const listener = () => void end(signal);
    try {
      Deno.addSignalListener(signal, listener);
      listeners.set(signal, listener);
    } catch {
      // There is no such signal here, or there are none.
    }
  }
}

function listenNoMore(): void {
  for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  listeners.clear();
}

async function end(signal: EndingSignal): Promise<void> {
  if (!isEnding) {
    isEnding = true;
    await Promise.allSettled([...stops].map((stop) => stop(signal)));
  }
  isEnding = false;
  listenNoMore();
  // Not by the signal itself: `deno run --watch` tells a program of a SIGTERM that the process never got,
  // and would be ended itself. And the first process of a container ignores signals without a listener.
  Deno.exit(128 + SIGNALS[signal]);
}
