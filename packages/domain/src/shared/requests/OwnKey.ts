import { Schema } from "effect"
import { docs } from "../docs.ts"

/** The form of a key. Keys stand in paths, so characters with a meaning there are not allowed. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._~:@-]{0,199}$/

/** The caller-chosen key of a task, a queue, a monitor or a channel. */
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

/** The documentation of a PUT by key. `extra` is added for one kind of record. */
export const upsertDocs = (noun: string, extra?: string) =>
  docs(
    `Create or replace ${noun} by its key`,
    `Creates ${noun} with this key, or gives the one that has it exactly this definition. The ` +
      "answer is 201 if it is new, and 200 if it existed. If nothing differs, nothing changes." +
      (extra === undefined ? "" : ` ${extra}`)
  )
