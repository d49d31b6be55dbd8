/**
 * Traces of requests, for OpenTelemetry; without a registered SDK they cost nothing.
 *
 * @module
 */

import { MatrixError } from "../../errors/matrix_error.ts";

/** Where OpenTelemetry's API keeps what an SDK has registered, whichever copy of it the SDK has: part of its contract. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** To load it takes as long as half of all of Greenroom: only those wait for it who trace. */
let api: Promise<typeof import("@opentelemetry/api")> | undefined;

/** What a span tells of an endpoint. */
interface Traced {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

/** Runs a request, retries included, as a span named after its operation. */
export function traced<Result>(endpoint: Traced, run: () => Promise<Result>): Promise<Result> {
  return REGISTERED in globalThis ? spanned(endpoint, run) : run();
}

async function spanned<Result>(endpoint: Traced, run: () => Promise<Result>): Promise<Result> {
  const { context, SpanKind, SpanStatusCode, trace } = await (api ??= import("@opentelemetry/api"));
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
