import type { NotificationEvent } from "@scheduling/domain/notifications/NotificationEvent"
import type { AnnouncementData, subjectGone } from "../../events/index.ts"

export interface OutboxRow {
  readonly ordinal: bigint
  readonly workspace_id: string
  readonly event: NotificationEvent
  readonly subject_id: string
  readonly tags: ReadonlyArray<string>
  readonly at: Date
  readonly data: AnnouncementData & RunData & { readonly reminder?: boolean }
}

/** A row of the outbox. For a deleted subject it holds a marker in place of an event. */
export type WrittenRow = Omit<OutboxRow, "event"> & {
  readonly event: NotificationEvent | typeof subjectGone
}

/** The fields of a run that settling it writes to the outbox. */
export interface RunData {
  readonly kind?: "cron" | "delayed" | "chain"
  readonly execution_id?: string
  readonly chain_run_id?: string | null
  readonly step?: string | null
  /** As it is stored. */
  readonly error?: string | null
  readonly attempts?: number
}
