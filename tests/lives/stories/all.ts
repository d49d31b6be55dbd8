/**
 * All stories.
 *
 * @module
 */

import type { Story } from "../story.ts";
import { absence } from "./absence.ts";
import { company } from "./company.ts";
import { conversation } from "./conversation.ts";
import { kit } from "./kit.ts";
import { deployment } from "./deployment.ts";

/** A bot's everyday life. */
export const stories: readonly Story[] = [...deployment, ...absence, ...company, ...conversation, ...kit];
