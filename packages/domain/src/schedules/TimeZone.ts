import { canonicalZone, zoneProblem } from "@scheduling/schedules/canonicalZone"
import { Schema, SchemaTransformation } from "effect"

/** The name of an IANA time zone, with the letter case of the IANA database. */
export const TimeZone = Schema.String.annotate({
  description: "An IANA time zone name.",
  examples: ["Europe/Berlin", "UTC"]
}).pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter(zoneProblem)).pipe(Schema.brand("TimeZone")),
    SchemaTransformation.transform({
      decode: (name) => canonicalZone(name) ?? name,
      encode: (name) => name
    })
  )
)
export type TimeZone = typeof TimeZone.Type
