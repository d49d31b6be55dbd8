/**
 * Reads what strangers send: so much, in so long a time, and of so many at once.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { alarm, type Clock } from "../../base/clock.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { Refusal } from "./refusal.ts";

/** The largest body, in bytes: an event has at most 65,536, and a notification little more. */
const MAX_BODY = 131_072;
/** The bytes of all bodies that are being read. */
const MAX_READING = 8 * 2 ** 20;
/** How long a body may take, in milliseconds. */
const MAX_TIME = 10_000;

/** Reads bodies. */
export class BoundedBodies {
  readonly #clock: Clock;
  #reading = 0;

  /** @param clock Measures the time. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Reads an object of JSON.
   *
   * @throws {Refusal} If it is none, or too large, or does not arrive in time.
   */
  async json(request: Request): Promise<JsonObject> {
    if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY) {
      await request.body?.cancel().catch(() => {}); // the caller has gone
      throw tooLarge();
    }
    const text = new TextDecoder().decode(await this.#bytes(request));
    const parsed = parse(text);
    if (parsed === undefined) throw new Refusal(400, "M_NOT_JSON", "The body must be JSON");
    if (!isJsonObject(parsed)) throw new Refusal(400, "M_BAD_JSON", "The body must be an object");
    return parsed;
  }

  async #bytes({ body }: Request): Promise<Uint8Array<ArrayBuffer>> {
    const reader = body?.getReader();
    if (reader === undefined) return new Uint8Array();
    const chunks: Uint8Array[] = [];
    let [size, isLate] = [0, false];
    const cancel = (): void => void reader.cancel().catch(() => {}); // the caller has gone
    const end = alarm(this.#clock, MAX_TIME, () => {
      isLate = true;
      cancel();
    });
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (isLate) throw new Refusal(408, "M_UNKNOWN", "The body did not arrive in time");
        if (done) return concat(chunks);
        size += value.byteLength;
        this.#reading += value.byteLength;
        chunks.push(value);
        if (size > MAX_BODY) throw tooLarge();
        if (this.#reading > MAX_READING) {
          throw new Refusal(503, "M_LIMIT_EXCEEDED", "Too many requests at once");
        }
      }
    } catch (error) {
      cancel();
      throw error instanceof Refusal ? error : new Refusal(400, "M_UNKNOWN", "The body broke off");
    } finally {
      this.#reading -= size;
      end();
    }
  }
}

function tooLarge(): Refusal {
  return new Refusal(413, "M_TOO_LARGE", `The body has more than ${MAX_BODY} bytes`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
