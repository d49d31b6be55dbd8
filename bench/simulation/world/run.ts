/**
 * A process of a device while it runs.
 *
 * @module
 */

import type { Client, Store } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import type { Login } from "./account.ts";
import type { Process } from "./process.ts";

/** A process and the client in it. */
export interface Run {
  readonly process: Process;
  readonly client: Client;
  /** The latest token that it has stored. */
  token: string;
}

/** Options of a device's `begin()`. */
export interface BeginOptions {
  /** Another store than the device's own. */
  readonly store?: Store;
  /** Another login. */
  readonly login?: Login;
  /** Whose the client is told to be. Default: nobody's, it asks. */
  readonly mxid?: UserID;
  /** Another recovery key than the device's. */
  readonly recoveryKey?: string;
  /** Whether the process that runs goes on. */
  readonly isExtra?: boolean;
  /** What it does while another process has the device. */
  readonly held?: "wait" | "refuse";
}
