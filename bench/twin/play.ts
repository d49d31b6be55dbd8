/** Sends a sequence of requests to a homeserver. */

import { delay } from "@std/async/delay";
import { References } from "./references.ts";
import { type Answer, asObject, flat, type Step } from "./step.ts";
import { v3 } from "./world.ts";

const PROFILE_ATTEMPTS = 200;
const PROFILE_INTERVAL_MS = 50;

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
   * Whether to wait until a new profile has reached the rooms of its user: Synapse tells them later,
   * in the background.
   *
   * @default {false}
   */
  readonly awaitProfiles?: boolean;
}

/** Plays a sequence, and gives the answers to its requests. */
export async function playOn(
  stage: Stage,
  steps: readonly Step[],
  options: PlayOptions,
): Promise<Answer[]> {
  const player = new Player(stage, options);
  const answers: Answer[] = [];
  for (const step of steps) answers.push(...await player.play(step));
  return answers;
}

class Player {
  readonly #stage: Stage;
  readonly #options: PlayOptions;
  readonly #references: References;

  constructor(stage: Stage, options: PlayOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#references = new References(options.run);
  }

  /** Sends a step, and gives its answer and those of what is beside it. */
  async play(step: Step): Promise<Answer[]> {
    const answers = await this.#send(step);
    flat(step).forEach(({ id }, index) => {
      const answer = answers[index];
      if (answer !== undefined) this.#references.add(id, answer);
    });
    if (this.#options.awaitProfiles === true) {
      for (const [index, one] of flat(step).entries()) {
        if (answers[index]?.status === 200 && isProfileChange(one)) await this.#arrival(one);
      }
    }
    return answers;
  }

  /** Waits until all rooms of the user show a changed profile; not for ever, as some refuse it. */
  async #arrival(step: Step): Promise<void> {
    const { token, path } = this.#references.fill(step);
    const field = path.at(-1) ?? "";
    const read = async (...segments: string[]) =>
      asObject((await this.#request({ id: step.id, token, method: "GET", path: v3(...segments) })).body);
    const { joined_rooms: rooms } = await read("joined_rooms");
    const { [field]: value } = await read("profile", path.at(-2) ?? "", field);
    for (const room of Array.isArray(rooms) ? rooms : []) {
      for (let attempt = 0; attempt < PROFILE_ATTEMPTS; attempt++) {
        const member = await read("rooms", room, "state", "m.room.member", path.at(-2) ?? "");
        if ((member[field] ?? "") === (value ?? "")) break;
        await delay(PROFILE_INTERVAL_MS);
      }
    }
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

/** Whether a request changes what the member events of a user say. */
function isProfileChange({ method, path }: Step): boolean {
  return path.includes("profile") && method !== "GET" &&
    ["displayname", "avatar_url"].includes(path.at(-1) ?? "");
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  if (type === "application/json" && !response.headers.has("content-disposition")) {
    return text === "" ? null : JSON.parse(text);
  }
  return { type, text, disposition: response.headers.get("content-disposition") };
}
