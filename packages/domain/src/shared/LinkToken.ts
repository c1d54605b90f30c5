import { Schema } from "effect"
import { secret } from "./secret.ts"

/** The secret of a link. Its holder was sent it, by mail or by whoever made it. */
export const LinkToken = secret(
  "token",
  {
    description: "The token that came by mail, or from whoever made it.",
    examples: ["Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
  },
  Schema.String.check(Schema.isBetweenLength(1, 128))
)
