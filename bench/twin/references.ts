/** Fills in what requests take from earlier answers. */

import { type Answer, asObject, type Step } from "./step.ts";

const REFERENCE = /\{\{(\w+)(?:\.([^{}]+))?\}\}/g;

/** What stands for a value whose request is left out or has failed. */
const GONE: Readonly<Record<string, string>> = { room_id: "!gone:localhost", event_id: "$gone" };

/** The values of one run. */
export class References {
  readonly #run: string;
  readonly #answers = new Map<string, Answer>();

  /** Starts a run; `run` is what `{{run}}` stands for. */
  constructor(run: string) {
    this.#run = run;
  }

  /** Takes the answer to a request. */
  add(id: number, answer: Answer): void {
    this.#answers.set(String(id), answer);
  }

  /** The request as it is sent. */
  fill(step: Step): Step {
    return this.#fill(step) as Step;
  }

  #fill(value: unknown): unknown {
    if (typeof value === "string") {
      return value.replaceAll(REFERENCE, (_, id: string, path?: string) => this.#value(id, path));
    }
    if (Array.isArray(value)) return value.map((item) => this.#fill(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fill(item)]),
    );
  }

  #value(id: string, path = ""): string {
    if (id === "run") return this.#run;
    let value: unknown = this.#answers.get(id)?.body;
    const names = path.split(".");
    for (const name of names) {
      if (typeof value === "string" && name === "id") value = value.split("/").at(-1); // of a content URI
      else value = name === "*" ? Object.values(asObject(value))[0] : asObject(value)[name];
    }
    if (typeof value === "string" || typeof value === "number") return String(value);
    return GONE[names.at(-1) ?? ""] ?? "gone";
  }
}
