import { momentIn, searchOf } from "../ui/lists/search.ts"

/** The search parameters for the start and end of the shown period. */
export const timelineSearch = searchOf({ from: momentIn, to: momentIn })
