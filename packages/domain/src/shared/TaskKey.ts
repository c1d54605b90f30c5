import { Schema } from "effect"

/** It stands in paths, so what a path gives a meaning to is left out. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._~:@-]{0,199}$/

/** The id that the author of a task gives it. */
export const TaskKey = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "1 to 200 letters, digits and . _ ~ : @ -, beginning with a letter or a digit",
    toJsonSchema: () => ({ minLength: 1, maxLength: 200, pattern: pattern.source })
  })
).annotate({
  description: "The key of the task: the id that its author gave it.",
  examples: ["reports:nightly"]
})

export const keyInput = {
  key: Schema.optionalKey(
    Schema.NullOr(TaskKey).annotate({
      description:
        "An id of your own, by which the task is made or replaced: 1 to 200 letters, digits and " +
        "`. _ ~ : @ -`, beginning with a letter or a digit. Unique among the tasks of its kind in " +
        "the workspace. None when absent or null."
    })
  )
}

export const keyFields = {
  key: Schema.NullOr(Schema.String).annotate({
    description: "The id that its author gave it. Null if it has none."
  })
}

/** The `key` filter of lists. */
export const keyFilter = {
  key: Schema.optionalKey(TaskKey.annotate({ description: "Shows the task that has this key." }))
}
