/**
 * Reads the bodies of answers, never more than was allowed.
 *
 * @module
 */

import { NetworkError } from "../errors/network_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { Deadline } from "./deadline.ts";

/** An error's body is read up to here; what is longer is no Matrix error. */
const MAX_ERROR_SIZE = 1 << 20;

/** An answer whose body is about to be read. */
export interface Answer {
  /** The answer. */
  readonly response: Response;
  /** Names the request in errors. */
  readonly request: string;
  /** Is told of progress. */
  readonly deadline: Deadline;
}

/**
 * Reads a body of JSON.
 *
 * @param answer The answer.
 * @param maxSize The most bytes to take, after decompression.
 * @throws {ServiceResponseError} If the body is larger, empty, or no JSON.
 */
export async function readJson(answer: Answer, maxSize: number): Promise<unknown> {
  const { response, request } = answer;
  const bytes = await readBytes(answer, maxSize);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Without the parser's error: it quotes the text, which may hold a secret.
    const type = response.headers.get("content-type")?.slice(0, 100) ?? "none";
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: it is no JSON (content type ${type}, ${bytes.length} bytes)`,
    );
  }
}

/** The body of a refusal: empty if it is not the JSON object that the specification says. */
export async function readErrorBody(answer: Answer): Promise<JsonObject> {
  try {
    const body = await readJson(answer, MAX_ERROR_SIZE);
    return isJsonObject(body) ? body : {};
  } catch (error) {
    if (error instanceof ServiceResponseError) return {};
    throw error;
  }
}

/**
 * Reads a body whole.
 *
 * @param answer The answer.
 * @param maxSize The most bytes to take, after decompression.
 * @param onProgress Told after each part how many bytes there are so far.
 * @throws {ServiceResponseError} If it is larger.
 */
export async function readBytes(
  answer: Answer,
  maxSize: number,
  onProgress?: (size: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of readChunks(answer)) {
    size += chunk.length;
    if (size > maxSize) {
      throw new ServiceResponseError(
        `Cannot use the answer to ${answer.request}: it is larger than ${maxSize} bytes, the most it may be`,
      );
    }
    chunks.push(chunk);
    onProgress?.(size);
  }
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/**
 * Reads a body part by part.
 *
 * @throws {NetworkError} If it ends before the length that was announced.
 */
export async function* readChunks(
  { response, request, deadline }: Answer,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      deadline.touch();
      size += next.value.length;
      yield next.value;
    }
  } finally {
    letGo(reader);
  }
  const announced = announcedSize(response);
  if (announced !== undefined && size < announced) {
    throw new NetworkError(`Cannot ${request}: the answer broke off after ${size} of ${announced} bytes`);
  }
}

/**
 * Tells the sender that nobody wants the rest. It is not waited for: a body that somebody else reads as well, of a clone for
 * example, is only cancelled when both want it to be.
 */
export function letGo(body: { cancel(): Promise<void> } | null | undefined): void {
  body?.cancel().catch(() => {});
}

/** How long the body is going to be, in bytes; undefined if the answer does not say. */
export function announcedSize({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  const known = length !== null && /^\d+$/.test(length) && !headers.has("content-encoding");
  return known ? Number(length) : undefined;
}
