/** What Synapse answers to sequences: asked now, or kept from an earlier time. */

import { playOn, type Stage } from "./play.ts";
import type { Answer, Step } from "./step.ts";

/** A sequence that has been played. */
export interface Played {
  /** Letters that no other run has. */
  readonly run: string;
  /** The answer to each request, in order. */
  readonly answers: readonly Answer[];
}

/** Gives Synapse's answers to a sequence; `anew` asks even if there are some. */
export type Theirs = (steps: readonly Step[], options?: { readonly anew?: boolean }) => Promise<Played>;

/** Plays on a Synapse that runs. */
export function asked(stage: () => Promise<Stage>): Theirs {
  return async (steps) => {
    const run = newRun();
    const answers = await playOn(await stage(), steps, {
      run,
      pairs: () => "together",
      awaitProfiles: true,
    });
    return { run, answers };
  };
}

/** Keeps the answers in a folder, and asks only for those that are not there. */
export function kept(folder: string, ask: Theirs): Theirs {
  return async (steps, { anew = false } = {}) => {
    const path = `${folder}/${await nameOf(steps)}.json.gz`;
    try {
      if (!anew) {
        return await new Response(through(await Deno.readFile(path), new DecompressionStream("gzip"))).json();
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const played = await ask(steps);
    const bytes = new TextEncoder().encode(JSON.stringify(played));
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeFile(`${path}.part`, through(bytes, new CompressionStream("gzip")));
    await Deno.rename(`${path}.part`, path);
    return played;
  };
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: TransformStream<BufferSource, Uint8Array<ArrayBuffer>>,
) {
  return new Blob([bytes]).stream().pipeThrough(stream);
}

/** The name of what is kept: another sequence has another. */
async function nameOf(steps: readonly Step[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(steps));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 32);
}

/** Letters that no other run has. */
function newRun(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => "bcdfghjklmnpqrstvwxz".charAt(byte % 20)).join("");
}
