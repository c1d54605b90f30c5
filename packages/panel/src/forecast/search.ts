import { oneOf, searchOf } from "../ui/lists/search.ts"

export const forecastSpans = [
  ["day", "24 hours"],
  ["week", "7 days"]
] as const

export type ForecastSpan = (typeof forecastSpans)[number][0]

export const forecastSearch = searchOf({ span: oneOf(["week"]) })
