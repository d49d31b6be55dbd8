/**
 * Writes down what Greenroom says that should not be.
 *
 * @module
 */

import type { Logger } from "@greenroom/matrix";
import { describe } from "./answering.ts";
import type { LedgerEntry } from "./ledger.ts";

/** A logger that writes warnings and errors down. */
export function ledgerLogger(note: (entry: LedgerEntry) => void): Logger {
  const at = (level: string) => (message: string, data: Record<string, unknown> = {}): void => {
    const shown = JSON.stringify(data, (_key, value) => value instanceof Error ? describe(value) : value);
    note({ kind: "log", level, message, data: shown });
  };
  return { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error") };
}
