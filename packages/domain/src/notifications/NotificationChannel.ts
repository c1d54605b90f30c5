import { Schema } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { mask } from "../calls/credentialHeaders.ts"
import { NotificationChannelId, WorkspaceId } from "../shared/Ids.ts"
import { configDocumentation } from "./channelConfigs.ts"
import { oneOf } from "../shared/oneOf.ts"
import { patchFields, optionalWithNote } from "../shared/requests/optionalWithDefault.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { keyFields, keyInput } from "../shared/requests/CallerChosenKey.ts"
import { ListPage, listQuery } from "../shared/requests/ListQuery.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { label } from "../shared/Text.ts"
import { Timestamp, createdAt, updatedAt } from "../shared/Timestamp.ts"

export const notificationKinds = [
  "email",
  "webhook",
  "slack",
  "discord",
  "teams",
  "google_chat",
  "mattermost",
  "telegram",
  "pagerduty",
  "opsgenie",
  "jira_service_management",
  "ntfy",
  "gotify",
  "pushover",
  "twilio_sms",
  "zulip",
  "matrix"
] as const

export const NotificationKind = oneOf(notificationKinds, {
  identifier: "NotificationKind",
  description: "The kind of a channel. `GET …/notifications/kinds` lists the fields of each kind.",
  examples: ["slack"]
})
export type NotificationKind = typeof NotificationKind.Type

const Name = label(100, { description: "The display name.", examples: ["Operations"] })

const Config = Schema.Record(Schema.String, Schema.Unknown)

const configExample = { url: "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXX" }

const definition = {
  name: Name,
  ...tagsInput,
  kind: NotificationKind,
  config: Config.annotate({
    description:
      "The fields of the kind, as in `GET …/notifications/kinds`. Secrets are encrypted " +
      "at rest and never shown again.",
    examples: [configExample]
  }),
  paused: optionalWithNote(
    "Defaults to false for a new channel. An existing channel is unchanged.",
    Schema.Boolean.annotate({
      description: "While true, nothing is sent to the channel."
    })
  )
}

const exampleDefinition = { name: "Operations", kind: "slack", config: configExample } as const

export const NotificationChannelInput = Schema.Struct({ ...definition, ...keyInput })
  .check(configDocumentation)
  .annotate({ identifier: "NotificationChannelInput", examples: [exampleDefinition] })
export type NotificationChannelInput = typeof NotificationChannelInput.Type

export const NotificationChannelUpdate = Schema.Struct({
  name: Schema.optionalKey(Name),
  config: Schema.optionalKey(
    Config.annotate({
      description:
        "Fields to change. Absent fields are unchanged, and null removes a field. A secret is " +
        "unchanged if it is absent or sent masked. If the server of a channel changes, its " +
        "secrets must be sent again.",
      examples: [configExample]
    })
  ),
  paused: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True pauses the channel: nothing is sent to it. False resumes it."
    })
  ),
  ...patchFields({ ...tagsInput, ...keyInput }),
  ...versionInput
}).annotate({
  identifier: "NotificationChannelUpdate",
  description: "The fields to change. Absent fields keep their values.",
  examples: [{ name: "Operations at night" }]
})
export type NotificationChannelUpdate = typeof NotificationChannelUpdate.Type

const LastDelivery = Schema.Struct({
  at: Timestamp.annotate({ description: "When the message was sent." }),
  delivered: Schema.Boolean.annotate({ description: "Whether the provider accepted the message." }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why the attempt failed. Null if it did not fail."
  })
}).annotate({ identifier: "LastDelivery", description: "The latest attempt to send a message." })

export const NotificationChannel = Schema.Struct({
  id: NotificationChannelId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The display name." }),
  ...tagsField,
  kind: NotificationKind,
  config: Config.annotate({
    description: `The fields of the kind. Secrets are shown as \`${mask}\` and their last four characters.`
  }),
  paused: Schema.Boolean.annotate({
    description: "Whether the channel is paused. While paused, nothing is sent to it."
  }),
  paused_reason: Schema.NullOr(Schema.String).annotate({
    description:
      "Why the service paused the channel: it no longer exists, or rejects messages. Null if it did not."
  }),
  confirmed: Schema.Boolean.annotate({
    description:
      "False for an email address of a non-member until the link in the confirmation email is opened."
  }),
  last_delivery: Schema.NullOr(LastDelivery).annotate({
    description: "The latest attempt to send a message. Null before the first."
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "NotificationChannel",
  examples: [
    {
      id: NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      key: "operations",
      version: 1,
      name: "Operations",
      tags: [],
      kind: "slack",
      config: { url: `${mask}XXXX` },
      paused: false,
      paused_reason: null,
      confirmed: true,
      last_delivery: { at: "2026-01-31T09:30:00.000Z", delivered: true, error: null },
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type NotificationChannel = typeof NotificationChannel.Type

export const NotificationChannelDefinition = Schema.Struct(
  putFields({ ...definition, ...versionInput }, NotificationChannel)
).annotate({
  identifier: "NotificationChannelDefinition",
  description:
    "A channel whose key is in the path. A masked secret is unchanged. " +
    "Fields that only responses have are ignored.",
  examples: [exampleDefinition]
})
export type NotificationChannelDefinition = typeof NotificationChannelDefinition.Type

export const ChannelQuery = {
  kind: Schema.optionalKey(repeatable(NotificationKind, "The kind")),
  ...listQuery(["-created_at", "created_at", "name", "-name"]),
  paused: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Returns only channels that are paused, or only channels that are not."
    })
  )
}

export const NotificationChannelPage = ListPage("NotificationChannelPage", NotificationChannel)

export const TestDelivery = Schema.Struct({
  delivered: Schema.Boolean.annotate({ description: "Whether the provider accepted the message." }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code of the provider's response. Null if there was no response."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "The provider's error message, or why it could not be reached."
  }),
  duration_ms: Schema.Int.annotate({ description: "The duration in milliseconds." })
}).annotate({
  identifier: "TestDelivery",
  examples: [{ delivered: false, status_code: 404, error: "no_service", duration_ms: 131 }]
})
export type TestDelivery = typeof TestDelivery.Type

export const NotificationKindInfo = Schema.Struct({
  kind: NotificationKind,
  title: Schema.String.annotate({ description: "The display name.", examples: ["Slack"] }),
  available: Schema.Boolean.annotate({
    description: "Whether this service can send to channels of this kind."
  }),
  unavailable_reason: Schema.NullOr(Schema.String).annotate({
    description: "What the operator must do first. Null if available.",
    examples: [null]
  }),
  config_schema: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "A JSON schema of `config`. Secrets are `writeOnly`."
  }),
  secret_fields: Schema.Array(Schema.String).annotate({
    description: "The fields of `config` that are encrypted.",
    examples: [["url"]]
  })
}).annotate({ identifier: "NotificationKindInfo" })
export type NotificationKindInfo = typeof NotificationKindInfo.Type

export const NotificationKinds = Schema.Struct({
  data: Schema.Array(NotificationKindInfo).annotate({
    description: "All kinds. An unavailable kind says what the operator must do."
  })
}).annotate({
  identifier: "NotificationKinds",
  description: "The kinds of channels."
})
export type NotificationKinds = typeof NotificationKinds.Type
