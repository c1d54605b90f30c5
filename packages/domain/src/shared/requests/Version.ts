import { Schema } from "effect"

const version = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/**
 * The version of a record, which lets a client detect that somebody else has changed the record.
 */
export const versionField = {
  version: version.annotate({
    description: "Increases by one with each change. 1 for a new record.",
    examples: [1]
  })
}

export const versionInput = {
  version: Schema.optionalKey(
    version.annotate({
      description:
        "The version that you read. If the record has changed since, nothing is written " +
        "and the response is 412 `stale`.",
      examples: [1]
    })
  )
}

const entityTag = /^"([1-9]\d{0,9})"$/

/** The header in which a client sends the version that it has read. */
export const IfMatch = {
  "if-match": Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(entityTag, {
        expected: 'the version that you have read, in quotes, such as "3"',
        toJsonSchema: () => ({ pattern: entityTag.source })
      })
    ).annotate({
      description:
        "The `ETag` of the record that you read: its version in quotes. If the record has " +
        "changed since, nothing is written and the response is 412 `stale`.",
      examples: ['"3"']
    })
  )
}
