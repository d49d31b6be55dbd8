/**
 * What a web page says of itself, for those who link to it.
 *
 * @see {@link https://ogp.me | The Open Graph protocol}
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import { Failure } from "../http/failure.ts";

const META = /<meta\s+property="(og:[^"]+)"\s+content="([^"]*)"/gi;
const TITLE = /<title>([^<]*)<\/title>/i;

/**
 * Reads a page and gives its `og:` properties; its title if it has none.
 *
 * @param url Where the page is.
 * @param read What reads it.
 */
export async function previewOf(url: string, read: typeof fetch): Promise<JsonObject> {
  const page = await textOf(url, read);
  const properties = [...page.matchAll(META)].map(([, name = "", value = ""]) => [name.toLowerCase(), value]);
  return { "og:title": TITLE.exec(page)?.[1] ?? null, ...Object.fromEntries(properties) };
}

async function textOf(url: string, read: typeof fetch): Promise<string> {
  try {
    const response = await read(url);
    const text = await response.text();
    if (response.ok) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new Failure(502, "M_UNKNOWN", "Failed to download remote page");
}
