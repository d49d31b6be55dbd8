/** Sends a sequence of requests to a homeserver. */

import { delay } from "@std/async/delay";
import { Canon } from "./canon.ts";
import { References } from "./references.ts";
import { type Answer, flat, type Step } from "./step.ts";

/** A homeserver to play on. */
export interface Stage {
  /** Its address. */
  readonly baseUrl: string;
  /** What reaches it. */
  readonly fetch: typeof fetch;
}

/** How a sequence is played. */
export interface PlayOptions {
  /** Letters that no other run has. */
  readonly run: string;
  /** Whether two requests go out at the same time, or one after the other, and in which order. */
  readonly pairs: (step: Step) => "together" | "in order" | "turned round";
  /**
   * How long a new profile takes to reach the rooms of its user, in milliseconds: Synapse tells them
   * later, in the background.
   *
   * @default {0}
   */
  readonly profileDelay?: number;
}

/** Plays a sequence step by step, and gives comparable answers. */
export class Player {
  readonly #stage: Stage;
  readonly #options: PlayOptions;
  readonly #references: References;
  readonly #canon: Canon;

  /** Starts a run. */
  constructor(stage: Stage, options: PlayOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#references = new References(options.run);
    this.#canon = new Canon(options.run);
  }

  /** Sends a step, and gives its answer and those of what is beside it. */
  async play(step: Step): Promise<Answer[]> {
    const answers = await this.#send(step);
    flat(step).forEach(({ id }, index) => {
      const answer = answers[index];
      if (answer !== undefined) this.#references.add(id, answer);
    });
    const { profileDelay = 0 } = this.#options;
    if (profileDelay > 0 && flat(step).some(isProfileChange)) await delay(profileDelay);
    return flat(step).flatMap((one, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [this.#canon.answer(one, answer)];
    });
  }

  async #send(step: Step): Promise<Answer[]> {
    const steps = flat(step).map((one) => this.#references.fill(one));
    const how = steps.length === 1 ? "in order" : this.#options.pairs(step);
    if (how === "together") return await Promise.all(steps.map((one) => this.#request(one)));
    if (how === "turned round") steps.reverse();
    const answers: Answer[] = [];
    for (const one of steps) answers.push(await this.#request(one));
    return how === "turned round" ? answers.reverse() : answers;
  }

  async #request(step: Step): Promise<Answer> {
    const path = step.path.map((segment) => encodeURIComponent(segment)).join("/");
    const query = new URLSearchParams(step.query).toString();
    const body = step.text ?? (step.body === undefined ? undefined : JSON.stringify(step.body));
    const response = await this.#stage.fetch(
      `${this.#stage.baseUrl}/${path}${query === "" ? "" : `?${query}`}`,
      {
        method: step.method,
        headers: {
          ...(step.token === undefined ? {} : { authorization: `Bearer ${step.token}` }),
          ...(body === undefined ? {} : { "content-type": step.type ?? "application/json" }),
        },
        body,
        redirect: "manual",
      },
    );
    return { status: response.status, body: await bodyOf(response) };
  }
}

function isProfileChange({ method, path }: Step): boolean {
  return path.includes("profile") && method !== "GET";
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  if (type === "application/json" && !response.headers.has("content-disposition")) {
    return text === "" ? null : JSON.parse(text);
  }
  return { type, text, disposition: response.headers.get("content-disposition") };
}
