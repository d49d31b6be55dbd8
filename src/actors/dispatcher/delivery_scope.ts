/**
 * One event on its way to one handler.
 *
 * @module
 */

import type { HandlerScope, Outgoing } from "../../base/handler_scope.ts";
import type { TransactionID } from "../../types/ids.ts";
import { DeliverySends, type SendIds } from "./send_ids.ts";

/** A delivery that a crash lets come again. It is named when somebody asks: most handlers send nothing, and settle at once. */
export class DeliveryScope implements HandlerScope {
  readonly #eventId: string | undefined;
  readonly #type: string;
  readonly #handlerId: string;
  readonly #sendIds: SendIds;
  #sends: DeliverySends | undefined;

  /**
   * @param event The event, which the handler may change.
   * @param handler The handler, by a name that is the same after a restart.
   * @param sendIds Makes the transaction IDs of what it sends.
   */
  constructor(
    event: { readonly event_id?: string; readonly type: string },
    handler: { readonly id: string },
    sendIds: SendIds,
  ) {
    this.#eventId = event.event_id;
    this.#type = event.type;
    this.#handlerId = handler.id;
    this.#sendIds = sendIds;
  }

  /** Tells this delivery from all others, in every process. */
  get name(): string {
    // A handler of all events gets the event in this form too if its key comes later.
    const form = this.#type === "m.room.encrypted" ? "-encrypted" : "";
    return `${this.#eventId}-${this.#handlerId}${form}`;
  }

  transactionId(outgoing: Outgoing, key: string | undefined): Promise<TransactionID> {
    return (this.#sends ??= new DeliverySends(this.#sendIds, this.name)).next(outgoing, key);
  }
}
