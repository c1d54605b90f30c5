import { Result, Schema } from "effect"
import { secretNamePattern } from "../calls/Template.ts"
import { SecretId } from "../shared/Ids.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { optionalWithDefault, optionalWithNote } from "../shared/requests/optionalWithDefault.ts"
import { secret } from "../shared/secret.ts"
import { text } from "../shared/Text.ts"
import { createdAt, Timestamp, updatedAt } from "../shared/Timestamp.ts"
import { parseAllowedHost } from "./allowedHosts.ts"

const maxValueBytes = 8 * 1024

/** The maximum number of a secret's uses in a response. */
export const maxShownUses = 20

/** A secret's name, which templates use to refer to it. */
export const SecretName = Schema.String.check(
  Schema.isPattern(secretNamePattern, {
    expected: "1 to 63 upper-case letters, digits and _, starting with a letter"
  })
).annotate({
  description: "The name by which templates refer to the secret.",
  examples: ["API_TOKEN"]
})

const encoder = new TextEncoder()

const SecretValue = text({ min: 1, max: maxValueBytes }).check(
  Schema.makeFilter(
    (value) => value.length > maxValueBytes || encoder.encode(value).length <= maxValueBytes,
    { expected: "at most 8 KiB in UTF-8", toJsonSchema: () => ({}) }
  )
)

const AllowedHost = Schema.String.check(
  Schema.makeFilter(
    (host) => {
      const parsed = parseAllowedHost(host)
      return Result.isFailure(parsed) ? parsed.failure : undefined
    },
    {
      expected: "a host",
      toJsonSchema: () => ({ minLength: 1, maxLength: 262 })
    }
  )
)

const description = text({ min: 0, max: 500 })

/** The definition of a secret whose name is in the path. */
export const SecretDefinition = Schema.Struct({
  value: optionalWithNote(
    "When absent, the value is unchanged. Required for a new secret, and when `allowed_hosts` " +
      "adds a host to which the secret could not be sent before.",
    secret(
      "secret",
      {
        description: "The value, at most 8 KiB. It is never shown again.",
        format: "password",
        examples: ["3f9c8d2e"]
      },
      SecretValue
    )
  ),
  allowed_hosts: Schema.Array(AllowedHost)
    .check(Schema.isBetweenLength(1, 20))
    .annotate({
      description:
        "The hosts to which the secret may be sent: `api.example.com`, or `*.example.com` for all hosts " +
        "below a domain. Each means HTTPS on its default port; write another port as " +
        "`api.example.com:8443`, and HTTP as `http://jobs.internal:8080`.",
      examples: [["api.example.com"]]
    }),
  description: optionalWithDefault(
    "None",
    Schema.NullOr(description).annotate({
      description: "The purpose of the secret.",
      examples: ["The token of the billing robot"]
    })
  )
}).annotate({ identifier: "SecretDefinition" })
export type SecretDefinition = typeof SecretDefinition.Type

const SecretUse = Schema.Struct({
  kind: oneOf(["cron_task", "delayed_task", "chain", "notification_channel", "http_monitor"], {
    identifier: "SecretUserKind",
    description: "The kind of record that uses the secret."
  }),
  id: Schema.String.annotate({
    description: "The id of the record.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
  }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the record. Null if it has none.",
    examples: ["Nightly report"]
  })
}).annotate({ identifier: "SecretUse" })
export type SecretUse = typeof SecretUse.Type

/** A secret without its value. No response ever contains the value. */
export const Secret = Schema.Struct({
  id: SecretId,
  name: SecretName,
  description: Schema.NullOr(Schema.String).annotate({
    description: "The purpose of the secret. Null if there is none."
  }),
  allowed_hosts: Schema.Array(Schema.String).annotate({
    description: "The hosts to which the secret may be sent."
  }),
  used_by: Schema.Array(SecretUse).annotate({
    description: `The first ${maxShownUses} records that use the secret: tasks that may still run, chains, HTTP monitors and notification channels.`
  }),
  value_set_at: Timestamp.annotate({ description: "When the value was last changed." }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "Secret",
  examples: [
    {
      id: SecretId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      name: "API_TOKEN",
      description: "The token of the billing robot",
      allowed_hosts: ["api.example.com"],
      used_by: [
        {
          kind: "cron_task",
          id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
          name: "Nightly report"
        }
      ],
      value_set_at: "2026-01-31T09:30:00.000Z",
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type Secret = typeof Secret.Type

export const SecretPage = Page("SecretPage", Secret)
