import { Schema } from "effect"
import { UserId } from "../shared/Ids.ts"
import { label, text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { Email } from "./emailAddress.ts"

/** A password to be set. At login, only the length of a password is checked. */
export const NewPassword = Schema.RedactedFromValue(text({ min: 12, max: 256 }), {
  label: "password"
}).pipe(Schema.annotateEncoded({ format: "password", examples: ["correct horse battery staple"] }))

export const Password = Schema.RedactedFromValue(text({ min: 1, max: 256 }), {
  label: "password"
}).pipe(Schema.annotateEncoded({ format: "password", examples: ["correct horse battery staple"] }))

export const User = Schema.Struct({
  id: UserId,
  email: Schema.String,
  email_verified: Schema.Boolean.annotate({
    description: "Whether a link that was sent to the email has been opened."
  }),
  pending_email: Schema.NullOr(Schema.String).annotate({
    description: "What the email will be when the link that was sent there is opened."
  }),
  name: Schema.NullOr(Schema.String),
  created_at: Timestamp
}).annotate({
  identifier: "User",
  examples: [
    {
      id: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      email: "ada@example.com",
      email_verified: true,
      pending_email: null,
      name: "Ada Lovelace",
      created_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type User = typeof User.Type

export const UserName = label(100)

export const UserUpdate = Schema.Struct({
  name: Schema.optionalKey(Schema.NullOr(UserName)),
  email: Schema.optionalKey(Email),
  current_password: Schema.optionalKey(Password)
}).annotate({
  identifier: "UserUpdate",
  description: "`current_password` is needed when the email changes."
})
