import type { NotificationChannel, NotificationRule } from "@scheduling/sdk"
import { Pencil, Trash2 } from "lucide-react"
import { useState } from "react"
import { Confirm } from "../../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem } from "../../ui/actions/Menu.tsx"
import { Card } from "../../ui/layout/Page.tsx"
import { eventInWords, listed } from "../events.ts"
import { useTargets } from "./targets.ts"
import { Only } from "../../ui/role.tsx"

/** A rule in a sentence. */
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
  const [isRemoving, setRemoving] = useState(false)
  const scope = useScope(rule)
  const names = rule.channel_ids.map(
    (id) => channels.find((channel) => channel.id === id)?.name ?? "a deleted channel"
  )
  return (
    <li>
      <Card className="flex items-start gap-4 p-4 pl-5">
        <p className="min-w-0 grow break-words">
          Tell <b className="font-semibold">{listed(names)}</b> when{" "}
          {listed(rule.events.map(eventInWords))}
          {scope}.
        </p>
        <Only role="editor">
          <ActionMenu label={`Actions for rule ${number}`}>
            <MenuItem icon={<Pencil className="size-4" />} onSelect={onEdit}>
              Edit
            </MenuItem>
            <MenuItem
              isDanger
              icon={<Trash2 className="size-4 text-bad" />}
              onSelect={() => setRemoving(true)}
            >
              Delete
            </MenuItem>
          </ActionMenu>
        </Only>
      </Card>
      <Confirm
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title="Delete this rule?"
        action="Delete"
        onConfirm={onRemove}
      >
        {listed(names)} hears of this only if another rule says so.
      </Confirm>
    </li>
  )
}

/** So many are named; the others are counted. */
const maxNamed = 3

const named = <Id extends string>(
  ids: ReadonlyArray<Id> | undefined,
  noun: string,
  nameOf: (id: Id) => string
): ReadonlyArray<string> =>
  ids === undefined ? [] : ids.length > maxNamed ? [`${ids.length} ${noun}s`] : ids.map(nameOf)

/** `, tagged billing, only for Nightly backup`. */
const useScope = (rule: NotificationRule): string => {
  const { monitor_ids, tags, task_ids } = rule
  const { monitors, tasks } = useTargets(rule)
  const only = [
    ...named(task_ids, "task", tasks.nameOf),
    ...named(monitor_ids, "monitor", monitors.nameOf)
  ]
  return [
    tags === undefined ? "" : `, tagged ${tags.join(" or ")}`,
    only.length === 0 ? "" : `, only for ${listed(only)}`
  ].join("")
}
