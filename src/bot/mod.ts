/**
 * Bots: commands, answers, conversations, reminders, over Greenroom's client.
 *
 * @example A bot in four lines
 * ```ts ignore
 * import { Bot } from "@greenroom/matrix/bot";
 *
 * const bot = Bot.fromEnv(); // MATRIX_URL, MATRIX_TOKEN …
 * bot.command("ping", (c) => c.reply("**pong**"));
 * await bot.start(); // on Deploy: Deno.serve(bot.fetch), wakes and cron: see Bot.fetch
 * ```
 *
 * @module
 */

import { callSite, endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export { Bot } from "./bot.ts";
export {
  type Args,
  type ArgumentDescription,
  type ArgumentKind,
  type ArgumentResult,
  type ArgumentSchema,
  type ArgumentSchemaProperties,
  type ArgumentType,
  type ArgumentTypes,
  type ArgumentValue,
  type Asking,
  type BareArgs,
  type BareName,
  type Command,
  COMMAND_DESCRIPTION,
  type CommandDescription,
  type CommandOptions,
  type CommandState,
  describeCommand,
  type FlagNames,
  type NamedArgs,
  type OptionalNames,
  type Parameter,
  readStructuredCommand,
  type RequiredNames,
  type Schemas,
  type StructuredCommand,
  type TextCommandOptions,
  type TypeInPattern,
  type TypesInPattern,
  type WithoutDots,
} from "./commands/commands.ts";
export type {
  BotBehaviour,
  BotHost,
  BotOptionHints,
  BotOptions,
  BotSessionOptions,
  BotStartOptions,
  ClientBotOptions,
  EnvBotOptions,
  HostedBotOptions,
  SessionOf,
  SessionOption,
  WithSession,
} from "./bot_options.ts";
export type { LaterAPI, PendingText } from "./later.ts";
export type { PendingReminder, RemindersAPI, RemindersFilter } from "./timers/timers.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  type BotSession,
  BotStore,
  type BotStoreEntry,
  type BotStoreKey,
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
  type EventOfQuery,
  type ListenedQuery,
  type MessageOf,
  type OtherQueries,
  type Queries,
  type Query,
  type ShortQuery,
} from "./run/mod.ts";
export { Composer, type MiddlewareLike } from "./composer.ts";
export type {
  CommandContext,
  FileQuery,
  HeardContext,
  KnownMembers,
  Middleware,
  Narrowed,
  Next,
  OwnMembers,
  QueryContext,
} from "./middleware.ts";
export {
  type AskOptions,
  type AudioOptions,
  type BotMedia,
  BotMessage,
  BotRoom,
  type BotRoomOptions,
  type BotSendOptions,
  type CaptionOptions,
  type ChoiceLabels,
  type ConfirmOptions,
  type ConfirmWords,
  Context,
  type ContextMedia,
  ContextRoom,
  type DownloadFileOptions,
  EventContext,
  type EveryOptions,
  type FileOptions,
  type ImageOptions,
  type MediaOptions,
  type MenuOptions,
  type MessageMedia,
  type MessageRef,
  type NamedReminder,
  type Reaction,
  type ReminderDelay,
  type ReminderHandler,
  RoomContext,
  type SendPlace,
  type StickerOptions,
  type Streamed,
  type StreamOptions,
  TimerContext,
  type VideoOptions,
  type WaitOptions,
  type WriteOptions,
} from "./context/context.ts";
export {
  type Poll,
  POLL_EVENTS,
  type PollAnswer,
  type PollAnswerTally,
  pollEnd,
  type PollEndContent,
  type PollEvent,
  type PollOptions,
  type PollRelation,
  pollResponse,
  type PollResponseContent,
  pollStart,
  type PollStartContent,
  type PollTally,
  readPoll,
  type SendPollOptions,
  tallyPoll,
  type TallyPollOptions,
} from "./polls/polls.ts";
export {
  type DescribedImage,
  type DescribedImageInfo,
  describeImage,
  type DescribeImageOptions,
  type ImageMeasures,
  measureImage,
} from "./media/media.ts";
export {
  type BuiltServerAcl,
  followUpgrade,
  type FollowUpgradeOptions,
  POLICY_RULE_TYPES,
  type PolicyEvent,
  type PolicyKind,
  PolicyLists,
  type PolicyListsOptions,
  type PolicyRule,
  type PolicyRuleType,
  type RedactedMessages,
  redactMessages,
  type RedactMessagesOptions,
  type ServerAcl,
  serverAcl,
  type ServerAclOptions,
  type TombstoneEvent,
  updateServerAcl,
  type UpdateServerAclOptions,
} from "./moderation/moderation.ts";
export {
  closeMarkdown,
  escapeHtml,
  escapeMarkdown,
  eventUrl,
  findMatrixLinks,
  formatHtml,
  formatHtmlPieces,
  formatMarkdown,
  formatPieces,
  type FormatPiecesOptions,
  type FormattedMessage,
  formatText,
  type Glob,
  htmlToText,
  type LinkTarget,
  linkTo,
  mention,
  mentionHtml,
  type MentionOptions,
  mentionsRoom,
  mentionsUser,
  readGlob,
  type ReadText,
  readText,
  sanitizeHtml,
  splitMessage,
  stripReplyFallback,
  withoutName,
} from "./text/mod.ts";
export type { AccessOptions, Admins, AutoJoin, InviteLimit, Inviter, RateLimit } from "./policy/policy.ts";
export { defineSession, type SessionDefinition, type SessionKey, type SessionScope } from "../../mod.ts";

endOwnCode(() => callSite());
