/**
 * The tests of all operations of the client. The same ones run on the in-process homeserver and on
 * Synapse: what passes on both is how Matrix works, not how one of the two does.
 *
 * @module
 */

import { accountData } from "./account_data.ts";
import { relations } from "./relations.ts";
import { addresses } from "./beyond/addresses.ts";
import { beyond } from "./beyond/beyond.ts";
import { dehydratedDevice } from "./dehydrated_device.ts";
import { devices } from "./devices.ts";
import { directory } from "./directory.ts";
import { filtersAndSync } from "./filters_and_sync.ts";
import { history } from "./history.ts";
import { keys } from "./keys.ts";
import { media } from "./media.ts";
import { members } from "./members.ts";
import { membership } from "./membership.ts";
import type { Operation } from "./support/operation.ts";
import { profile } from "./profile.ts";
import { proposals } from "./beyond/proposals.ts";
import { pushRules } from "./push_rules.ts";
import { queue } from "./queue.ts";
import { rooms } from "./rooms.ts";
import { receipts } from "./receipts.ts";
import { sending } from "./sending.ts";
import { roomKeys } from "./room_keys.ts";
import { secretStorage } from "./secret_storage.ts";
import { session } from "./session.ts";

/** Every operation test. */
export const operations: readonly Operation[] = [
  ...rooms,
  ...addresses,
  ...membership,
  ...members,
  ...sending,
  ...queue,
  ...receipts,
  ...history,
  ...profile,
  ...accountData,
  ...roomKeys,
  ...secretStorage,
  ...pushRules,
  ...directory,
  ...media,
  ...keys,
  ...filtersAndSync,
  ...session,
  ...devices,
  ...dehydratedDevice,
  ...beyond,
  ...relations,
  ...proposals,
];
