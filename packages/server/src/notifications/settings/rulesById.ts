import type { NotificationRuleInput } from "@scheduling/domain/notifications/NotificationSettings"
import { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import type { Subject, SubjectRow } from "./RuleSubjectsRepo.ts"
import type { StoredRule } from "./SettingsRepo.ts"

const nouns = { channel: "channel", task: "task or chain", monitor: "monitor" } as const

/** Returns the keys in the rules for each kind of record. */
export const ruleKeys = (
  rules: ReadonlyArray<NotificationRuleInput>
): Readonly<Record<Subject, ReadonlyArray<string>>> => ({
  channel: rules.flatMap(({ channel_keys }) => channel_keys ?? []),
  task: rules.flatMap(({ task_keys }) => task_keys ?? []),
  monitor: rules.flatMap(({ monitor_keys }) => monitor_keys ?? [])
})

/** Returns the rules in their stored form, with keys replaced by ids, and the validation issues. */
export const rulesById = (
  rules: ReadonlyArray<NotificationRuleInput>,
  found: ReadonlyArray<SubjectRow>
): {
  readonly rules: ReadonlyArray<StoredRule>
  readonly issues: ReadonlyArray<ValidationIssue>
} => {
  const issues: Array<ValidationIssue> = []

  /**
   * Both ids and keys may be given, as in responses. In that case the keys must not name other
   * records.
   */
  const idsOf = (
    rule: number,
    subject: Subject,
    ids: ReadonlyArray<string> | null | undefined,
    keys: ReadonlyArray<string> | null | undefined
  ): ReadonlyArray<string> | undefined => {
    const given = ids?.map((id) => id.toLowerCase())
    if (keys == null) return given
    const named = keys.flatMap((key, index) => {
      const rows = found.filter((row) => row.subject === subject && row.key === key)
      const path = ["rules", rule, `${subject}_keys`, index]
      if (rows.length === 0) {
        issues.push(
          issueAt(path, "not_found", `names no ${nouns[subject]} of this workspace: ${key}`)
        )
      } else if (given !== undefined && !rows.some(({ id }) => given.includes(id))) {
        issues.push(issueAt(path, "invalid", `is not among ${subject}_ids: give one of them`))
      }
      return rows.map(({ id }) => id)
    })
    return given ?? [...new Set(named)]
  }

  const stored = rules.map((rule, index): StoredRule => {
    const { channel_ids, channel_keys, events, monitor_ids, monitor_keys, tags } = rule
    const tasks = idsOf(index, "task", rule.task_ids, rule.task_keys)
    const monitors = idsOf(index, "monitor", monitor_ids, monitor_keys)
    return {
      events,
      channel_ids: (idsOf(index, "channel", channel_ids, channel_keys) ?? []).map((id) =>
        NotificationChannelId.make(id)
      ),
      ...(tags != null && { tags }),
      ...(tasks !== undefined && { task_ids: tasks }),
      ...(monitors !== undefined && { monitor_ids: monitors })
    }
  })
  return { rules: stored, issues }
}
