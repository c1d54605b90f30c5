import { Schema, SchemaTransformation } from "effect"

/**
 * A text that clients may write in several ways, of which the service stores one. TypeScript clients
 * may use all of them too, so both sides of the schema accept the same texts.
 */
export const keptAs = (
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
