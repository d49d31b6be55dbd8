/**
 * History that inviters share with those whom they invite.
 *
 * @module
 */

export { HistoryIntake } from "./history_intake.ts";
export { type HistoryOffer, HistoryOffers, type HistoryRecipients } from "./history_offers.ts";
export { bundleOf, type BundleRequest, isBundled, type KeyBundle, MAX_BUNDLED } from "./key_bundle.ts";
