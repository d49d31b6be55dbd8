/**
 * Reads what strangers send, so much, in so long a time, and of so many at once; and refuses it.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { alarm, type Clock } from "./clock.ts";
import { platform } from "./platform/mod.ts";

/** Why a request is refused, for the one who made it: it says nothing of the bot. */
export class Refusal {
  /** The answer. */
  readonly response: Response;

  /**
   * @param status The HTTP status.
   * @param errcode The code, as the specification has it.
   * @param error What is wrong, for people.
   * @param headers Headers.
   */
  constructor(status: number, errcode: string, error: string, headers: Record<string, string> = {}) {
    this.response = Response.json({ errcode, error }, { status, headers });
  }
}

/** How much is read. */
export interface BodyBounds {
  /** The largest body, in bytes. */
  readonly body: number;
  /** The bytes of all bodies that are being read. */
  readonly reading: number;
  /** How long a body may take, in milliseconds. */
  readonly time: number;
}

/** Reads bodies. */
export class BoundedBodies {
  readonly #clock: Clock;
  readonly #bounds: BodyBounds;
  #reading = 0;

  /**
   * @param clock Measures the time.
   * @param bounds How much is read.
   */
  constructor(clock: Clock, bounds: BodyBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /**
   * Reads an object of JSON.
   *
   * @throws {Refusal} If it is none, or too large, or does not arrive in time.
   */
  async json(request: Request): Promise<JsonObject> {
    if (Number(request.headers.get("content-length") ?? 0) > this.#bounds.body) {
      await request.body?.cancel().catch(() => {}); // the caller has gone
      throw this.#tooLarge();
    }
    const text = new TextDecoder().decode(await this.#bytes(request));
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      throw new Refusal(400, "M_NOT_JSON", "The body must be JSON");
    }
    if (!isJsonObject(parsed)) throw new Refusal(400, "M_BAD_JSON", "The body must be an object");
    return parsed;
  }

  async #bytes({ body }: Request): Promise<Uint8Array<ArrayBuffer>> {
    const reader = body?.getReader();
    if (reader === undefined) return new Uint8Array();
    const chunks: Uint8Array[] = [];
    let [size, isLate] = [0, false];
    const cancel = (): void => void reader.cancel().catch(() => {}); // the caller has gone
    const end = alarm(this.#clock, this.#bounds.time, () => {
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
        if (size > this.#bounds.body) throw this.#tooLarge();
        if (this.#reading > this.#bounds.reading) {
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

  #tooLarge(): Refusal {
    return new Refusal(413, "M_TOO_LARGE", `The body has more than ${this.#bounds.body} bytes`);
  }
}

/** Returns whether a text is a secret. How long that takes does not depend on what the text says. */
export async function isSameSecret(text: string, secret: string): Promise<boolean> {
  const { createHash, timingSafeEqual } = await platform.crypto();
  const hashed = (each: string) => createHash("sha256").update(each).digest();
  return timingSafeEqual(hashed(text), hashed(secret));
}
