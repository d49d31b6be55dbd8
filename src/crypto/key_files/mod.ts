/**
 * Files of room keys, in Element's format.
 *
 * @module
 */

export { JsonElements } from "./json_elements.ts";
export { type KeyFileData, openKeyFile } from "./key_file_reader.ts";
export { writeKeyFile } from "./key_file_writer.ts";
export { readEntry, writeEntry } from "./session_entry.ts";
