/**
 * Traces of requests, for OpenTelemetry. Loaded when a tracing SDK has been registered: to load its
 * API takes as long as half of Greenroom.
 *
 * @module
 */

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { MatrixError } from "../../errors/matrix_error.ts";

/** What a span records of an endpoint. */
interface Traced {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

/** Runs a request, retries included, as a span named after its operation. */
export async function traced<Result>(endpoint: Traced, run: () => Promise<Result>): Promise<Result> {
  const span = trace.getTracer("@greenroom/matrix").startSpan(`matrix ${endpoint.operation}`, {
    kind: SpanKind.CLIENT,
    attributes: { "http.request.method": endpoint.method, "url.template": endpoint.path },
  });
  if (!span.isRecording()) return await run();
  try {
    return await context.with(trace.setSpan(context.active(), span), run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", error instanceof MatrixError ? error.code : "unknown");
    throw error;
  } finally {
    span.end();
  }
}
