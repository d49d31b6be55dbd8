/**
 * What a homeserver answered: enough to compare it with what another one answered in the same play.
 *
 * @module
 */

/** A `fetch` that keeps a transcript. */
export interface Transcript {
  /** Sends as the one it is made of. */
  readonly fetch: typeof fetch;
  /**
   * Method, path, status and errcode of every answer; how often does not count, for some is asked
   * until the answer is right.
   */
  readonly answers: ReadonlySet<string>;
}

/** Words of the API, with all that is particular to a run left out: IDs, tokens, made-up names. */
function pathWords(url: string): string {
  const segments = new URL(url).pathname.split("/");
  return segments.map((segment) => /^([a-z_.]+|v\d|)$/.test(segment) ? segment : "*").join("/");
}

async function errcodeOf(response: Response): Promise<string> {
  if (response.ok) return "";
  const body = await response.clone().json();
  return `${body.errcode}`;
}

/** Keeps a transcript of what is answered. */
export function transcribed(inner: typeof fetch): Transcript {
  const answers = new Set<string>();
  return {
    answers,
    async fetch(input, init) {
      const response = await inner(input, init);
      const url = String(input);
      answers.add(
        [init?.method ?? "GET", pathWords(url), response.status, await errcodeOf(response)].join(" "),
      );
      return response;
    },
  };
}
