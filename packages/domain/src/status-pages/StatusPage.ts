import { Schema } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { MonitorId, StatusPageId, WorkspaceId } from "../shared/Ids.ts"
import { Page } from "../shared/requests/Page.ts"
import { keysOfRecords, referencedKeys } from "../shared/requests/CallerChosenKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { optionalWithDefault, optionalWithNote } from "../shared/requests/optionalWithDefault.ts"
import { secret } from "../shared/secret.ts"
import { label, text } from "../shared/Text.ts"
import { createdAt, Timestamp, timestampInput, updatedAt } from "../shared/Timestamp.ts"

/** The maximum number of status pages per workspace. */
export const maxStatusPages = 20
const maxGroups = 20
const maxMonitors = 100
const maxNotices = 30
const maxUpdates = 10
const minPassword = 8

/** A status page's default values. An export omits fields that have their default value. */
export const statusPageDefaults = { published: true, notices: [] } as const
export const statusGroupDefaults = { monitor_ids: [], monitor_keys: [], tags: [] } as const

/** The last part of a status page's public address. */
export const StatusPageSlug = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9-]{1,62}$/, {
    expected: "2 to 63 lower-case letters, digits and hyphens, beginning with a letter or a digit"
  })
).annotate({
  description:
    "The last part of the page's public address, `/status/{slug}`. No other workspace can use it.",
  examples: ["acme"]
})

const name = { description: "The heading of the group.", examples: ["Website"] }
const monitorIds = { description: "Monitors to show, in this order." }
const tags = {
  description: "Also shows all monitors with one of these tags, by name.",
  examples: [["public"]]
}

const StatusPageGroupInput = Schema.Struct({
  name: label(100, name),
  monitor_ids: optionalWithDefault(
    "None",
    Schema.Array(MonitorId)
      .check(Schema.isMaxLength(maxMonitors), Schema.isUnique())
      .annotate(monitorIds)
  ),
  monitor_keys: referencedKeys("monitors", "monitor_ids", maxMonitors),
  tags: optionalWithDefault(
    "None",
    Schema.Array(label(50)).check(Schema.isMaxLength(20), Schema.isUnique()).annotate(tags)
  )
}).annotate({ identifier: "StatusPageGroupInput", description: "Monitors under one heading." })

const title = { description: "The headline.", examples: ["Slow checkout"] }
const body = {
  description: "The text of the message. Blank lines separate paragraphs.",
  examples: ["We are looking into it."]
}
const until = {
  description:
    "When planned maintenance ends. Before `posted_at`, the notice is shown as upcoming, and after `until` as past."
}

const updates = { description: "Later updates to this notice." }
const updateText = {
  description: "What has changed since. Blank lines separate paragraphs.",
  examples: ["The cause is found."]
}
const updatePostedAt = {
  description: "When the update takes effect. It is not shown before this time."
}

const StatusNoticeInput = Schema.Struct({
  title: label(200, title),
  text: text({ min: 1, max: 5_000 }).annotate(body),
  posted_at: timestampInput(
    "When the notice takes effect. A time in the future announces maintenance."
  ),
  until: optionalWithDefault("None", Schema.NullOr(timestampInput(until.description))),
  updates: optionalWithDefault(
    "None",
    Schema.Array(
      Schema.Struct({
        text: text({ min: 1, max: 5_000 }).annotate(updateText),
        posted_at: timestampInput(updatePostedAt.description)
      }).annotate({ identifier: "StatusNoticeUpdateInput", description: "A later message." })
    )
      .check(Schema.isMaxLength(maxUpdates))
      .annotate(updates)
  )
}).annotate({
  identifier: "StatusNoticeInput",
  description: "A message that you write for the readers of the page."
})

const pageTitle = { description: "The title of the page.", examples: ["Acme status"] }
const description = {
  description: "A sentence below the title.",
  examples: ["Our public services."]
}
const published = {
  description: "While false, the public address responds with 404."
}

export const StatusPage = Schema.Struct({
  id: StatusPageId,
  slug: StatusPageSlug,
  workspace_id: WorkspaceId,
  ...versionField,
  title: Schema.String.annotate(pageTitle),
  description: Schema.NullOr(Schema.String).annotate(description),
  published: Schema.Boolean.annotate(published),
  has_password: Schema.Boolean.annotate({
    description: "Whether readers need the page's password."
  }),
  groups: Schema.Array(
    Schema.Struct({
      name: Schema.String.annotate(name),
      monitor_ids: Schema.Array(MonitorId).annotate(monitorIds),
      monitor_keys: keysOfRecords("monitors"),
      tags: Schema.Array(Schema.String).annotate(tags)
    }).annotate({ identifier: "StatusPageGroup", description: "Monitors under one heading." })
  ).annotate({ description: "The monitors to show. No other monitor appears on the page." }),
  notices: Schema.Array(
    Schema.Struct({
      title: Schema.String.annotate(title),
      text: Schema.String.annotate(body),
      posted_at: Timestamp.annotate({ description: "When the notice takes effect." }),
      until: Schema.NullOr(Timestamp).annotate(until),
      updates: Schema.Array(
        Schema.Struct({
          text: Schema.String.annotate(updateText),
          posted_at: Timestamp.annotate(updatePostedAt)
        }).annotate({ identifier: "StatusNoticeUpdate", description: "A later message." })
      ).annotate(updates)
    }).annotate({
      identifier: "StatusNotice",
      description: "A message that you write for the readers of the page."
    })
  ).annotate({ description: "Messages to the readers." }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "StatusPage",
  description: "A page for readers without an account. It shows the status of monitors.",
  examples: [
    {
      id: StatusPageId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      slug: "acme",
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      version: 1,
      title: "Acme status",
      description: "Our public services.",
      published: true,
      has_password: false,
      groups: [{ name: "Website", monitor_ids: [], monitor_keys: [], tags: ["public"] }],
      notices: [],
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type StatusPage = typeof StatusPage.Type

export const StatusPageDefinition = Schema.Struct(
  putFields(
    {
      title: label(100, pageTitle),
      description: optionalWithDefault("None", Schema.NullOr(label(300, description))),
      published: optionalWithDefault("True", Schema.Boolean.annotate(published)),
      password: optionalWithNote(
        "When absent, the password is unchanged. A new page has none.",
        Schema.NullOr(
          secret(
            "status page password",
            {
              description: `The password that readers need, ${minPassword} to 200 characters. Null removes it. It is never shown again.`,
              format: "password",
              examples: ["only for our customers"]
            },
            text({ min: minPassword, max: 200 })
          )
        )
      ),
      groups: Schema.Array(StatusPageGroupInput)
        .check(Schema.isMaxLength(maxGroups))
        .annotate({ description: `The monitors to show, in at most ${maxGroups} groups.` }),
      notices: optionalWithDefault(
        "None",
        Schema.Array(StatusNoticeInput)
          .check(Schema.isMaxLength(maxNotices))
          .annotate({ description: `Messages to the readers, at most ${maxNotices}.` })
      ),
      ...versionInput
    },
    StatusPage
  )
).annotate({
  identifier: "StatusPageDefinition",
  description:
    "A status page whose slug is in the path. Absent fields get their defaults. Fields that " +
    "only responses have are ignored.",
  examples: [{ title: "Acme status", groups: [{ name: "Website", tags: ["public"] }] }]
})
export type StatusPageDefinition = typeof StatusPageDefinition.Type

export const StatusPageList = Page("StatusPageList", StatusPage)
