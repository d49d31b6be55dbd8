/**
 * Filters that make a sync unlike any before.
 *
 * @module
 */

import type { Filter } from "../../types/api/filter.ts";
import type { FilterID } from "../../types/ids.ts";

/**
 * A filter, spelled as in no request before: for a sync that is to show how things are now. Servers
 * answer a sync that they have answered before with the old answer, Synapse for two minutes, and
 * tell syncs apart by the filter's text.
 *
 * @param filter What to receive. Default: everything.
 * @param name What the spelling differs by. Default: a random one.
 */
export function freshFilter(filter: Filter = {}, name: string = crypto.randomUUID()): FilterID {
  const { account_data: { not_types = [], ...others } = {} } = filter;
  const account_data = { ...others, not_types: [...not_types, `greenroom.request.${name}`] }; // nothing has that type
  return JSON.stringify({ ...filter, account_data });
}
