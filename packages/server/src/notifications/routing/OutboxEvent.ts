import type {
  DeliveredEvent,
  NotificationEvent
} from "@scheduling/domain/notifications/NotificationEvent"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { FailedStep, OutboxEventData, subjectRemoved } from "../../events/index.ts"

/** A step of an escalation policy that is due for a problem. */
export interface DueStep {
  readonly policy_id: string
  readonly step: number
  readonly round: number
  /** When the step was due. */
  readonly at: string
}

/** A row of the outbox: an event that is not routed yet. */
export interface OutboxEvent {
  readonly ordinal: bigint
  readonly workspace_id: AuthorizedWorkspaceId
  readonly event: DeliveredEvent | typeof subjectRemoved
  readonly subject_id: string
  readonly tags: ReadonlyArray<string>
  readonly at: Date
  readonly data: OutboxEventData & {
    readonly reminder?: boolean
    /** True if the event repeats a withheld problem, which is now routed again. */
    readonly resumed?: boolean
    /** The step of an escalation policy that is due. An event with a step is also a `reminder`. */
    readonly escalation?: DueStep
    /** Added by the router if the chain run continued after this step failed. */
    readonly failed_step?: FailedStep
  }
  /** The URL of a task's callback. An event with a URL is sent only to it, and to no channel. */
  readonly callback_url: string | null
}

/** An event that the workspace's notification rules apply to. */
export type AlertEvent = OutboxEvent & { readonly event: NotificationEvent }
