/**
 * A scripted homeserver with a content repository.
 *
 * @module
 */

import type { ContentURI, MediaAPI } from "@greenroom/matrix/types";
import { mediaAPI } from "../../src/api/media/media.ts";
import { type Rule, type Scripted, scripted, type ScriptedOptions } from "./scripted_fetch.ts";

/** The versions of the specification, which decide where media is. */
export const VERSIONS = "GET /_matrix/client/versions";
/** An upload. */
export const UPLOAD = "POST /_matrix/media/v3/upload";
/** A download of {@link PIC}. */
export const FILE = "GET /_matrix/client/v1/media/download/example.org/pic";
/** Some content. */
export const PIC: ContentURI = "mxc://example.org/pic";

/** A text's bytes. */
export const text = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(value);

/** The media operations of a homeserver that takes uploads, and answers else by rule. */
export function media(
  rules: Record<string, Rule> = {},
  options: ScriptedOptions = {},
): Scripted & { api: MediaAPI } {
  const made = scripted(
    { [VERSIONS]: { versions: ["v1.11"] }, [UPLOAD]: { content_uri: PIC }, ...rules },
    options,
  );
  return { ...made, api: mediaAPI(made.session) };
}

/** A stream of parts, of which an error makes it fail, that notes whether it was let go. */
export function streamOf(
  ...parts: unknown[]
): { stream: ReadableStream<Uint8Array>; state: { cancelled: boolean } } {
  const state = { cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(part as Uint8Array);
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { stream, state };
}
