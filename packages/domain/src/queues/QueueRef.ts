import { Schema } from "effect"
import { QueueId } from "../shared/Ids.ts"

export const queueDefaults = { queue_id: null } as const

/** The field by which a task says in which queue its runs wait for their turn. */
export const queueInput = {
  queue_id: Schema.optionalKey(
    Schema.NullOr(QueueId).annotate({
      description:
        "A queue of the workspace, which limits how many runs go on at once and how often one begins. Each step of a chain counts. None when absent or null.",
      examples: [null]
    })
  )
}

export const queueFields = {
  queue_id: Schema.NullOr(QueueId).annotate({ examples: [null] })
}
