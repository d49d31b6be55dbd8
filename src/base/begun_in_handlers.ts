/**
 * Operations that a handler waits for, whether it awaits them or not.
 *
 * @module
 */

import { currentCall } from "./handler_call.ts";
import { callSite } from "./own_code.ts";

type Operation = (...given: unknown[]) => unknown;

/**
 * The same operations; one that is called in a handler counts as begun there, so that the handler has settled
 * when it has ended.
 *
 * @param api The operations.
 * @param except Names of those that no handler is held for.
 */
export function begunInHandlers<API extends object>(api: API, except: readonly (keyof API)[]): API {
  const operations = Object.entries(api).map(([name, operation]: [string, Operation]) =>
    [name, except.includes(name as keyof API) ? operation : counted(operation)] as const
  );
  return Object.fromEntries(operations) as API;
}

function counted(operation: Operation): Operation {
  const called: Operation = (...given) => {
    const result = operation(...given);
    const call = currentCall();
    return call !== undefined && result instanceof Promise ? call.begin(result, callSite(called)) : result;
  };
  return called;
}
