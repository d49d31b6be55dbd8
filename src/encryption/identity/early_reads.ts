/**
 * What a start reads of the account, read while the server is asked for devices.
 *
 * @module
 */

import type { ClientAPI } from "../../api/api.ts";
import type { EventType } from "../../types/events/event_type.ts";

/** What is to be read. */
export interface ReadPlan {
  /** The types of account data. */
  readonly types: readonly EventType[];
  /** Whether the version of the backup is read. */
  readonly version: boolean;
}

type AccountData = ReturnType<ClientAPI["getAccountData"]>;
type Version = ReturnType<ClientAPI["getKeyBackupVersion"]>;

/** Answers that are under way before they are asked for. */
export class EarlyReads {
  /** The operations. The first to read what was begun takes the early answer; all later ones ask. */
  readonly api: ClientAPI;
  readonly #plain: ClientAPI;
  readonly #types = new Map<string, AccountData>();
  #version: Version | undefined;
  #stopping = new AbortController();

  /** @param api The operations without it. */
  constructor(api: ClientAPI) {
    this.#plain = api;
    const getAccountData = (type: EventType, options: Parameters<ClientAPI["getAccountData"]>[1]) => {
      const name = nameOf(type);
      const early = options?.roomId === undefined ? this.#types.get(name) : undefined;
      if (early !== undefined) this.#types.delete(name);
      return early ?? api.getAccountData(type, options);
    };
    this.api = {
      ...api,
      getAccountData: getAccountData as ClientAPI["getAccountData"], // each type has the content of its own
      getKeyBackupVersion: (options) => {
        const early = this.#version;
        this.#version = undefined;
        return early ?? api.getKeyBackupVersion(options);
      },
    };
  }

  /** Begins to read. */
  begin({ types, version }: ReadPlan): void {
    this.end();
    const { signal } = this.#stopping;
    for (const type of types) {
      const answer = this.#plain.getAccountData(type, { signal });
      answer.catch(() => {}); // who takes it gets the error
      this.#types.set(nameOf(type), answer);
    }
    if (!version) return;
    this.#version = this.#plain.getKeyBackupVersion({ signal });
    this.#version.catch(() => {});
  }

  /** Forgets what nobody has taken. */
  end(): void {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    this.#types.clear();
    this.#version = undefined;
  }
}

function nameOf(type: EventType): string {
  return typeof type === "string" ? type : type.type;
}
