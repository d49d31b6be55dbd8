/**
 * The operations of a client: they store what they learn of a room's state, and encrypt for
 * encrypted rooms.
 *
 * @module
 */

import type { StateStore } from "../actors/store/mod.ts";
import { profileAPI } from "../api/account/account.ts";
import { type AllAPI, type ClientAPI, clientAPI, RAW_NAMES, type RawAPI } from "../api/api.ts";
import { attachmentCipher } from "../crypto/attachments/attachments.ts";
import type { ClientBasics } from "./client_basics.ts";
import type { ClientLife } from "./client_life.ts";
import { encryptingAPI, EncryptionSends } from "./encrypting_api.ts";
import { notingEncryption, notingMembers, storeUpdatingAPI } from "./store_updating_api.ts";
import type { SyncerAPI } from "./syncer_api.ts";
import { syncerFacade } from "./syncer_facade.ts";
import { currentCall } from "../base/handler_call.ts";
import { callSite } from "../base/own_code.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { SIGNATURES } from "./signatures.ts";

/**
 * Makes a client's operations, as its own parts call them.
 *
 * @param client What lasts.
 * @param life Has the actors of now.
 * @param stateStore Stores the state of rooms.
 */
export function clientOperations(
  client: ClientBasics,
  life: Pick<ClientLife, "hold" | "ready">,
  stateStore: StateStore,
): AllAPI {
  const { session, log } = client;
  const { getProfile } = profileAPI(session);
  const { nextTransactionId, asUserId } = session.http;
  const encryptionSends = new EncryptionSends();
  const api = clientAPI(session, (core) => {
    const updating = storeUpdatingAPI(core, { stateStore, encryptionSends, getProfile, log });
    return encryptingAPI(updating, {
      encryption: client,
      stateStore,
      encryptionSends,
      clearRooms: client.clearRooms,
      blacklist: client.blacklist,
      hold: life.hold,
      ready: life.ready,
      nextTransactionId,
      asUserId,
    });
  }, attachmentCipher);
  return { ...api, ...notingEncryption(api, stateStore, client), ...notingMembers(api, client) };
}

/**
 * Makes the operations as applications call them: handlers wait for those that they begin.
 *
 * @param api The operations.
 * @param client What lasts.
 * @param life Has the actors of now.
 */
export function applicationOperations(
  api: AllAPI,
  client: ClientBasics,
  life: ClientLife,
): ClientAPI & SyncerAPI & { readonly raw: RawAPI } {
  const syncing = syncerFacade(life, client.registry, client.log);
  const begun = begunInHandlers(api, ["sync"]); // a loop of it may not end
  const { own = [], raw = [] } = Object.groupBy(begun, ([name]) => name in RAW_NAMES ? "raw" : "own");
  return {
    ...Object.fromEntries(own) as unknown as ClientAPI,
    raw: Object.fromEntries(raw) as unknown as RawAPI,
    ...syncing,
    ...life.api({ ...api, ...syncing }),
  };
}

type Operation = (...given: unknown[]) => unknown;

/**
 * The same operations, by their names; one that is called in a handler counts as begun there, so that the handler has settled
 * when it has ended.
 *
 * @param api The operations.
 * @param except Names of those that no handler is held for.
 */
function begunInHandlers<API extends object>(
  api: API,
  except: readonly (keyof API)[],
): (readonly [name: string, operation: Operation])[] {
  return Object.entries(api).map(([name, operation]: [string, Operation]) => {
    const checked = checkedCall(name, operation);
    return [name, except.includes(name as keyof API) ? checked : counted(checked)] as const;
  });
}

/** The same operation; it refuses what is no options where they belong, and what comes after them. */
function checkedCall(name: string, operation: Operation): Operation {
  const signature = SIGNATURES[name];
  if (signature === undefined) return operation; // it has none
  const at = signature.replace(/\{.*/, "options").split(", ").length - 1;
  return (...given) => {
    const options = given[at];
    const isGiven = options !== undefined && (typeof options !== "object" || options === null);
    if (given.length <= at + 1 && !isGiven && !Array.isArray(options)) return operation(...given);
    const state = given.length > at + 1 && !isGiven
      ? `it takes ${at + 1} arguments, not ${given.length}`
      : `its options are ${kindOf(options)}, and no object`;
    const error = new ValueError(`Cannot ${name}: ${state}; write ${name}(${signature})`);
    if (name.startsWith("iterate")) throw error;
    return Promise.reject(error);
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function counted(operation: Operation): Operation {
  const called: Operation = (...given) => {
    const result = operation(...given);
    const call = currentCall();
    return call !== undefined && result instanceof Promise ? call.begin(result, callSite(called)) : result;
  };
  return called;
}
