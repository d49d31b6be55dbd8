/**
 * Traces of requests, for OpenTelemetry. Loaded when a tracing SDK has been registered.
 *
 * @module
 */

import { beginSpan, count, errorType, within } from "../../base/telemetry.ts";

/** What a span records of an endpoint. */
interface Traced {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

/** Makes one try of a request; it gets how many were before. */
type Try<Result> = (resends: number) => Promise<Result>;

/** Runs a request, retries included, as a span named after its operation, and counts its retries. */
export async function traced<Result>(
  { operation, method, path }: Traced,
  once: Try<Result>,
  run: (once: Try<Result>) => Promise<Result>,
): Promise<Result> {
  const span = beginSpan(`matrix ${operation}`, {
    kind: "CLIENT",
    attributes: { "http.request.method": method, "url.template": path },
  });
  let error = "";
  const counted = async (resends: number) => {
    if (resends > 0) {
      count("retries", 1, { operation, error });
      span.setAttribute("http.request.resend_count", resends);
    }
    try {
      return await once(resends);
    } catch (thrown) {
      error = errorType(thrown);
      throw thrown;
    }
  };
  return await within(span, () => run(counted));
}
