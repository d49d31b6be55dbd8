/**
 * Judges a world that has come to rest.
 *
 * @module
 */

import type { World } from "../world/world.ts";
import { judgeAnswering } from "./judge_answering.ts";
import { judgeArrivals } from "./judge_arrivals.ts";
import { judgeHistory } from "./judge_history.ts";
import { judgeInheritance } from "./judge_inheritance.ts";
import { judgeKit } from "./judge_kit.ts";
import { judgeKeys } from "./judge_keys.ts";
import { judgeQueues } from "./judge_queues.ts";
import { judgeReading } from "./judge_reading.ts";
import { judgeSecrecy } from "./judge_secrecy.ts";
import { judgeSenders } from "./judge_senders.ts";
import { judgeService } from "./judge_service.ts";
import { judgeSetback } from "./judge_setback.ts";
import { judgeState } from "./judge_state.ts";
import { judgeStores } from "./judge_stores.ts";
import { judgeTrust } from "./judge_trust.ts";

/** Judges. */
export async function judge(world: World): Promise<void> {
  judgeReading(world);
  judgeQueues(world);
  judgeAnswering(world);
  await judgeKit(world);
  await judgeSetback(world);
  judgeArrivals(world);
  await judgeKeys(world);
  await judgeService(world);
  await judgeSenders(world);
  await judgeSecrecy(world);
  await judgeState(world);
  await judgeStores(world);
  await judgeHistory(world);
  await judgeInheritance(world);
  await judgeTrust(world); // it adds devices
}
