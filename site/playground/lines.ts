/**
 * What a chat shows of the events that a user reads, with edits and reactions applied.
 *
 * @module
 */

import type { Homeserver } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";

/** A line of the chat. */
export interface Line {
  id: string;
  /** Whether the user whose chat it is said it. */
  isOwn: boolean;
  /** Who said it; empty: the page. */
  who: string;
  text: string;
  html: string | undefined;
  reactions: string[];
  /** The answers of a poll to choose from. */
  choices: { id: string; text: string }[];
  /** What the homeserver has of it, if it is encrypted. */
  sealed: string | undefined;
}

// deno-lint-ignore no-explicit-any -- contents of events, of which only what is shown is looked at
type Content = any;

/** What a user reads. */
export interface ReadEvent {
  event_id: string;
  type: string;
  sender: string;
  content: Content;
}

/** The type of polls. */
export const POLL = "org.matrix.msc3381.poll.start";

/** The lines of what one user reads in a room of a homeserver. */
export function linesOf(
  events: readonly ReadEvent[],
  { user, room, homeserver }: { user: string; room: RoomID; homeserver: Homeserver },
): Line[] {
  const stored = new Map(homeserver.room(room).messages.map((event) => [String(event.event_id), event]));
  const lines = new Map<string, Line>();
  for (const { event_id: id, type, sender, content } of events) {
    const { rel_type, event_id: related, key } = content["m.relates_to"] ?? {};
    const target = lines.get(related);
    if (type === "m.reaction") target?.reactions.push(String(key));
    else if (type === "m.room.message" && rel_type === "m.replace" && target) {
      Object.assign(target, textOf(content["m.new_content"]));
    } else if (type === "m.room.message" || type === POLL) {
      const shown = type === POLL ? pollOf(content) : { ...textOf(content), choices: [] };
      lines.set(id, {
        id,
        isOwn: sender === user,
        who: sender === user ? "you" : sender.slice(1, sender.indexOf(":")),
        ...shown,
        reactions: [],
        sealed: sealedOf(stored.get(id)),
      });
    }
  }
  return [...lines.values()];
}

function sealedOf(event: Omit<ReadEvent, "event_id"> | undefined): string | undefined {
  if (event?.type !== "m.room.encrypted") return undefined;
  const { type, sender, content: { algorithm, ciphertext } } = event;
  return JSON.stringify(
    { type, sender, content: { algorithm, ciphertext: `${String(ciphertext).slice(0, 40)}…` } },
    null,
    1,
  );
}

function textOf(content: Content): Pick<Line, "text" | "html"> {
  return { text: String(content?.body ?? ""), html: content?.formatted_body };
}

function pollOf(content: Content): Pick<Line, "text" | "html" | "choices"> {
  const { question, answers } = content[POLL];
  const wordsOf = (part: Content): string => String(part["org.matrix.msc1767.text"] ?? part.body ?? "");
  const choices = answers.map((answer: Content) => ({
    id: String(answer.id),
    text: wordsOf(answer),
  }));
  return { text: wordsOf(question), html: undefined, choices };
}
