/**
 * Which options the functions of a context have that do something in a room.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import type { CaptionOptions, FileOptions, ImageOptions, StickerOptions } from "./pictures.ts";
import type { SendPollOptions } from "../polls/mod.ts";
import type { StreamOptions } from "./stream.ts";
import type { WriteOptions } from "./writing.ts";

const WRITE: OptionNames<WriteOptions> = { format: true, msgtype: true, mentions: true, sendKey: true };
const STREAM: OptionNames<StreamOptions> = {
  ...{ msgtype: true, mentions: true, inThread: true, interval: true, note: true },
};
const CAPTION: OptionNames<CaptionOptions> = {
  ...{ caption: true, format: true, mentions: true, replyTo: true, thread: true },
};
const IMAGE: OptionNames<ImageOptions> = { ...CAPTION, fileName: true, thumbnail: true };
const FILE: OptionNames<FileOptions> = { ...CAPTION, fileName: true, mimeType: true, fileType: true };
const STICKER: OptionNames<StickerOptions> = { text: true, mentions: true, replyTo: true, thread: true };
const POLL: OptionNames<SendPollOptions> = { maxSelections: true, undisclosed: true };
const DOWNLOAD = { maxSize: true } as const;

const NAMES = {
  send: WRITE,
  stream: STREAM,
  sendImage: IMAGE,
  sendFile: FILE,
  sendSticker: STICKER,
  sendPoll: POLL,
  download: DOWNLOAD,
};

/**
 * Refuses options that a function of a context has not, as of a typing error.
 *
 * @param call The function.
 * @throws {ValueError} If there is one.
 */
export function checkCall(call: keyof typeof NAMES, options: object | undefined): void {
  checkOptions(options, NAMES[call], call);
}
