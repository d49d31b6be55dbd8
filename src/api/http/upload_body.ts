/**
 * What can be uploaded, made into a body that is sent in parts and never held whole.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Deadline } from "./answer.ts";
import type { RawBody } from "./exchange.ts";
import { checkInteger } from "./request_options.ts";

/** Something with a stream to read, such as a `Deno.FsFile`; with its size, if known. */
export interface ReadableSource {
  /** The content. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Returns the size of the content, in bytes. */
  stat?(): Promise<{ readonly size: number }>;
}

/** What can be uploaded. A stream is used up by it, also if the upload fails. */
export type MediaData = Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | ReadableSource;

/** Told how many bytes have gone or come so far, and how many there are to be, if that is known. */
export type OnProgress = (transferred: number, total: number | undefined) => void;

/** A content that can be read, and how long it is. */
export interface MediaSource {
  /** How many bytes there are. */
  readonly size: number;
  /** Whether {@link MediaSource.open} can be called again, for another try. */
  readonly repeatable: boolean;
  /** Gives the content. */
  open(): ReadableStream<Uint8Array>;
}

/** A part of bytes that are in memory already, in bytes. */
const CHUNK = 1 << 16;

/**
 * A stream of unknown size is held in memory up to here, in bytes: the homeserver requires the
 * size first.
 */
const MAX_UNKNOWN = 32 * 2 ** 20;

/**
 * A body of known length that is read as it is sent.
 *
 * `fetch` says `Content-Length` only of bodies that know their size, and of streams it does not ask
 * for one. A `Blob` is the only body that has both a size and a stream; one with a stream of our
 * own is read part by part as any other.
 */
class SizedBody extends Blob {
  readonly #stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #size: number;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>, size: number) {
    super([]);
    this.#stream = stream;
    this.#size = size;
  }

  override get size(): number {
    return this.#size;
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream;
  }
}

/** Makes a request's body. */
export function uploadBody(source: MediaSource, type: string, onProgress: OnProgress | undefined): RawBody {
  return {
    type,
    size: source.size,
    repeatable: source.repeatable,
    open(deadline): BodyInit {
      if (source.size > 0) return new SizedBody(bodyStream(source, deadline, onProgress), source.size);
      onProgress?.(0, 0);
      return new Uint8Array(); // of an empty Blob, Deno does not say the length
    },
  };
}

/** Returns whether a value is something that can be uploaded, and has not been used up. */
export function isMediaData(data: unknown): data is MediaData {
  if (data instanceof ArrayBuffer || data instanceof Uint8Array || data instanceof Blob) return true;
  const stream = streamIn(data);
  return stream !== undefined && !stream.locked;
}

/** The stream of data that is one, or has one; what a `Blob` gives is not meant. */
export function streamIn(data: unknown): ReadableStream<Uint8Array> | undefined {
  if (data instanceof ReadableStream) return data;
  const readable = isJsonObject(data) ? data.readable : undefined;
  return readable instanceof ReadableStream ? readable : undefined;
}

/**
 * Makes data readable, and finds out how long it is.
 *
 * @throws {ValueError} If the data can't be uploaded, is not of the size that was said, or is a
 * stream of unknown size which is too large to be held in memory.
 */
export async function mediaSource(
  data: MediaData,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Promise<MediaSource> {
  checkInteger("size", size);
  const source = await sourceOf(data, size, signal);
  if (size !== undefined && size !== source.size) throw wrongSize(size, source.size);
  return source;
}

async function sourceOf(
  data: MediaData,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Promise<MediaSource> {
  if (data instanceof ArrayBuffer) return inMemory([new Uint8Array(data)]);
  if (data instanceof Uint8Array) return inMemory([data]);
  if (data instanceof Blob) return { size: data.size, repeatable: true, open: () => data.stream() };
  const stream = streamIn(data);
  if (stream === undefined || stream.locked) throw unusable();
  const known = size ?? ("stat" in data ? (await data.stat?.())?.size : undefined);
  return known === undefined || known === 0
    ? inMemory(await readAll(stream, signal))
    : { size: known, repeatable: false, open: () => stream };
}

/** The error for what is no data. */
export function unusable(): ValueError {
  return new ValueError(
    "Cannot upload the data: it must be bytes, a Blob, a file, or a stream that is not being read",
  );
}

function inMemory(chunks: readonly Uint8Array[]): MediaSource {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { size, repeatable: true, open: () => ReadableStream.from(chunks) };
}

async function readAll(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream.pipeThrough(new TransformStream(), { signal })) {
    size += checkedChunk(chunk).length;
    if (size > MAX_UNKNOWN) {
      throw new ValueError(
        `Cannot upload the stream: it has more than ${MAX_UNKNOWN} bytes; say its size`,
      );
    }
    chunks.push(chunk);
  }
  return chunks;
}

/**
 * Reads a source for one try; what goes wrong with it on this side is what the request fails with.
 */
function bodyStream(
  { open, size }: MediaSource,
  deadline: Deadline,
  onProgress: OnProgress | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = open().getReader();
  // `fetch` may stop, or never begin: the source is cancelled all the same.
  const letGo = (): void => void reader.cancel(deadline.signal.reason).catch(() => {});
  deadline.whenEnded(letGo);
  let sent = 0;
  let rest = new Uint8Array();
  let cancelled = false;
  /** Reads on until there is something that has not been sent; nothing at the end. */
  const fill = async (): Promise<void> => {
    for (let done = false; !done && rest.length === 0;) {
      const next = await reader.read();
      deadline.touch();
      done = next.done;
      if (!next.done) rest = checkedChunk(next.value);
    }
    if (sent + rest.length > size) throw wrongSize(size, "more");
    deadline.signal.throwIfAborted(); // which would look like the end
    if (rest.length === 0 && sent < size && !cancelled) throw wrongSize(size, sent);
  };
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    await fill();
    const part = rest.subarray(0, CHUNK);
    rest = rest.subarray(CHUNK);
    sent += part.length;
    // Looks for the end before the last part goes: `fetch` asks for nothing beyond the size, and
    // what is too long must not arrive as if it were whole.
    if (sent === size && part.length > 0) await fill();
    if (cancelled) return;
    onProgress?.(sent, size);
    if (part.length > 0) controller.enqueue(part);
    if (sent === size) controller.close();
  };
  return new ReadableStream({
    pull: (controller) =>
      pull(controller).catch((error) => {
        deadline.fail(error);
        throw error;
      }),
    cancel() {
      cancelled = true;
      letGo();
    },
  }, { highWaterMark: 0 });
}

function checkedChunk(chunk: unknown): Uint8Array<ArrayBuffer> {
  if (chunk instanceof Uint8Array) return chunk as Uint8Array<ArrayBuffer>;
  throw new ValueError("Cannot upload the stream: it must give Uint8Arrays");
}

function wrongSize(said: number, actual: number | "more"): ValueError {
  return new ValueError(`Cannot upload the data: it was said to have ${said} bytes, and has ${actual}`);
}
