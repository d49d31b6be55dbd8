/**
 * Text: reading and writing Markdown, HTML, mentions and patterns.
 *
 * @module
 */

export { cleanHtml, escapeHtml, htmlToText, sanitizeHtml } from "./html.ts";
export { closeMarkdown } from "./close_markdown.ts";
export {
  formatHtml,
  formatMarkdown,
  type FormattedMessage,
  formatText,
  type MentionOptions,
} from "./format_message.ts";
export { formatHtmlPieces, formatPieces, type FormatPiecesOptions } from "./format_pieces.ts";
export { type Glob, GlobIndex, readGlob } from "./glob.ts";
export {
  escapeMarkdown,
  eventUrl,
  findMatrixLinks,
  type LinkTarget,
  linkTo,
  mention,
  mentionHtml,
  mentionsRoom,
  mentionsUser,
  withoutName,
} from "./mention.ts";
export {
  isObject,
  lacksPart,
  mediaOf,
  memberOf,
  type MessageMedia,
  type Reaction,
  reactionOf,
  type ReadText,
  readText,
  stripReplyFallback,
  textOf,
} from "./read_text.ts";
export { byteLength, splitMessage } from "./split_message.ts";
