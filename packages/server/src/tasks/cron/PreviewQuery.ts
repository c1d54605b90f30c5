import type { Precision } from "@scheduling/domain/cron/FiringOptions"
import type { DstOverlap, Schedule } from "@scheduling/domain/schedules/Schedule"
import type { TimeZone } from "@scheduling/domain/schedules/TimeZone"

/** The query of a preview of a schedule. */
export interface PreviewQuery {
  readonly schedule?: Schedule
  readonly every?: string
  readonly anchor?: string
  readonly timezone?: TimeZone
  readonly dst_overlap?: DstOverlap
  readonly precision?: Precision
  readonly starts_at?: string
  readonly ends_at?: string
  /** Dates, separated by commas. */
  readonly excluded_days?: string
  /** The URL of a calendar that a task of the workspace uses. */
  readonly excluded_calendar?: string
  readonly count?: number
}
