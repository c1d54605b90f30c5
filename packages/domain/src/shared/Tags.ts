import { Schema } from "effect"
import { repeatable } from "./requests/repeatable.ts"
import { optionalWithDefault } from "./requests/optionalWithDefault.ts"
import { label } from "./Text.ts"

const maxTags = 20

/** The tags of a record in a request. */
export const tagsInput = {
  tags: optionalWithDefault(
    "None",
    Schema.Array(label(50, { examples: ["billing"] }))
      .check(Schema.isMaxLength(maxTags), Schema.isUnique())
      .annotate({
        description: "At most 20, each of 1 to 50 characters.",
        examples: [["billing", "nightly"]]
      })
  )
}

export const tagsField = {
  tags: Schema.Array(Schema.String).annotate({
    description: "Labels for filtering and grouping."
  })
}

/** The `tag` filter of list endpoints. */
export const tagFilter = (what: string) => repeatable(label(50, { examples: ["billing"] }), what)
