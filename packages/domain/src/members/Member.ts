import { Schema } from "effect"
import { UserId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { Role } from "./Role.ts"

const example = {
  id: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  email: "ada@example.com",
  name: "Ada Lovelace",
  role: "editor",
  joined_at: "2026-01-31T09:30:00.000Z"
} as const

export const Member = Schema.Struct({
  id: UserId.annotate({ description: "The id of the user." }),
  email: Schema.String.annotate({ description: "The email address of the user." }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the user. Null if there is none."
  }),
  role: Role,
  joined_at: Timestamp.annotate({ description: "When the user became a member." })
}).annotate({ identifier: "Member", examples: [example] })
export type Member = typeof Member.Type

export const MemberUpdate = Schema.Struct({ role: Role }).annotate({
  identifier: "MemberUpdate",
  examples: [{ role: "editor" }]
})
