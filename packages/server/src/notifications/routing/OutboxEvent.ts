import type {
  DeliveredEvent,
  NotificationEvent
} from "@scheduling/domain/notifications/NotificationEvent"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { AnnouncementData, subjectRemoved } from "../../events/index.ts"

/** A row of the outbox: an event that is not yet routed. */
export interface OutboxEvent {
  readonly ordinal: bigint
  readonly workspace_id: AuthorizedWorkspaceId
  readonly event: DeliveredEvent | typeof subjectRemoved
  readonly subject_id: string
  readonly tags: ReadonlyArray<string>
  readonly at: Date
  readonly data: AnnouncementData & {
    readonly reminder?: boolean
    /** True for a problem that was withheld during maintenance, which is over. */
    readonly resumed?: boolean
  }
  /** The URL of a task's callback. Such an event goes to no channel. */
  readonly callback_url: string | null
}

/** An event that the notification rules of the workspace apply to. */
export type AlertEvent = OutboxEvent & { readonly event: NotificationEvent }
