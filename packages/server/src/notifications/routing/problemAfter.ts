import { isProblem, isRecovery } from "@scheduling/domain/notifications/NotificationEvent"
import type { NotificationSettings } from "@scheduling/domain/notifications/NotificationSettings"
import type { AlertEvent } from "./OutboxEvent.ts"

/** The problem of a failing task or a monitor that is down. */
export interface Problem {
  readonly event: AlertEvent["event"]
  /** The number of consecutive failures. */
  readonly failures: number
  readonly since: Date
  /** Null until there are enough failures for a notification. */
  readonly notified_at: Date | null
  readonly remind_at: Date | null
  /** True if there are enough failures, but maintenance keeps people from being notified. */
  readonly withheld: boolean
}

/** The role of an event in a problem. `other` events belong to no problem. */
export type NoticeType = "begun" | "ended" | "other" | "reminder"

export interface ProblemChange {
  readonly problem: Problem | undefined
  /** Undefined if nobody is notified of the event. */
  readonly notice: NoticeType | undefined
}

type ProblemSettings = Pick<NotificationSettings, "task_failure_threshold" | "remind_every_seconds">

/**
 * Returns the problem of a subject after an event, and whether to send a notification. The
 * beginning is announced once, after enough consecutive failures. The end is announced only if the
 * beginning was. During maintenance (`isHeld`), failures are only counted.
 */
export const problemAfter = (
  before: Problem | undefined,
  { at, data, event }: Pick<AlertEvent, "event" | "at" | "data">,
  settings: ProblemSettings,
  now: Date,
  isHeld = false
): ProblemChange => {
  const wasAnnounced = before !== undefined && before.notified_at !== null
  if (data.reminder === true) {
    return { problem: before, notice: wasAnnounced ? "reminder" : undefined }
  }
  if (isRecovery(event)) {
    return { problem: undefined, notice: wasAnnounced ? "ended" : undefined }
  }
  if (!isProblem(event)) return { problem: before, notice: "other" }
  // A delayed task runs once, so it cannot recover.
  if (data.run?.kind === "delayed") {
    return { problem: undefined, notice: isHeld ? undefined : "other" }
  }
  if (data.resumed === true && before === undefined) return { problem: before, notice: undefined }
  const failures = (before?.failures ?? 0) + (data.resumed === true ? 0 : 1)
  const isDue = !wasAnnounced && failures >= thresholdOf(event, settings)
  const isAnnounced = isDue && !isHeld
  return {
    problem: {
      event,
      failures,
      since: before?.since ?? at,
      notified_at: isAnnounced ? now : (before?.notified_at ?? null),
      remind_at: isAnnounced ? remindAt(settings, now) : (before?.remind_at ?? null),
      withheld: isDue && isHeld
    },
    notice: isAnnounced ? "begun" : undefined
  }
}

export const remindAt = (
  { remind_every_seconds: seconds }: Pick<NotificationSettings, "remind_every_seconds">,
  now: Date
): Date | null => (seconds === null ? null : new Date(now.getTime() + seconds * 1_000))

/** Monitors have a grace period instead of a threshold. */
const thresholdOf = (
  event: AlertEvent["event"],
  { task_failure_threshold }: Pick<NotificationSettings, "task_failure_threshold">
) => (event === "execution.failed" || event === "chain_run.failed" ? task_failure_threshold : 1)
