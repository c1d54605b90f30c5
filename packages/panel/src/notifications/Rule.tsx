import type { NotificationChannel, NotificationRule } from "@scheduling/sdk"
import { Pencil, Trash2 } from "lucide-react"
import { useState } from "react"
import { Confirm } from "../ui/Dialog.tsx"
import { ActionMenu, MenuItem } from "../ui/Menu.tsx"
import { Card } from "../ui/Page.tsx"
import { eventInWords, listed } from "./events.ts"
import { Only } from "../ui/role.tsx"

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
  const names = rule.channel_ids.map(
    (id) => channels.find((channel) => channel.id === id)?.name ?? "a deleted channel"
  )
  return (
    <li>
      <Card className="flex items-start gap-4 p-4 pl-5">
        <p className="min-w-0 grow break-words">
          Tell <b className="font-semibold">{listed(names)}</b> when{" "}
          {listed(rule.events.map(eventInWords))}
          {scopeOf(rule)}.
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

const plural = (items: ReadonlyArray<unknown>, noun: string) =>
  `${items.length} ${noun}${items.length === 1 ? "" : "s"}`

/** `, of what is tagged billing, and only of 2 monitors`. */
const scopeOf = ({ monitor_ids, tags, task_ids }: NotificationRule): string => {
  const only = [
    ...(task_ids === undefined ? [] : [plural(task_ids, "task")]),
    ...(monitor_ids === undefined ? [] : [plural(monitor_ids, "monitor")])
  ]
  return [
    tags === undefined ? "" : `, of what is tagged ${tags.join(" or ")}`,
    only.length === 0 ? "" : `, and only of ${listed(only)}`
  ].join("")
}
