import { Schema, SchemaTransformation } from "effect"
import { UserId } from "../shared/Ids.ts"
import { label, text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"

const part = String.raw`[^\s@"(),:;<>[\]\\\p{Cc}]`
const address = new RegExp(`^${part}{1,64}@${part}+\\.${part}{2,}$`, "u")

const maxEmailLength = 254

/**
 * Trimmed and lower-cased when decoded, so that one address is one account. The length and the
 * pattern are one check, the length first: separate checks all run, and 64 KiB of dots kept the
 * pattern busy for 2 s.
 */
export const Email = Schema.Trim.pipe(Schema.decode(SchemaTransformation.toLowerCase()))
  .check(
    Schema.makeFilter((email) => email.length <= maxEmailLength && address.test(email), {
      expected: `an email address of at most ${maxEmailLength} characters`
    })
  )
  .pipe(
    Schema.annotateEncoded({
      format: "email",
      maxLength: maxEmailLength,
      examples: ["ada@example.com"]
    })
  )

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
