import { Schema } from "effect"
import { secret } from "../shared/secret.ts"
import { UserId } from "../shared/Ids.ts"
import { label, text } from "../shared/Text.ts"
import { createdAt } from "../shared/Timestamp.ts"
import { Email } from "./emailAddress.ts"

const password = (least: number, description: string) =>
  secret(
    "password",
    { description, format: "password", examples: ["correct horse battery staple"] },
    text({ min: least, max: 256 })
  )

/**
 * A new password. Logins check only the length of a password, so that stricter rules do not lock
 * people out.
 */
export const NewPassword = password(
  12,
  "The password. Must not be the email address or a common password."
)

export const Password = password(1, "The current password of the account.")

export const User = Schema.Struct({
  id: UserId,
  email: Schema.String.annotate({ description: "The email address of the account." }),
  email_verified: Schema.Boolean.annotate({
    description: "True if the address was verified by an emailed link."
  }),
  pending_email: Schema.NullOr(Schema.String).annotate({
    description:
      "The new email address that is not verified yet. An emailed link verifies it. Null if no change is pending."
  }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the user. Null if there is none."
  }),
  has_password: Schema.Boolean.annotate({
    description:
      "False if the account has no password, because its owner signs in another way. A recent sign-in then replaces `current_password`."
  }),
  created_at: createdAt
}).annotate({
  identifier: "User",
  description: "The account of a person.",
  examples: [
    {
      id: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      email: "ada@example.com",
      email_verified: true,
      pending_email: null,
      name: "Ada Lovelace",
      has_password: true,
      created_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type User = typeof User.Type

export const UserUpdate = Schema.Struct({
  name: Schema.optionalKey(
    Schema.NullOr(
      label(100, { description: "Your name. Null removes it.", examples: ["Ada Lovelace"] })
    )
  ),
  email: Schema.optionalKey(Email),
  current_password: Schema.optionalKey(Password)
}).annotate({
  identifier: "UserUpdate",
  description: "`current_password` is required to change the email, if the account has a password."
})
