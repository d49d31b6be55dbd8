/**
 * Pushers: where notifications go.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-notifications | Push notifications}
 * @module
 */

import type { Open } from "../open.ts";

/** Where notifications of an account go. */
export interface Pusher {
  /** Which of the application's receivers it is, together with `app_id`. At most 512 bytes. */
  pushkey: string;
  /** How notifications go out. */
  kind: Open<"http" | "email">;
  /** The application, by a reversed domain name. At most 64 characters. */
  app_id: string;
  /** The application's name, for users. */
  app_display_name: string;
  /** The device's name, for users. */
  device_display_name: string;
  /** Which of the device's push rules apply. */
  profile_tag?: string;
  /** The language of notifications, such as `en-US`. */
  lang: string;
  /** What the kind needs to know. */
  data: PusherData;
}

/** A pusher, as it is set up. */
export interface PusherSetup extends Pusher {
  /** Whether other users' pushers of the same key and application stay. Default: `false`. */
  append?: boolean;
}

/** Which pusher to remove. */
export interface PusherRemoval {
  /** The pusher's key. */
  pushkey: string;
  /** The pusher's application. */
  app_id: string;
  /** That it is removed. */
  kind: null;
}

/** What a kind of pusher needs to know. */
export interface PusherData {
  /** Of `http`: where to send notifications, an HTTPS URL with the path `/_matrix/push/v1/notify`. */
  url?: string;
  /** Of `http`: what to send; everything if absent. */
  format?: Open<"event_id_only">;
  /** Anything else, which goes out with each notification. */
  [key: string]: unknown;
}
