import type {
  DeliveredEvent,
  NotificationEvent
} from "@scheduling/domain/notifications/NotificationEvent"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { AnnouncementData, subjectRemoved } from "../../events/index.ts"

/** A row of the outbox: something that happened and is not routed yet. */
export interface OutboxEvent {
  readonly ordinal: bigint
  readonly workspace_id: AuthorizedWorkspaceId
  readonly event: DeliveredEvent | typeof subjectRemoved
  readonly subject_id: string
  readonly tags: ReadonlyArray<string>
  readonly at: Date
  readonly data: AnnouncementData & RunData & { readonly reminder?: boolean }
  /** Set for the callback of a task. The event goes to this URL and to no channel. */
  readonly callback_url: string | null
}

/** An event that the rules of the workspace are about. */
export type AlertEvent = OutboxEvent & { readonly event: NotificationEvent }

/** The fields of a run that settling it writes to the outbox. */
export interface RunData {
  readonly kind?: "cron" | "delayed" | "chain"
  readonly execution_id?: string
  readonly chain_run_id?: string | null
  readonly step?: string | null
  /** As it is stored with the execution. */
  readonly error?: string | null
  readonly attempts?: number
}
