import { Schema } from "effect"

/** The secret of a link. Its holder was sent it, by mail or by whoever made it. */
export const LinkToken = Schema.RedactedFromValue(
  Schema.String.check(Schema.isBetweenLength(1, 128)),
  { label: "token" }
).pipe(
  Schema.annotateEncoded({
    description: "The token that came by mail, or from whoever made it.",
    examples: ["Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
  })
)
