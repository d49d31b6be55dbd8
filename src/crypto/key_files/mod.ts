/**
 * Files of room keys, in Element's format.
 *
 * @module
 */

export { JsonElements, type KeyFileData, openKeyFile, readEntry, writeEntry } from "./key_file_reader.ts";
export { writeKeyFile } from "./key_file_keys.ts";
