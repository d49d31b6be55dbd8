/**
 * Where in the text that was typed into the page something went wrong.
 *
 * @module
 */

import type { Logger } from "@greenroom/matrix";

/** A place in the text: it was evaluated as a module of its own. */
const OF_TEXT = /\(?blob:[^\s()]*?:(\d+):\d+\)?/g;

/** Names the lines of the text in what was printed or logged. */
export function placed(printed: string): string {
  return printed.replaceAll(OF_TEXT, "line $1");
}

/** The line of the text at which an error arose; `undefined`: it arose elsewhere. */
export function lineOf(error: unknown): number | undefined {
  return lineIn(String((error as Error | undefined)?.stack));
}

function lineIn(text: string): number | undefined {
  const [found] = text.matchAll(OF_TEXT);
  return found && Number(found[1]);
}

/** A mistake in what the text does. */
export interface Failure {
  message: string;
  line: number | undefined;
}

/** What handlers of the text have failed with. Clients tell it to their logs alone. */
export class Failures {
  #latest: Failure | undefined;

  /** A log that hands on, and takes note of failures. */
  noting(log?: Logger): Logger {
    const note = (data?: Record<string, unknown>) => {
      if (!(data?.error instanceof Error)) return;
      this.#latest = { message: data.error.message, line: lineIn(String(data.at)) };
    };
    return {
      debug: (message, data) => log?.debug(message, data),
      info: (message, data) => log?.info(message, data),
      warn: (message, data) => (note(data), log?.warn(message, data)),
      error: (message, data) => (note(data), log?.error(message, data)),
    };
  }

  /** The latest failure since this was asked the last time. */
  take(): Failure | undefined {
    const latest = this.#latest;
    this.#latest = undefined;
    return latest;
  }
}
