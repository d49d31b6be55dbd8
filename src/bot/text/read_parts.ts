/**
 * What the content of an event says of a reaction, and of a file.
 *
 * @module
 */

import { isEventId } from "../../../mod.ts";
import type { EventID } from "../../../types.ts";
import { memberOf, textOf } from "./read_text.ts";

/** A reaction, as {@linkcode Context.reaction} has it. */
export interface Reaction {
  /** The reaction itself, an emoji mostly. */
  readonly key: string;
  /** What somebody reacts to. */
  readonly eventId: EventID;
}

/** The file of a message, as {@linkcode Context.file} has it. */
export interface MessageFile {
  /** Its name; the text of the message if it has no name of its own. */
  readonly name: string;
  /** Its media type; undefined if the sender does not say. */
  readonly mimeType: string | undefined;
  /** Its size in bytes; undefined if the sender does not say. */
  readonly size: number | undefined;
}

/** Reads what the content of a reaction says; undefined if it is none. */
export function reactionOf(content: object): Reaction | undefined {
  const relation = memberOf(content, "m.relates_to");
  const [key, eventId] = [textOf(memberOf(relation, "key")), textOf(memberOf(relation, "event_id"))];
  return key === undefined || !isEventId(eventId) ? undefined : { key, eventId };
}

/** Reads what the content of a message says of its file; undefined if it has none. */
export function fileOf(content: object): MessageFile | undefined {
  const { url, file, filename, body, info } = content as Partial<Record<string, unknown>>;
  if (file === undefined && url === undefined) return undefined;
  const size = memberOf(info, "size");
  return {
    name: textOf(filename) ?? textOf(body) ?? "",
    mimeType: textOf(memberOf(info, "mimetype")),
    size: typeof size === "number" ? size : undefined,
  };
}

const PARTS: ReadonlyMap<unknown, (content: object) => unknown> = new Map<
  unknown,
  typeof fileOf | typeof reactionOf
>([
  ...["m.image", "m.file", "m.audio", "m.video", "m.sticker"].map((kind) => [kind, fileOf] as const),
  ["m.reaction", reactionOf],
]);

/**
 * Returns whether content has no file, or no reaction, though its kind needs one.
 *
 * @param kind A type of event, or the `msgtype` of a message.
 */
export function lacksPart(kind: unknown, content: unknown): boolean {
  const read = PARTS.get(kind);
  return read !== undefined && read(Object(content)) === undefined;
}
