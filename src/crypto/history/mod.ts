/**
 * History that inviters share with those whom they invite.
 *
 * @module
 */

export { HistoryIntake } from "./history_intake.ts";
export {
  bundleOf,
  type BundleRequest,
  type HistoryOffer,
  HistoryOffers,
  type HistoryRecipients,
  isBundled,
  type KeyBundle,
  MAX_BUNDLED,
} from "./key_bundle.ts";
