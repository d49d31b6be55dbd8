/**
 * What a bot does outside of its functions: each in a run of its own, in the order of the room.
 *
 * A file of its own because neither a run nor its patience knows of the client.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { Client } from "../../../mod.ts";
import type { QueuedSend, RoomID } from "../../../types.ts";
import { Turns } from "../../base/runs.ts";
import { RunTime } from "./patience.ts";
import { currentRunOfAny, Run, type Saying } from "./run.ts";

/** Does what a bot does outside of its functions, and keeps the order of each room. */
export class OwnRuns {
  /** Resolves when the bot may speak. Set before it does. */
  started!: () => Promise<void>;
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #turns = new Turns<RoomID>();
  /** What was said, until the queue of the room has sent it. */
  readonly #said = new Turns<RoomID>();
  /** Of those under way. */
  readonly #times = new Set<RunTime>();

  /**
   * @param client Does what is done.
   * @param signal Aborted when the bot is closed.
   */
  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * Does something in the run in which this is called; in none, in a run of its own, after what was begun
   * before.
   */
  async within<Result>(room: RoomID, work: (run: Run) => Promise<Result>): Promise<Result> {
    const current = currentRunOfAny(this.#signal);
    if (current !== undefined) return await work(current);
    const turn = this.#turns.keep({ of: room });
    try {
      await turn.begun();
      return await this.#do(room, work, turn.end);
    } finally {
      turn.end();
    }
  }

  /** Says something by the queue of a room. When it is stored, the next has its turn. */
  #saying(room: RoomID, { signal }: Run, letGo: () => void): Saying {
    const sends: QueuedSend[] = [];
    return {
      add: (content) => {
        const send = this.#client.queue(room).sendMessage(content);
        sends.push(send);
        return abortable(send.sent, signal);
      },
      end: () => {
        this.#said.take(() => Promise.allSettled(sends.map(({ sent }) => sent)), { of: room });
        Promise.allSettled(sends.map(({ stored }) => stored)).then(letGo);
      },
    };
  }

  /** Gives up all that is under way. */
  end(reason: Error): void {
    for (const time of this.#times) time.end(reason);
  }

  async #do<Result>(
    room: RoomID,
    work: (run: Run) => Promise<Result>,
    letGo: () => void,
  ): Promise<Result> {
    await this.started();
    return await this.#client.runTask(`in ${crypto.randomUUID()}`, async (context) => {
      const time = new RunTime(this.#signal);
      const run = new Run({ context, time });
      run.queues = "always"; // nobody does it again
      run.saying = this.#saying(room, run, letGo);
      // All else comes after what was said.
      run.begun.turns.take(() => this.#said.take(() => {}, { of: room }));
      this.#times.add(time);
      try {
        const result = await work(run);
        await run.begun.settled();
        return result;
      } finally {
        this.#times.delete(time);
        for (const call of run.atEnd) call();
      }
    });
  }
}
