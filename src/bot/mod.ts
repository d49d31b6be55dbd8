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

import { endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export { Bot } from "./bot.ts";
export type { BotStartOptions, EveryOptions, PendingReminder, ReminderHandler, RemindersAPI } from "./bot.ts";
export type { ArgumentType, ArgumentTypes } from "./commands/argument_types.ts";
export type { BotBehaviour, BotHost, BotOptions, HostedBotOptions } from "./bot_options.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  type BotSession,
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
  type EventOfQuery,
  type ListenedQuery,
  type MessageOf,
  type Queries,
  type Query,
} from "./run/mod.ts";
export type { Command, Parameter } from "./commands/command.ts";
export type {
  Args,
  ArgumentResult,
  ArgumentSchema,
  ArgumentSchemaProperties,
  ArgumentValue,
  Asking,
  BareName,
  CommandOptions,
  FlagNames,
  OptionalNames,
  RequiredNames,
  Schemas,
} from "./commands/pattern.ts";
export {
  type ArgumentDescription,
  type ArgumentKind,
  type ArgumentValues,
  COMMAND_DESCRIPTION,
  type CommandDescription,
  type CommandState,
  describeCommand,
  readArguments,
  readStructuredCommand,
  type StructuredCommand,
} from "./commands/structured.ts";
export { Composer } from "./composer.ts";
export type {
  CommandContext,
  HeardContext,
  Middleware,
  MiddlewareLike,
  Next,
  QueryContext,
} from "./composer.ts";
export { Context } from "./context/context.ts";
export type { AskOptions, ConfirmOptions, MenuOptions, WaitOptions } from "./context/context.ts";
export type { ChoiceLabels, ConfirmWords } from "./conversations/choices.ts";
export { BotRoom } from "./context/bot_room.ts";
export { RoomContext } from "./context/room_context.ts";
export type { NamedReminder, ReminderDelay } from "./context/room_context.ts";
export type { BotMedia, CaptionOptions, FileOptions, ImageOptions } from "./context/pictures.ts";
export type { SendPollOptions } from "./context/polls.ts";
export type { Streamed, StreamOptions } from "./context/stream.ts";
export { TimerContext } from "./context/timer_context.ts";
export type { WriteOptions } from "./context/writing.ts";
export {
  type DescribedImage,
  type DescribedImageInfo,
  describeImage,
  type DescribeImageOptions,
} from "./media/describe_image.ts";
export { type ImageMeasures, measureImage } from "./media/measure_image.ts";
export {
  followUpgrade,
  type FollowUpgradeOptions,
  type TombstoneEvent,
} from "./moderation/follow_upgrade.ts";
export { type Glob, readGlob } from "./text/glob.ts";
export {
  POLICY_RULE_TYPES,
  type PolicyEvent,
  type PolicyKind,
  PolicyLists,
  type PolicyListsOptions,
  type PolicyRule,
  type PolicyRuleType,
} from "./moderation/policy_lists.ts";
export {
  type RedactedMessages,
  redactMessages,
  type RedactMessagesOptions,
} from "./moderation/redact_messages.ts";
export {
  type BuiltServerAcl,
  type ServerAcl,
  serverAcl,
  type ServerAclOptions,
  updateServerAcl,
  type UpdateServerAclOptions,
} from "./moderation/server_acl.ts";
export type { InviteLimit } from "./policy/invite_limit.ts";
export type { AccessOptions, Admins } from "./policy/access.ts";
export type { Inviter } from "./policy/inviters.ts";
export type { RateLimit } from "./policy/rate_limit.ts";
export {
  POLL_EVENTS,
  pollEnd,
  type PollEndContent,
  type PollOptions,
  type PollRelation,
  pollResponse,
  type PollResponseContent,
  pollStart,
  type PollStartContent,
} from "./polls/poll_contents.ts";
export type { PollEvent } from "./polls/poll_count.ts";
export { type Poll, type PollAnswer, readPoll } from "./polls/read_poll.ts";
export {
  type PollAnswerTally,
  type PollTally,
  tallyPoll,
  type TallyPollOptions,
} from "./polls/tally_poll.ts";
export { closeMarkdown } from "./text/close_markdown.ts";
export {
  formatHtml,
  formatMarkdown,
  type FormattedMessage,
  formatText,
  type MentionOptions,
} from "./text/format_message.ts";
export { formatHtmlPieces, formatPieces, type FormatPiecesOptions } from "./text/format_pieces.ts";
export { htmlToText } from "./text/html_to_text.ts";
export {
  escapeMarkdown,
  eventUrl,
  findMatrixLinks,
  type LinkTarget,
  linkTo,
  mention,
  mentionHtml,
} from "./text/mention.ts";
export { mentionsRoom, mentionsUser, withoutName } from "./text/mentions_user.ts";
export { type ReadText, readText } from "./text/read_text.ts";
export { stripReplyFallback } from "./text/reply_fallback.ts";
export { sanitizeHtml } from "./text/sanitize_html.ts";
export { splitMessage } from "./text/split_message.ts";
export { defineSession } from "../../mod.ts";
export type { SessionDefinition, SessionKey, SessionScope } from "../../mod.ts";

endOwnCode();
