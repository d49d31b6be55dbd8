/**
 * Traces of requests, for OpenTelemetry; without a registered SDK they cost nothing.
 *
 * @module
 */

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { MatrixError } from "../errors/matrix_error.ts";

const tracer = trace.getTracer("@greenroom/matrix");

/** Runs a request, retries included, as a span named after its operation. */
export async function traced<Result>(
  endpoint: { readonly operation: string; readonly method: string; readonly path: string },
  run: () => Promise<Result>,
): Promise<Result> {
  const span = tracer.startSpan(`matrix ${endpoint.operation}`, {
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
