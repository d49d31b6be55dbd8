/**
 * Where a process may crash, in a story that runs once for each of these points.
 *
 * @module
 */

import { assert } from "@std/assert";
import { casesToTry } from "../../support/cases.ts";
import { type FaultPlan, NO_FAULT, type Operation, type OperationLog } from "./crash.ts";

/** Requests that change nothing: a crash at one leaves what the one before has left. */
const READS = /^(GET|POST .*\/(keys\/query|filter)$)/;

/** Which points are left out, beside those that others stand for. */
export interface CrashPointOptions {
  /** The kinds of operations. Default: all. */
  readonly operations?: readonly Operation[];
}

/**
 * Runs a story without a fault, and once for each point at which a crash leaves something else:
 * before the first operation of a kind, and after each that has an effect. A crash before one is a
 * crash after the one before.
 *
 * @param story Runs with a fault, and returns what the process has done.
 * @returns What the process has done without a fault.
 */
export async function atEachCrashPoint(
  story: (plan: FaultPlan) => Promise<OperationLog>,
  { operations = ["commit", "request"] }: CrashPointOptions = {},
): Promise<OperationLog> {
  const log = await story(NO_FAULT);
  assert(operations.every((operation) => log.count(operation) > 0), "the story does something");
  for (const operation of operations) {
    await story({ operation, at: 1, takesEffect: false });
    const effects = log.names[operation].map((name, index) => ({ name, index }))
      .filter(({ name }) => !READS.test(name));
    for (const { index } of casesToTry(effects, ({ index }) => log.subjects[operation][index])) {
      await story({ operation, at: index + 1, takesEffect: true });
    }
  }
  return log;
}
