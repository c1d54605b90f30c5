import { Schema } from "effect"
import { oneOf } from "./oneOf.ts"

export const ActorKind = oneOf(
  ["user", "api_key", "service_account", "channel", "plan", "system"],
  {
    identifier: "ActorKind",
    description:
      "`channel`: somebody with the link in a message to a notification channel. `plan`: the service, to enforce the workspace's plan. `system`: the service, for another " +
      "reason, such as a task that failed too often."
  }
)

/**
 * The author of a change. The name is stored with the change, so it remains after the user or key
 * is deleted.
 */
export const Actor = Schema.Struct({
  kind: ActorKind,
  id: Schema.NullOr(Schema.String).annotate({
    description: "The id of the user, API key or service account. Null for the service."
  }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The actor's name at the time of the change. Null if the actor has no name."
  })
}).annotate({
  identifier: "Actor",
  description: "Who made a change.",
  examples: [{ kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40", name: "Ada Lovelace" }]
})
export type Actor = typeof Actor.Type

/** The author fields of records that people and programs edit. */
export const authorFields = {
  created_by: Schema.NullOr(Actor).annotate({
    description: "Who created the record. Null if unknown."
  }),
  updated_by: Schema.NullOr(Actor).annotate({
    description: "Who last changed the definition. Null if unknown."
  })
}

export const exampleAuthors = {
  created_by: { kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40", name: "Ada Lovelace" },
  updated_by: { kind: "api_key", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43", name: "CI" }
} as const
