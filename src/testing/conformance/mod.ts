/**
 * What every store must do.
 *
 * @module
 */

export type { SpoiledStore } from "./store_case.ts";
export {
  type SpoilOptions,
  type SpoilStore,
  storeConformance,
  type StoreConformanceOptions,
} from "./store_conformance.ts";
export { runStoreJob, type StoreJob } from "./store_job.ts";
export {
  type StoreProcess,
  storeProcessConformance,
  type StoreProcessConformanceOptions,
} from "./store_process_conformance.ts";
