import { Schema, SchemaTransformation } from "effect"

/**
 * A string that clients may write in several forms, one of which the service stores. TypeScript
 * clients may use all forms too, so both sides of the schema accept the same strings.
 */
export const normalizedString = (
  given: Schema.String,
  keep: (text: string) => string,
  annotations: Schema.Annotations.Documentation<string>
) =>
  given.pipe(
    Schema.decodeTo(
      given,
      SchemaTransformation.transform({ decode: keep, encode: (text) => text })
    ),
    Schema.annotateEncoded(annotations)
  )
