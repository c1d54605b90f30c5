import { Schema } from "effect"
import { secret } from "./secret.ts"

/** The secret token in a link that was emailed or handed out by its creator. */
export const LinkToken = secret(
  "token",
  {
    description: "The token from the mail, or from the person who created the link.",
    examples: ["Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
  },
  Schema.String.check(Schema.isBetweenLength(1, 128))
)
