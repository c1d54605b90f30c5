import { dateTimeTextOf, searchOf } from "../ui/lists/search.ts"

/** The search parameters for the start and end of the shown period. */
export const timelineSearch = searchOf({ from: dateTimeTextOf, to: dateTimeTextOf })
