import { Schema } from "effect"

type Documented = Schema.Annotations.Documentation<string> & { readonly format?: "password" }

/** A text that logs and traces replace by `name`. */
export const secret = (
  name: string,
  annotations: Documented,
  text: Schema.Codec<string> = Schema.String
) => Schema.RedactedFromValue(text, { label: name }).pipe(Schema.annotateEncoded(annotations))
