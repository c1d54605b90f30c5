import { Schema } from "effect"

type Documented = Schema.Annotations.Documentation<string> & { readonly format?: "password" }

/** A string that logs and traces replace with `name`. */
export const secret = (
  name: string,
  annotations: Documented,
  text: Schema.Codec<string> = Schema.String
) => Schema.RedactedFromValue(text, { label: name }).pipe(Schema.annotateEncoded(annotations))
