import { Schema } from "effect"
import { repeatable } from "./requests/repeatable.ts"
import { whenAbsent } from "./requests/whenAbsent.ts"
import { label } from "./Text.ts"

const maxTags = 20

/** The tags by which people group records, as a request gives them. */
export const tagsInput = {
  tags: whenAbsent(
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
    description: "Labels by which records are found and grouped."
  })
}

/** The `tag` filter of lists. */
export const tagFilter = (what: string) => repeatable(label(50, { examples: ["billing"] }), what)
