/**
 * Another program that looks into a file of SQLite, as a backup does, or who is curious.
 *
 * Argument: the file.
 */

import { DatabaseSync } from "node:sqlite";

using database = new DatabaseSync(Deno.args[0] ?? "");
database.prepare("SELECT count(*) FROM sqlite_schema").get();
