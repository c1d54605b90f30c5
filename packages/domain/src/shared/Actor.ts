import { Schema } from "effect"
import { oneOf } from "./oneOf.ts"

export const ActorKind = oneOf(["user", "api_key", "service_account", "plan", "system"], {
  identifier: "ActorKind",
  description:
    "`plan`: the service, to keep the workspace to its plan. `system`: the service, for another " +
    "reason, such as a task that failed too often."
})

/** Who made a change. The name is kept as it was, so a deleted user or key still has it. */
export const Actor = Schema.Struct({
  kind: ActorKind,
  id: Schema.NullOr(Schema.String).annotate({
    description: "The id of the user, API key or service account. Null for the service."
  }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "Its name at the time of the change. Null if it has none."
  })
}).annotate({
  identifier: "Actor",
  description: "Who made a change.",
  examples: [{ kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40", name: "Ada Lovelace" }]
})
export type Actor = typeof Actor.Type

/** The fields of records that people and programs edit. */
export const authorFields = {
  created_by: Schema.NullOr(Actor).annotate({
    description: "Who created it. Null if nobody is known."
  }),
  updated_by: Schema.NullOr(Actor).annotate({
    description: "Who changed its definition last. Null if nobody is known."
  })
}

export const exampleAuthors = {
  created_by: { kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40", name: "Ada Lovelace" },
  updated_by: { kind: "api_key", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43", name: "CI" }
} as const
