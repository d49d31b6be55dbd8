/**
 * Another program that reads a file of SQLite, as a backup does.
 *
 * Argument: the file.
 */

import { DatabaseSync } from "node:sqlite";

using database = new DatabaseSync(Deno.args[0] ?? "");
database.prepare("SELECT count(*) FROM sqlite_schema").get();
