import { Schema } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { mask } from "../calls/credentialHeaders.ts"
import { NotificationChannelId, WorkspaceId } from "../shared/Ids.ts"
import { configOfKind } from "./channelConfigs.ts"
import { oneOf } from "../shared/oneOf.ts"
import { patchFields, withoutField } from "../shared/requests/whenAbsent.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { keyFields, keyInput } from "../shared/requests/OwnKey.ts"
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
  description: "Where a channel leads to. `GET …/notifications/kinds` says what each needs.",
  examples: ["slack"]
})
export type NotificationKind = typeof NotificationKind.Type

const Name = label(100, { description: "The name for people.", examples: ["Operations"] })

const Config = Schema.Record(Schema.String, Schema.Unknown)

const configExample = { url: "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXX" }

const definition = {
  name: Name,
  ...tagsInput,
  kind: NotificationKind,
  config: Config.annotate({
    description:
      "What the kind needs, as `GET …/notifications/kinds` describes it. Secrets in it are sealed " +
      "at rest and never shown again.",
    examples: [configExample]
  }),
  paused: withoutField(
    "When absent, a new channel is not paused, and an existing one stays as it is.",
    Schema.Boolean.annotate({
      description: "While it is true, nothing is sent to it."
    })
  )
}

const exampleDefinition = { name: "Operations", kind: "slack", config: configExample } as const

export const NotificationChannelInput = Schema.Struct({ ...definition, ...keyInput })
  .check(configOfKind)
  .annotate({ identifier: "NotificationChannelInput", examples: [exampleDefinition] })
export type NotificationChannelInput = typeof NotificationChannelInput.Type

export const NotificationChannelUpdate = Schema.Struct({
  name: Schema.optionalKey(Name),
  config: Schema.optionalKey(
    Config.annotate({
      description:
        "Fields to change. Absent fields keep their values, and null removes a field. A secret is " +
        "kept if it is absent or sent as it is shown. If the server of a channel changes, its " +
        "secrets must be sent again.",
      examples: [configExample]
    })
  ),
  paused: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True: nothing is sent to it from now on. False resumes a paused channel."
    })
  ),
  ...patchFields({ ...tagsInput, ...keyInput }),
  ...versionInput
}).annotate({
  identifier: "NotificationChannelUpdate",
  description: "Any of the fields. Absent fields keep their values.",
  examples: [{ name: "Operations at night" }]
})
export type NotificationChannelUpdate = typeof NotificationChannelUpdate.Type

const LastDelivery = Schema.Struct({
  at: Timestamp.annotate({ description: "When it was sent." }),
  delivered: Schema.Boolean.annotate({ description: "Whether the provider took it." }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why it failed. Null if it did not fail."
  })
}).annotate({ identifier: "LastDelivery", description: "The latest attempt to send something." })

export const NotificationChannel = Schema.Struct({
  id: NotificationChannelId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The name for people." }),
  ...tagsField,
  kind: NotificationKind,
  config: Config.annotate({
    description: `Secrets show as \`${mask}\` and their last four characters.`
  }),
  paused: Schema.Boolean.annotate({ description: "Whether it is paused: nothing is sent to it." }),
  paused_reason: Schema.NullOr(Schema.String).annotate({
    description:
      "Why the service paused it: it is gone, or no longer takes our messages. Null if it did not."
  }),
  confirmed: Schema.Boolean.annotate({
    description:
      "False for an email address that is no member's until the link in the mail to it is opened."
  }),
  last_delivery: Schema.NullOr(LastDelivery).annotate({
    description: "The latest attempt to send something. Null before the first."
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
    "A channel whose key is in the path. A secret may be given as it is shown, and stays then. " +
    "Fields that only answers have are ignored.",
  examples: [exampleDefinition]
})
export type NotificationChannelDefinition = typeof NotificationChannelDefinition.Type

export const ChannelQuery = {
  kind: Schema.optionalKey(repeatable(NotificationKind, "The kind")),
  ...listQuery(["-created_at", "created_at", "name", "-name"]),
  paused: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Shows channels that are paused, or those that are not."
    })
  )
}

export const NotificationChannelPage = ListPage("NotificationChannelPage", NotificationChannel)

export const TestDelivery = Schema.Struct({
  delivered: Schema.Boolean.annotate({ description: "Whether the provider took it." }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "What the provider answered with; null where there was no answer."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "What the provider said, or why it was not reached."
  }),
  duration_ms: Schema.Int.annotate({ description: "How long it took." })
}).annotate({
  identifier: "TestDelivery",
  examples: [{ delivered: false, status_code: 404, error: "no_service", duration_ms: 131 }]
})
export type TestDelivery = typeof TestDelivery.Type

export const NotificationKindInfo = Schema.Struct({
  kind: NotificationKind,
  title: Schema.String.annotate({ description: "The name for people.", examples: ["Slack"] }),
  available: Schema.Boolean.annotate({ description: "Whether this service can send by it." }),
  unavailable_reason: Schema.NullOr(Schema.String).annotate({
    description: "What the operator has to do first. Null where it is available.",
    examples: [null]
  }),
  config_schema: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "A JSON schema of `config`. Secrets are `writeOnly`."
  }),
  secret_fields: Schema.Array(Schema.String).annotate({
    description: "The fields of `config` that are sealed.",
    examples: [["url"]]
  })
}).annotate({ identifier: "NotificationKindInfo" })
export type NotificationKindInfo = typeof NotificationKindInfo.Type

export const NotificationKinds = Schema.Struct({
  data: Schema.Array(NotificationKindInfo).annotate({
    description: "All kinds. One that is unavailable says what the operator has to do."
  })
}).annotate({
  identifier: "NotificationKinds",
  description: "The kinds of channels."
})
export type NotificationKinds = typeof NotificationKinds.Type
