/**
 * Polls: their contents, their votes, and polls of a bot in a room.
 *
 * @module
 */

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
} from "./poll_contents.ts";
export { type Poll, type PollAnswer, type PollEvent, readPoll } from "./read_poll.ts";
export { countPoll, endPoll, POLL, sendPoll, type SendPollOptions } from "./room_polls.ts";
export { type PollAnswerTally, type PollTally, tallyPoll, type TallyPollOptions } from "./tally_poll.ts";
