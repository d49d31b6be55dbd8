/**
 * What a bot's functions are called with.
 *
 * @module
 */

export { BotRoom, type BotRoomOptions, BotRooms } from "./bot_room.ts";
export type { ChoiceLabels, ConfirmWords } from "./choices.ts";
export {
  type AskOptions,
  type ConfirmOptions,
  Context,
  type MenuOptions,
  type WaitOptions,
} from "./context.ts";
export {
  CALL,
  COMMAND,
  type DownloadFileOptions,
  EventContext,
  type Found,
  SAY_FAILED,
} from "./event_context.ts";
export { ContextRoom, type NamedReminder, type ReminderDelay, RoomContext } from "./room_context.ts";
export type { Streamed, StreamOptions } from "./stream.ts";
export { type ReminderHandler, TimedFunctions } from "./timed_functions.ts";
export { TimerContext } from "./timer_context.ts";
export type {
  BotMedia,
  CaptionOptions,
  FileOptions,
  ImageOptions,
  StickerOptions,
  WriteOptions,
} from "./writing.ts";
