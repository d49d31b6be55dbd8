/**
 * The tests of all operations of the client. The same ones run on the in-process homeserver and on Synapse: what passes on both
 * is how Matrix works, not how one of the two does.
 *
 * @module
 */

import { accountData } from "./account_data.ts";
import { directory } from "./directory.ts";
import { history } from "./history.ts";
import { membership } from "./membership.ts";
import type { Operation } from "./operation.ts";
import { profile } from "./profile.ts";
import { pushRules } from "./push_rules.ts";
import { rooms } from "./rooms.ts";
import { sending } from "./sending.ts";

/** Every operation test. */
export const operations: readonly Operation[] = [
  ...rooms,
  ...membership,
  ...sending,
  ...history,
  ...profile,
  ...accountData,
  ...pushRules,
  ...directory,
];
