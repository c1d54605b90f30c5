import { dateTimeTextOf, oneOf, searchOf } from "../ui/lists/search.ts"

/** The shown period, and whether only lanes with a problem are shown. */
export const timelineSearch = searchOf({
  from: dateTimeTextOf,
  to: dateTimeTextOf,
  only: oneOf(["problems"])
})
