/**
 * What an operation test is: it runs on any homeserver, and says which operations of the client it
 * proves.
 *
 * @module
 */

import type { DeviceID, UserID } from "@greenroom/matrix/types";
import type { Unlimited } from "../../../tools/synapse/exceptions.ts";
import type { AllAPI } from "../../../src/api/api.ts";
import type { Scene } from "./scene.ts";

/** The name of an operation of the client. */
export type OperationName = keyof AllAPI;

/** A user that was registered for one test. */
export interface Account {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  readonly accessToken: string;
  readonly password: string;
}

/** A homeserver that the operations run against. */
export interface OperationsHost {
  readonly baseUrl: string;
  /** The name in its user IDs. */
  readonly serverName: string;
  /** What reaches it. */
  readonly fetch: typeof fetch;
  /**
   * Registers a user whom no other test knows.
   *
   * @param name The start of the localpart.
   * @param unlimited Why the user has no rate limits. Default: it has those of the homeserver.
   */
  register(name: string, unlimited?: Unlimited): Promise<Account>;
}

/** A test of one or more operations. */
export interface Operation {
  /** What it proves, in a sentence. */
  readonly name: string;
  /** The operations that it proves; it fails if it does not call each of them. */
  readonly covers: readonly OperationName[];
  /** What it does wrong on purpose, in the words of the check of its requests. Default: nothing. */
  readonly breaks?: readonly string[];
  /** Fails if the homeserver or the client is wrong. Everything in it belongs to this run alone. */
  run(scene: Scene): Promise<void>;
}
