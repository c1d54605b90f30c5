import type { NotificationChannel, NotificationRule } from "@scheduling/sdk"
import { RowMenu } from "../../ui/actions/RowMenu.tsx"
import { Card } from "../../ui/layout/Page.tsx"
import { describeEvents, joinNames } from "../events.ts"
import { useRuleTargets } from "../../data/targets.ts"

export const Rule = ({
  channels,
  number,
  onEdit,
  onRemove,
  rule
}: {
  readonly rule: NotificationRule
  readonly number: number
  readonly channels: ReadonlyArray<NotificationChannel>
  readonly onEdit: () => void
  readonly onRemove: () => Promise<unknown>
}) => {
  const scope = useScope(rule)
  const names = [
    ...rule.channel_ids.map(
      (id) => channels.find((channel) => channel.id === id)?.name ?? "a deleted channel"
    ),
    ...(rule.escalation_key === null ? [] : [`the escalation policy ${rule.escalation_key}`])
  ]
  return (
    <li>
      <Card className="flex items-center gap-4 py-2.5 pr-4 pl-5">
        <p className="min-w-0 grow break-words">
          Notify <b className="font-semibold">{joinNames(names)}</b> when{" "}
          {describeEvents(rule.events, rule.tags ?? [])}
          {scope}.
        </p>
        <RowMenu
          name={`rule ${number}`}
          role="editor"
          onEdit={onEdit}
          onDelete={onRemove}
          warning={`${joinNames(names)} will receive these events only if another rule sends them.`}
        />
      </Card>
    </li>
  )
}

/**
 * The longest list whose names are shown. For a longer list, only the number of records is shown.
 */
const maxNamed = 3

const named = <Id extends string>(
  ids: ReadonlyArray<Id> | null,
  noun: string,
  nameOf: (id: Id) => string
): ReadonlyArray<string> =>
  ids === null ? [] : ids.length > maxNamed ? [`${ids.length} ${noun}s`] : ids.map(nameOf)

/** Describes the records to which a rule is limited: `, only for Nightly backup`. */
const useScope = (rule: NotificationRule): string => {
  const { monitor_ids, task_ids } = rule
  const { monitors, tasks } = useRuleTargets(rule)
  const only = [
    ...named(task_ids, "task", tasks.nameOf),
    ...named(monitor_ids, "monitor", monitors.nameOf)
  ]
  return only.length === 0 ? "" : `, only for ${joinNames(only)}`
}
