import { oneOf, searchOf } from "../ui/lists/search.ts"

export const spans = [
  ["day", "24 hours"],
  ["week", "7 days"]
] as const

export type Span = (typeof spans)[number][0]

export const forecastSearch = searchOf({ span: oneOf(["week"]) })
