import type { NotificationRuleInput } from "@scheduling/domain/notifications/NotificationSettings"
import { EscalationPolicyId, type NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { findRecordIds } from "../../incidents/index.ts"
import type { RuleSubjectKind, RuleSubjectRow } from "./RuleSubjectsRepo.ts"
import type { StoredRule } from "./SettingsRepo.ts"

const nouns = {
  channel: "channel",
  task: "task or chain",
  monitor: "monitor"
} as const

/** Returns the keys that the rules contain, by kind of record. */
export const ruleKeys = (
  rules: ReadonlyArray<NotificationRuleInput>
): Readonly<Record<RuleSubjectKind, ReadonlyArray<string>>> => ({
  channel: rules.flatMap(({ channel_keys }) => channel_keys ?? []),
  escalation: rules.flatMap(({ escalation_key }) => escalation_key ?? []),
  task: rules.flatMap(({ task_keys }) => task_keys ?? []),
  monitor: rules.flatMap(({ monitor_keys }) => monitor_keys ?? [])
})

/**
 * Converts the rules to their stored form, with keys replaced by ids. Also returns the validation
 * issues.
 */
export const rulesWithIds = (
  rules: ReadonlyArray<NotificationRuleInput>,
  found: ReadonlyArray<RuleSubjectRow>
): {
  readonly rules: ReadonlyArray<StoredRule>
  readonly issues: ReadonlyArray<ValidationIssue>
} => {
  const issues: Array<ValidationIssue> = []

  const idsOf = <Id extends string>(
    rule: number,
    subject: Exclude<RuleSubjectKind, "escalation">,
    ids: ReadonlyArray<string> | null | undefined,
    keys: ReadonlyArray<string> | null | undefined
  ): ReadonlyArray<Id> | undefined => {
    if (ids == null && keys == null) return undefined
    const rows = found.filter((row) => row.subject === subject)
    const named = { field: subject, noun: nouns[subject], ids, keys }
    const selected = findRecordIds<Id>(named, rows, ["rules", rule])
    issues.push(...selected.issues)
    return selected.ids
  }

  const escalationOf = (
    rule: number,
    { escalation_id, escalation_key }: NotificationRuleInput
  ): EscalationPolicyId | undefined => {
    if (escalation_key == null) return escalation_id ?? undefined
    const row = found.find(({ key, subject }) => subject === "escalation" && key === escalation_key)
    const at = ["rules", rule, "escalation_key"]
    if (row === undefined) {
      issues.push(
        issueAt(
          at,
          "not_found",
          `matches no escalation policy in this workspace: ${escalation_key}`
        )
      )
    } else if (escalation_id != null && row.id !== escalation_id) {
      issues.push(
        issueAt(
          at,
          "invalid",
          "is not the key of the policy in escalation_id: send only one of the two fields"
        )
      )
    }
    return row === undefined ? undefined : EscalationPolicyId.make(row.id)
  }

  const stored = rules.map((rule, index): StoredRule => {
    const { channel_ids, channel_keys, events, monitor_ids, monitor_keys, tags } = rule
    const tasks = idsOf(index, "task", rule.task_ids, rule.task_keys)
    const monitors = idsOf(index, "monitor", monitor_ids, monitor_keys)
    const escalation = escalationOf(index, rule)
    return {
      events,
      channel_ids: idsOf<NotificationChannelId>(index, "channel", channel_ids, channel_keys) ?? [],
      ...(escalation !== undefined && { escalation_id: escalation }),
      ...(tags != null && { tags }),
      ...(tasks !== undefined && { task_ids: tasks }),
      ...(monitors !== undefined && { monitor_ids: monitors })
    }
  })
  return { rules: stored, issues }
}
