/**
 * The endpoints of the content repository, and where they were before media became private.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#content-repository | Content repository}
 * @module
 */

import type { ContentURI } from "../../types/ids.ts";
import type { CreateMediaResponse, MediaConfig, UrlPreview } from "../../types/api/media.ts";
import { type Endpoint, endpoint, field, fields, nothing } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";

/** Uploads content. */
export const upload: Endpoint<"/_matrix/media/v3/upload", ContentURI> = endpoint(
  "uploadMedia",
  "POST",
  "/_matrix/media/v3/upload",
  field<ContentURI>("content_uri", "string"),
);
/** Makes a place for content. */
export const create: Endpoint<"/_matrix/media/v1/create", CreateMediaResponse> = endpoint(
  "createMedia",
  "POST",
  "/_matrix/media/v1/create",
  fields<CreateMediaResponse>({ content_uri: "string", unused_expires_at: "number?" }),
);
/** Uploads content to its place. */
export const uploadTo: Endpoint<"/_matrix/media/v3/upload/{serverName}/{mediaId}", void> = endpoint(
  "uploadMediaTo",
  "PUT",
  "/_matrix/media/v3/upload/{serverName}/{mediaId}",
  nothing,
);

/** An endpoint that moved in version 1.11, when media became private. */
export interface Moved<Result> {
  /** Where it is now. */
  readonly current: Endpoint<string, Result>;
  /** Where it was: the fallback for servers that are older. */
  readonly old: Endpoint<string, Result>;
}

/** Gives content. */
export const download: Moved<void> = {
  current: endpoint(
    "downloadMedia",
    "GET",
    "/_matrix/client/v1/media/download/{serverName}/{mediaId}",
    nothing,
  ),
  old: endpoint("downloadMedia", "GET", "/_matrix/media/v3/download/{serverName}/{mediaId}", nothing, {
    auth: false,
  }),
};
/** Gives a smaller version of an image. */
export const thumbnail: Moved<void> = {
  current: endpoint(
    "downloadThumbnail",
    "GET",
    "/_matrix/client/v1/media/thumbnail/{serverName}/{mediaId}",
    nothing,
  ),
  old: endpoint("downloadThumbnail", "GET", "/_matrix/media/v3/thumbnail/{serverName}/{mediaId}", nothing, {
    auth: false,
  }),
};
const mediaConfig = fields<MediaConfig>({ "m.upload.size": "number?" });
/** Tells the limits. */
export const config: Moved<MediaConfig> = {
  current: endpoint("getMediaRepoConfig", "GET", "/_matrix/client/v1/media/config", mediaConfig),
  old: endpoint("getMediaRepoConfig", "GET", "/_matrix/media/v3/config", mediaConfig),
};
/** Tells of a web page. */
export const preview: Moved<UrlPreview> = {
  current: endpoint("getUrlPreview", "GET", "/_matrix/client/v1/media/preview_url", fields<UrlPreview>({})),
  old: endpoint("getUrlPreview", "GET", "/_matrix/media/v3/preview_url", fields<UrlPreview>({})),
};

/** Where an endpoint is on this homeserver. */
export async function located<Result>(
  session: Session,
  { current, old }: Moved<Result>,
  options?: RequestOptions,
): Promise<Endpoint<string, Result>> {
  return await session.supports("v1.11", "org.matrix.msc3916.stable", options) ? current : old;
}
