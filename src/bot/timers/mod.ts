/**
 * What a bot does at times: reminders, schedules, and the ends of questions.
 *
 * @module
 */

export { isPassing, within } from "./jobs.ts";
export { type PendingReminder, Reminders, type RemindersAPI } from "./reminders.ts";
export type { Accepted, Due, Reminder, TimerOf } from "./timer.ts";
export { readCron, Timers } from "./timers.ts";
