import { isProblem, isRecovery } from "@scheduling/domain/notifications/NotificationEvent"
import type { NotificationSettings } from "@scheduling/domain/notifications/NotificationSettings"
import type { AlertEvent } from "./OutboxEvent.ts"

/** The problem of a task that fails or a monitor that is down. */
export interface Problem {
  readonly event: AlertEvent["event"]
  /** The number of consecutive failures. */
  readonly failures: number
  readonly since: Date
  /**
   * When people were notified of the problem. Null while there are too few failures, or while the
   * problem is withheld.
   */
  readonly notified_at: Date | null
  readonly remind_at: Date | null
  /**
   * True if there are enough failures, but people are not notified because of maintenance or
   * because of a dependency's incident.
   */
  readonly withheld: boolean
  /** Until when a withheld problem waits for a dependency's incident. Null if it does not wait. */
  readonly hold_until: Date | null
}

/** An event's role in a problem. `other` events belong to no problem. */
export type NoticeType = "begun" | "ended" | "other" | "reminder"

export interface ProblemChange {
  readonly problem: Problem | undefined
  /** The kind of notification. Undefined if nobody is notified of the event. */
  readonly notice: NoticeType | undefined
}

type ProblemSettings = Pick<NotificationSettings, "task_failure_threshold" | "remind_every_seconds">

/**
 * Returns a subject's problem after an event, and whether people are notified. They are notified
 * once when the problem begins, after enough consecutive failures. They are notified when it ends
 * only if they were notified when it began. With `held`, failures are counted but nobody is
 * notified.
 */
export const problemAfter = (
  before: Problem | undefined,
  { at, data, event }: Pick<AlertEvent, "event" | "at" | "data">,
  settings: ProblemSettings,
  now: Date,
  held?: Pick<Problem, "hold_until">
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
    return { problem: undefined, notice: held === undefined ? "other" : undefined }
  }
  if (data.resumed === true && before === undefined) return { problem: before, notice: undefined }
  const failures = (before?.failures ?? 0) + (data.resumed === true ? 0 : 1)
  const isDue = !wasAnnounced && failures >= thresholdOf(event, settings)
  const isAnnounced = isDue && held === undefined
  return {
    problem: {
      event,
      failures,
      since: before?.since ?? at,
      notified_at: isAnnounced ? now : (before?.notified_at ?? null),
      remind_at: isAnnounced ? reminderTime(settings, now) : (before?.remind_at ?? null),
      withheld: isDue && !isAnnounced,
      hold_until: isDue ? (held?.hold_until ?? null) : null
    },
    notice: isAnnounced ? "begun" : undefined
  }
}

/** Returns when the next reminder of a problem is due. Null if reminders are turned off. */
export const reminderTime = (
  { remind_every_seconds: seconds }: Pick<NotificationSettings, "remind_every_seconds">,
  now: Date
): Date | null => (seconds === null ? null : new Date(now.getTime() + seconds * 1_000))

/**
 * Returns the number of failures after which people are notified. Monitors have a grace period
 * instead of a threshold.
 */
const thresholdOf = (
  event: AlertEvent["event"],
  { task_failure_threshold }: Pick<NotificationSettings, "task_failure_threshold">
) => (event === "execution.failed" || event === "chain_run.failed" ? task_failure_threshold : 1)
