/**
 * What is asked of the server about the own identity, and what a start reads of the account meanwhile.
 *
 * @module
 */

import type { EngineRunner } from "../../actors/crypto/crypto.ts";
import type { AllAPI } from "../../api/api.ts";
import type { OfferReply, OwnIdentityState } from "../../crypto/engine/engine.ts";
import type { IdentitySeeds, OfferOutcome } from "../../crypto/identity/identity.ts";
import type { AskedSecrets } from "../../crypto/secret_requests/secret_requests.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { NetworkError } from "../../errors/request_error.ts";
import { latestVersion } from "../backup/backup.ts";
import type { EventType } from "../../types/events/event_type.ts";

/** How often the server is asked, if other changes come in between. */
const MAX_ROUNDS = 3;

/** Asks the server what it shows of the own user, and publishes. */
export class IdentityRequests {
  readonly #engine: EngineRunner;
  readonly #api: Pick<AllAPI, "getKeyBackupVersion">;

  /**
   * @param engine The engine, which has been opened.
   * @param api The operations.
   */
  constructor(engine: EngineRunner, api: Pick<AllAPI, "getKeyBackupVersion">) {
    this.#engine = engine;
    this.#api = api;
  }

  /** The identity as it is known; the server is asked if it may have changed. */
  async state(): Promise<OwnIdentityState> {
    const state = await this.#engine.actor.ownIdentity();
    return state.isBehind ? await this.#answered() : state;
  }

  /** The identity that the server shows when it is asked now. */
  async look(): Promise<OwnIdentityState> {
    await this.#engine.actor.askForIdentity();
    return await this.#answered();
  }

  /**
   * Offers private keys: they are kept if they fit what the server shows when it is asked now.
   *
   * @param options.isAsked Whether it has just been asked:
   *   it is again only if they don't fit. Default: false.
   */
  async offer(
    seeds: Partial<IdentitySeeds>,
    { isAsked = false }: { readonly isAsked?: boolean } = {},
  ): Promise<OfferOutcome> {
    if (!isAsked) await this.look();
    const outcome = this.#taken(await this.#engine.actor.offerIdentity(seeds));
    return isAsked && outcome !== "adopted" ? await this.offer(seeds) : outcome;
  }

  /** Keeps the identity that was made, if the server shows it when it is asked now. */
  async confirm(): Promise<OfferOutcome> {
    await this.look();
    return this.#taken(await this.#engine.actor.confirmIdentity());
  }

  /**
   * Asks the own verified devices, if there are some, for the secrets that are not here. The key of the
   * backup is that of its latest version.
   */
  async requestSecrets(): Promise<AskedSecrets> {
    await this.look();
    const backup = await latestVersion(this.#api, {}).catch((error) => {
      if (error instanceof MatrixError) return undefined; // the private keys can be asked for without it
      throw error;
    });
    const asked = await this.#engine.actor.requestSecrets({ backup });
    await this.#engine.requests.round("toDevice"); // later, if that fails
    return asked;
  }

  /** Publishes the device's keys, with the signature that they have by now or none. */
  async publishDevice(): Promise<void> {
    await this.#engine.actor.releaseUpload();
    const { failure } = await this.#engine.requests.round("keysUpload");
    if (failure !== undefined) throw failure;
  }

  /**
   * Uploads the device's signature, if its keys were published without it; later, if that fails.
   *
   * @returns Whether the server has it, as far as it shows that.
   */
  async publishSignature(): Promise<boolean> {
    const { ended } = await this.#engine.requests.round("signaturesUpload");
    // What became of it is seen in nothing else.
    if (ended > 0) await this.#engine.requests.round("keysQuery");
    return !(await this.#engine.actor.health()).isSignatureDue;
  }

  #taken({ outcome, recovered }: OfferReply): OfferOutcome {
    this.#engine.deliver(recovered);
    return outcome;
  }

  async #answered(): Promise<OwnIdentityState> {
    const { actor, requests } = this.#engine;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { failure } = await requests.round("keysQuery");
      if (requests.conflict !== undefined) throw requests.conflict;
      if (failure !== undefined) throw failure;
      const state = await actor.ownIdentity();
      if (!state.isBehind) return state;
    }
    if (requests.deadToken !== undefined) throw requests.deadToken; // no later try would help
    throw new NetworkError("Cannot look up the own identity: the server does not answer; try again");
  }
}

/** What is to be read. */
export interface ReadPlan {
  /** The types of account data. */
  readonly types: readonly EventType[];
  /** Whether the version of the backup is read. */
  readonly version: boolean;
}

type AccountData = ReturnType<AllAPI["getAccountData"]>;
type Version = ReturnType<AllAPI["getKeyBackupVersion"]>;

/** Answers that are under way before they are asked for. */
export class EarlyReads {
  /** The operations. The first to read what was begun takes the early answer; all later ones ask. */
  readonly api: AllAPI;
  readonly #plain: AllAPI;
  readonly #types = new Map<string, AccountData>();
  #version: Version | undefined;
  #stopping = new AbortController();

  /** @param api The operations without it. */
  constructor(api: AllAPI) {
    this.#plain = api;
    const getAccountData = (type: EventType, options: Parameters<AllAPI["getAccountData"]>[1]) => {
      const name = nameOf(type);
      const early = options?.roomId === undefined ? this.#types.get(name) : undefined;
      if (early !== undefined) this.#types.delete(name);
      return early ?? api.getAccountData(type, options);
    };
    const getKeyBackupVersion: AllAPI["getKeyBackupVersion"] = (options) => {
      const early = this.#version;
      this.#version = undefined;
      return early ?? api.getKeyBackupVersion(options);
    };
    this.api = Object.create(api, {
      getAccountData: { value: getAccountData },
      getKeyBackupVersion: { value: getKeyBackupVersion },
    });
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
