import { Schema } from "effect"
import { docs } from "../docs.ts"

/** It stands in paths, so what a path gives a meaning to is left out. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._~:@-]{0,199}$/

/** The id that its author gives a task, a monitor or a channel. */
export const OwnKey = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "1 to 200 letters, digits and . _ ~ : @ -, beginning with a letter or a digit",
    toJsonSchema: () => ({ minLength: 1, maxLength: 200, pattern: pattern.source })
  })
).annotate({
  description: "Your own id for it.",
  examples: ["reports:nightly"]
})

export const keyInput = {
  key: Schema.optionalKey(
    Schema.NullOr(OwnKey).annotate({
      description:
        "Your own id for it, by which it can be created or replaced: 1 to 200 letters, digits and " +
        "`. _ ~ : @ -`, beginning with a letter or a digit. Unique in the workspace, among those " +
        "of its kind. None when absent or null."
    })
  )
}

export const keyFields = {
  key: Schema.NullOr(Schema.String).annotate({
    description: "Your own id for it. Null if it has none."
  })
}

/** The `key` filter of lists. */
export const keyFilter = {
  key: Schema.optionalKey(OwnKey.annotate({ description: "Shows the one that has this key." }))
}

/** What every PUT by a key says of itself. `extra` is what is special about the noun. */
export const upsertDocs = (noun: string, extra?: string) =>
  docs(
    `Create or replace ${noun} by its key`,
    `Creates ${noun} with this key, or gives the one that has it exactly this definition. The ` +
      "answer is 201 if it is new, and 200 if it existed. If nothing differs, nothing changes." +
      (extra === undefined ? "" : ` ${extra}`)
  )
