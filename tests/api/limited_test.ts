import { assertEquals } from "@std/assert";
import { clientAPI } from "../../src/api/api.ts";
import { LimitExceededError } from "@greenroom/matrix/errors";
import type { RetryPolicy } from "@greenroom/matrix";
import { refusal, scripted, type ScriptedOptions, untilSettled } from "../support/scripted_fetch.ts";
import { callsOf, wantsPassword } from "./operations.ts";

/** What a server wants that has done nothing. */
const LATER = () => refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 1_000 });

/** What came of a call. */
interface Outcome {
  /** What it returned. */
  readonly result?: unknown;
  /** What it has thrown. */
  readonly error?: unknown;
  /** What was asked, in order. */
  readonly asked: readonly string[];
  /** How many different requests those are. */
  readonly different: number;
}

/** Calls an operation of a server that refuses each request once, or takes each. */
async function outcomeOf(
  { name, args, answers }: ReturnType<typeof callsOf>[number],
  { limits, ...options }: ScriptedOptions & { readonly limits: boolean },
): Promise<Outcome> {
  const seen = new Set<string>();
  const asked: string[] = [];
  const { session, clock } = scripted({
    "*": async (request) => {
      const { method, path, query, body } = request;
      const key = `${method} ${path}?${query} ${JSON.stringify(body)}`;
      asked.push(`${method} ${path}`);
      const isNew = seen.size < seen.add(key).size;
      if (limits && isNew) return LATER();
      const rules = wantsPassword(answers);
      const rule = rules[`${method} ${decodeURIComponent(path)}`] ?? rules["*"] as object;
      return typeof rule === "function" ? await rule(request) : rule;
    },
  }, { checked: false, ...options });
  const operation = clientAPI(session)[name as "getState"] as (...args: unknown[]) => Promise<unknown>;
  const called = operation(...args);
  const outcome = "next" in called ? (called as { next(): Promise<unknown> }).next() : called;
  return await untilSettled<unknown>(clock, outcome).then(
    (result) => ({ result, asked, different: seen.size }),
    (error) => ({ error, asked, different: seen.size }),
  );
}

/** A call with more options: behind its arguments, or among those that it has. */
function withOptions(args: readonly unknown[], options: object): unknown[][] {
  const last = args.at(-1);
  const isObject = typeof last === "object" && last !== null &&
    Object.getPrototypeOf(last) === Object.prototype;
  return [[...args, options], ...(isObject ? [[...args.slice(0, -1), { ...last, ...options }]] : [])];
}

/**
 * But for syncs, between which the client itself waits, and streams,
 * whose bytes are gone once they were sent.
 */
const calls = callsOf().filter(({ name, args }) =>
  name !== "sync" && !args.some((arg) => arg instanceof ReadableStream)
);

for (const call of calls) {
  Deno.test(`${call.title} waits for a server that wants fewer requests, and does it then`, async () => {
    const usual = await outcomeOf(call, { limits: false });
    const { asked, error } = await outcomeOf(call, { limits: true });
    assertEquals(String(error), String(usual.error));
    assertEquals(asked.length, usual.asked.length + usual.different, asked.join("\n"));
  });

  Deno.test(`The retry of ${call.title} itself holds, whatever the client's is`, async () => {
    if ((await outcomeOf(call, { limits: false })).asked.length === 0) return;
    const tries = async (
      { own, ofClient }: { own: Partial<RetryPolicy> | false; ofClient?: ScriptedOptions["retry"] },
    ): Promise<Outcome[]> => {
      const all = withOptions(call.args, { retry: own }).map((args) =>
        outcomeOf({ ...call, args }, { limits: true, ...(ofClient !== undefined && { retry: ofClient }) })
      );
      return await Promise.all(all);
    };
    const isGivenUp = ({ error, asked }: Outcome): boolean =>
      error instanceof LimitExceededError && asked.length === 1;
    const single = await tries({ own: false });
    const patient = await tries({ own: { maxRetries: 3 }, ofClient: false });
    assertEquals([single.some(isGivenUp), patient.every(isGivenUp)], [true, false]);
  });
}
