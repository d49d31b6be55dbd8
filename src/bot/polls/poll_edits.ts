/**
 * Polls that were edited.
 *
 * @module
 */

import { memberOf } from "../text/json.ts";
import type { PollEvent } from "./poll_count.ts";
import { pollEventOf, readPoll } from "./read_poll.ts";

/**
 * A poll as it reads after its edits: the latest counts that its creator has made and that is a poll.
 *
 * @param start The event with which the poll began.
 * @param related Edits of it, decrypted, in any order; what is none is left out.
 */
export function editedPoll(start: PollEvent, related: Iterable<PollEvent>): PollEvent {
  let latest: PollEvent | undefined;
  for (const event of related) {
    const relation = memberOf(event.content, "m.relates_to");
    const isEdit = memberOf(relation, "rel_type") === "m.replace" &&
      memberOf(relation, "event_id") === start.event_id &&
      event.sender === start.sender && pollEventOf(event.type) === "start" &&
      readPoll(memberOf(event.content, "m.new_content")) !== undefined;
    if (isEdit && (latest === undefined || isLater(event, latest))) latest = event;
  }
  const content = memberOf(latest?.content, "m.new_content");
  return content === undefined ? start : { ...start, content: content as object };
}

function isLater(one: PollEvent, other: PollEvent): boolean {
  return one.origin_server_ts === other.origin_server_ts
    ? one.event_id > other.event_id
    : one.origin_server_ts > other.origin_server_ts;
}
