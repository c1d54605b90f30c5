import { Schema } from "effect"

const version = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** The field by which a client notices that somebody else has changed a record. */
export const versionField = {
  version: version.annotate({
    description: "Grows by one with each change. 1 for a new record.",
    examples: [1]
  })
}

export const versionInput = {
  version: Schema.optionalKey(
    version.annotate({
      description:
        "The version that you have read. If the record has another one by now, nothing is changed " +
        "and the answer is 412 `stale`.",
      examples: [1]
    })
  )
}

const entityTag = /^"([1-9]\d{0,9})"$/

/** The header with which a client says which version it has read. */
export const IfMatch = {
  "if-match": Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(entityTag, {
        expected: 'the version that you have read in quotes, such as "3"',
        toJsonSchema: () => ({ pattern: entityTag.source })
      })
    ).annotate({
      description:
        "The `ETag` of the record that you have read: its version in quotes. If the record has " +
        "another version by now, nothing is changed and the answer is 412 `stale`.",
      examples: ['"3"']
    })
  )
}
