/**
 * Record what a bot receives and sends, without what was said and by whom, and play it again:
 * for bug reports, and for tests that hold a bot to what it did.
 *
 * @module
 */

export { recordTrace, type RecordTraceOptions, type TraceRecording } from "./record_trace.ts";
export {
  type ReplayDifference,
  type ReplayReport,
  replayTrace,
  type ReplayTraceOptions,
  type TraceMessage,
} from "./replay_trace.ts";
export type { TestedBot, TestedBotOptions } from "../testing/mod.ts";
