/**
 * Reads the bodies of answers, never more than was allowed.
 *
 * @module
 */

import { ServiceResponseError } from "../errors/service_response_error.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";

/** An error's body is read up to here; what is longer is no Matrix error. */
const MAX_ERROR_SIZE = 1 << 20;

/**
 * Reads a body of JSON.
 *
 * @param request Names the request in errors.
 * @param maxSize The most bytes to take, after decompression.
 * @throws {ServiceResponseError} If the body is larger, empty, or no JSON.
 */
export async function readJson(response: Response, request: string, maxSize: number): Promise<unknown> {
  try {
    if (sizeIsKnown(response, maxSize)) return await response.json();
    return JSON.parse(new TextDecoder().decode(await readBytes(response, request, maxSize)));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const type = response.headers.get("content-type")?.slice(0, 100) ?? "none";
    const size = response.headers.get("content-length") ?? "unknown";
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: it is no JSON (content type ${type}, length ${size})`,
      { cause },
    );
  }
}

/** The body of a refusal: empty if it is not the JSON object that the specification says. */
export async function readErrorBody(response: Response, request: string): Promise<JsonObject> {
  try {
    const body = await readJson(response, request, MAX_ERROR_SIZE);
    return isJsonObject(body) ? body : {};
  } catch (error) {
    if (error instanceof ServiceResponseError) return {};
    throw error;
  }
}

/**
 * Reads a body whole.
 *
 * @throws {ServiceResponseError} If it is larger than `maxSize` bytes.
 */
export async function readBytes(
  response: Response,
  request: string,
  maxSize: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (sizeIsKnown(response, maxSize)) return await response.bytes();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxSize) throw tooLarge(request, maxSize);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** Whether the body is as long as its header says, which HTTP sees to, and that is not too long. */
function sizeIsKnown(response: Response, maxSize: number): boolean {
  const length = response.headers.get("content-length");
  return length !== null && Number(length) <= maxSize && !response.headers.has("content-encoding");
}

function tooLarge(request: string, maxSize: number): ServiceResponseError {
  return new ServiceResponseError(
    `Cannot use the answer to ${request}: it is larger than ${maxSize} bytes; raise maxResponseSize if it has to be`,
  );
}
