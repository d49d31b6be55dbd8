/**
 * The content repository.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#content-repository | Content repository}
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type MatrixRequest, openRoute, type Route, route } from "../http/http.ts";
import { type Answer, Failure, forbidden, invalidParam, notFound, refused, Reply } from "../json/json.ts";
import type { Media } from "../server/mod.ts";

const MEDIA = "/_matrix/media/v3";

/** The routes of this file: those with a token, and the older ones without. */
export const mediaRoutes: readonly Route[] = [
  route("POST", `${MEDIA}/upload`, upload),
  route("POST", "/_matrix/media/v1/create", create),
  route("PUT", `${MEDIA}/upload/{serverName}/{mediaId}`, uploadTo),
  route("GET", `${MEDIA}/config`, config),
  route("GET", "v1/media/config", config),
  route("GET", "v1/media/preview_url", preview),
  route("GET", "v1/media/download/{serverName}/{mediaId}", download),
  route("GET", "v1/media/download/{serverName}/{mediaId}/{fileName}", download),
  route("GET", "v1/media/thumbnail/{serverName}/{mediaId}", thumbnail),
  openRoute("GET", `${MEDIA}/download/{serverName}/{mediaId}`, (request) => withoutToken(request, download)),
  openRoute(
    "GET",
    `${MEDIA}/download/{serverName}/{mediaId}/{fileName}`,
    (request) => withoutToken(request, download),
  ),
  openRoute(
    "GET",
    `${MEDIA}/thumbnail/{serverName}/{mediaId}`,
    (request) => withoutToken(request, thumbnail),
  ),
];

/** How long a created URI waits for its file, in milliseconds. */
const UNUSED_LIFETIME = 24 * 60 * 60 * 1000;
/** Content types that get a charset when they name none. */
const TEXT = [
  ...["text/css", "text/csv", "text/html", "text/calendar", "text/plain", "text/javascript", "text/xml"],
  ...["application/json", "application/ld+json", "application/rtf", "image/svg+xml"],
];
/** Content types that a browser may show instead of saving them. */
const INLINE =
  /^(text\/(css|plain|csv)|application\/(json|ld\+json)|image\/(jpeg|gif|png|apng|webp|avif)|video\/(mp4|webm|ogg|quicktime)|audio\/.*)$/;

function upload(request: AuthedRequest): Answer {
  checkSize(request);
  const media = request.server.media.create(request.user.id);
  fill(request, media);
  return { content_uri: media.uri };
}

function create({ server, user }: AuthedRequest): Answer {
  return { content_uri: server.media.create(user.id).uri, unused_expires_at: server.now + UNUSED_LIFETIME };
}

function uploadTo(request: AuthedRequest): void {
  const media = request.server.media.find(request.param("serverName"), request.param("mediaId"));
  if (media === undefined) throw notFound("Unknown media ID");
  if (media.owner !== request.user.id) throw forbidden("Only the creator of the media ID can upload to it");
  if (media.bytes !== undefined) {
    throw new Failure(409, "M_CANNOT_OVERWRITE_MEDIA", "Media ID already has content");
  }
  checkSize(request);
  fill(request, media);
}

function checkSize(request: AuthedRequest): void {
  if (request.raw.body.byteLength > request.server.settings.maxUploadSize) {
    throw new Failure(413, "M_TOO_LARGE", "Upload request body is too large");
  }
}

function fill(request: AuthedRequest, media: Media): void {
  media.bytes = request.raw.body;
  media.type = request.raw.headers.get("content-type") ?? "application/octet-stream";
  media.name = request.raw.url.searchParams.get("filename") || undefined;
}

function config({ server }: AuthedRequest): Answer {
  return { "m.upload.size": server.settings.maxUploadSize };
}

/** A homeserver that requires a token does not serve media without one. */
function withoutToken(request: MatrixRequest, answer: (request: MatrixRequest) => Answer): Answer {
  if (!request.server.settings.authenticatedMedia) return answer(request);
  fileOf(request);
  throw notFound(`Not found '${request.raw.url.pathname}'`);
}

async function preview(request: AuthedRequest): Promise<Answer> {
  const read = request.server.settings.previewFetch;
  if (read === undefined) throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
  return await previewOf(request.requiredQuery("url"), read);
}

function fileOf(request: MatrixRequest): { media: Media; bytes: Uint8Array<ArrayBuffer> } {
  const serverName = request.param("serverName");
  request.queryInteger("timeout_ms");
  if (!/^[\w.:[\]-]+$/.test(serverName)) throw refused("Invalid server name");
  if (serverName !== request.server.settings.serverName) {
    throw new Failure(502, "M_UNKNOWN", `Failed to fetch remote media from ${serverName}`);
  }
  const media = request.server.media.find(serverName, request.param("mediaId"));
  if (media === undefined) throw notFound(`Not found '${request.raw.url.pathname}'`);
  if (media.bytes === undefined) {
    throw new Failure(504, "M_NOT_YET_UPLOADED", "Media has not been uploaded yet");
  }
  return { media, bytes: media.bytes };
}

function download(request: MatrixRequest): Answer {
  const { media, bytes } = fileOf(request);
  return file(media, bytes, request.param("fileName") || media.name);
}

/** The original serves as the thumbnail: clients must accept any size. */
function thumbnail(request: MatrixRequest): Answer {
  for (const name of ["width", "height"]) {
    request.requiredQuery(name);
    if (request.queryInteger(name) === 0) throw invalidParam(`Query parameter ${name} must be positive`);
  }
  const method = request.query("method") ?? "scale";
  if (method !== "crop" && method !== "scale") {
    throw refused(`Unknown thumbnail method ${method}`);
  }
  const { media, bytes } = fileOf(request);
  if (!media.type.startsWith("image/")) {
    throw refused("Cannot find any thumbnails for the requested media");
  }
  return file(media, bytes, undefined);
}

function file({ type }: Media, bytes: Uint8Array<ArrayBuffer>, name: string | undefined): Reply {
  const disposition = INLINE.test(type.split(";", 1)[0] ?? "") ? "inline" : "attachment";
  const isToken = name !== undefined && /^[\w!#$&+.^`|~-]+$/.test(name);
  const fileName = name === undefined
    ? ""
    : isToken
    ? `; filename=${name}`
    : `; filename*=utf-8''${encodeURIComponent(name)}`;
  return new Reply(200, bytes, {
    "content-type": TEXT.includes(type.toLowerCase()) ? `${type}; charset=UTF-8` : type,
    "content-disposition": `${disposition}${fileName}`,
    "cross-origin-resource-policy": "cross-origin",
  });
}

const META = /<meta\s+property="(og:[^"]+)"\s+content="([^"]*)"/gi;
const TITLE = /<title>([^<]*)<\/title>/i;

/**
 * Reads a page and gives its `og:` properties; its title if it has none.
 *
 * @param url Where the page is.
 * @param read What reads it.
 */
async function previewOf(url: string, read: typeof fetch): Promise<JsonObject> {
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
