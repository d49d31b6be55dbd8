/**
 * What all contexts of handlers can say of their call.
 *
 * @module
 */

import { currentCall } from "../../base/handler_call.ts";

/** Has the running call of a handler described. */
export class DescribedContext {
  /** See {@link HandlerContext.describe}. */
  describe(details: Readonly<Record<string, unknown>> = {}, unawaited?: (error: unknown) => boolean): void {
    currentCall()?.describe(details, unawaited);
  }
}
