/**
 * Decrypting events that did not come through the sync pipeline: the contract's DecryptionDispatcher.
 *
 * @module
 */

import type { Crypto } from "../encryption/encryption.ts";
import { DecryptionError, EncryptionError } from "../errors/encryption_error.ts";
import { isRedacted } from "../types/checks/event_check.ts";
import { defineEvent } from "../types/events/define_event.ts";
import { type MessageEvent, SyncStream } from "../types/events/event.ts";
import { InternalEventType } from "../types/events/event_type.ts";
import type { Dispatcher, SyncerAPI } from "./syncer_api.ts";

/** What it needs of a client. */
export interface DecryptingClient
  extends Pick<SyncerAPI, "addEventHandler" | "removeEventHandler" | "dispatchEvent" | "runInternalEvent"> {
  /** End-to-end encryption. */
  readonly crypto: Crypto | undefined;
}

/** Any encrypted event, malformed or not: decryption says what is wrong with it. */
const ENCRYPTED = defineEvent({ type: "m.room.encrypted", class: "message" });

/**
 * Decrypts encrypted events and dispatches them in plain text, with the same source.
 *
 * A client with encryption has one. Events of a sync are decrypted before they reach handlers, in
 * order; those that can't be decrypted are delivered once they can. This is for encrypted events
 * that the application dispatches.
 *
 * @example
 * ```ts
 * import { Client, DecryptionDispatcher } from "@greenroom/matrix";
 *
 * await using client = new Client({ baseUrl: "https://matrix.example.org", encryption: true });
 * console.assert(client.dispatchers.has(DecryptionDispatcher));
 * ```
 */
export class DecryptionDispatcher implements Dispatcher {
  readonly #client: DecryptingClient;
  readonly #handler = (event: MessageEvent<"m.room.encrypted">): Promise<void> => this.handle(event);

  /**
   * Makes a dispatcher; `client.addDispatcher(DecryptionDispatcher)` registers it too.
   *
   * @param client The client whose events it decrypts.
   */
  constructor(client: DecryptingClient) {
    this.#client = client;
  }

  /** Adds the handler of encrypted events. */
  register(): void {
    this.#client.addEventHandler(ENCRYPTED, this.#handler, { waitSync: true });
  }

  /** Removes the handler. */
  unregister(): void {
    this.#client.removeEventHandler(ENCRYPTED, this.#handler);
  }

  /**
   * Decrypts an event and dispatches it in plain text, with the same source. One that can't be
   * decrypted is reported as `UNDECRYPTABLE`; one that came with a sync is not decrypted again.
   *
   * @param event The encrypted event.
   * @returns Resolves when the handlers have settled.
   * @throws {EncryptionError} If the client has no encryption.
   */
  async handle(event: MessageEvent<"m.room.encrypted">): Promise<void> {
    const { crypto } = this.#client;
    if (crypto === undefined) {
      throw new EncryptionError(
        "Cannot decrypt an event: the client has no encryption; make it with encryption",
      );
    }
    if (crypto.isWaiting(event) || isRedacted(event)) return;
    const result = await crypto.decrypt(event);
    if ("event" in result) {
      await Promise.all(this.#client.dispatchEvent(result.event, event.source ?? SyncStream.INTERNAL));
      return;
    }
    const { code, withheld } = result;
    const data = { event, reason: new DecryptionError(result.reason), code, withheld };
    await this.#client.runInternalEvent(InternalEventType.UNDECRYPTABLE, data);
  }
}
