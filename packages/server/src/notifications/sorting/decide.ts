import {
  isRecovery,
  isTrouble,
  type NotificationEvent
} from "@scheduling/domain/notifications/NotificationEvent"
import type {
  NotificationRule,
  NotificationSettings
} from "@scheduling/domain/notifications/NotificationSettings"

/** What happened, as it comes out of the outbox. */
export interface Happening {
  readonly workspace_id: string
  readonly event: NotificationEvent
  readonly subject_id: string
  readonly tags: ReadonlyArray<string>
  readonly at: Date
  /** It runs once, and so cannot recover. */
  readonly once: boolean
  /** It was told before, and is to be told again. */
  readonly reminder: boolean
}

/** Something that fails or is down. */
export interface Trouble {
  readonly event: NotificationEvent
  readonly failures: number
  readonly since: Date
  /** Null: not often enough in a row to be told of. */
  readonly told_at: Date | null
  readonly remind_at: Date | null
}

export type Telling = "begun" | "ended" | "other" | "reminder"

export interface Decision {
  readonly trouble: Trouble | undefined
  /** Nothing where nobody is to hear of it. */
  readonly telling: Telling | undefined
}

/**
 * What a happening makes of the trouble that its subject is in, and whether it is told. A beginning is
 * told once, when it has happened often enough in a row; an end only where the beginning was.
 */
export const decide = (
  before: Trouble | undefined,
  happening: Happening,
  settings: Pick<NotificationSettings, "task_failure_threshold" | "remind_every_seconds">,
  now: Date
): Decision => {
  const { event } = happening
  if (happening.reminder) {
    return { trouble: before, telling: before?.told_at == null ? undefined : "reminder" }
  }
  if (isRecovery(event)) {
    return { trouble: undefined, telling: before?.told_at == null ? undefined : "ended" }
  }
  if (!isTrouble(event)) return { trouble: before, telling: "other" }
  if (happening.once) return { trouble: undefined, telling: "other" }
  const failures = (before?.failures ?? 0) + 1
  const since = before?.since ?? happening.at
  const told_at = before?.told_at ?? null
  const isDue = told_at === null && failures >= thresholdOf(event, settings)
  return {
    trouble: {
      event,
      failures,
      since,
      told_at: isDue ? now : told_at,
      remind_at: isDue ? remindAt(settings, now) : (before?.remind_at ?? null)
    },
    telling: isDue ? "begun" : undefined
  }
}

export const remindAt = (
  { remind_every_seconds: seconds }: Pick<NotificationSettings, "remind_every_seconds">,
  now: Date
): Date | null => (seconds === null ? null : new Date(now.getTime() + seconds * 1_000))

/** The channels that rules name for it, each once. */
export const channelsFor = (
  rules: ReadonlyArray<NotificationRule>,
  happening: Pick<Happening, "event" | "subject_id" | "tags">
): ReadonlySet<string> =>
  new Set(
    rules.filter((rule) => isAbout(rule, happening)).flatMap(({ channel_ids }) => channel_ids)
  )

// ---------------------------------------------------------------------------

/** Only tasks and chains have a threshold: a monitor has a grace of its own. */
const thresholdOf = (
  event: NotificationEvent,
  { task_failure_threshold }: Pick<NotificationSettings, "task_failure_threshold">
) => (event === "task.failed" || event === "chain.failed" ? task_failure_threshold : 1)

const isAbout = (
  { events, monitor_ids, tags, task_ids }: NotificationRule,
  happening: Pick<Happening, "event" | "subject_id" | "tags">
): boolean => {
  if (!events.includes(happening.event)) return false
  if (tags !== undefined && !tags.some((tag) => happening.tags.includes(tag))) return false
  if (task_ids === undefined && monitor_ids === undefined) return true
  const named: ReadonlyArray<string> = [...(task_ids ?? []), ...(monitor_ids ?? [])]
  return named.includes(happening.subject_id)
}
