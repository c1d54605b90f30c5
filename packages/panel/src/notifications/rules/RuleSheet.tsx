import type { NotificationChannel, NotificationRule, NotificationRuleInput } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../../data/client.ts"
import { Sheet } from "../../ui/actions/Dialog.tsx"
import { CheckboxList } from "../../ui/forms/CheckboxList.tsx"
import { Checkbox, Field, Input, Select } from "../../ui/forms/Field.tsx"
import { FormFooter } from "../../ui/forms/FormFooter.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { defaultRuleEvents, describeEvents, eventGroups } from "../events.ts"
import { escalationsOptions } from "../queries.ts"
import { TargetPicker } from "../../ui/forms/TargetPicker.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { useRuleTargets } from "../../data/targets.ts"

export const RuleSheet = ({
  channels,
  onClose,
  onSend,
  rule
}: {
  readonly rule: NotificationRule | undefined
  readonly channels: ReadonlyArray<NotificationChannel>
  readonly onSend: (rule: NotificationRuleInput) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const form = useForm({
    initial: {
      events: rule?.events ?? defaultRuleEvents,
      channel_ids: rule?.channel_ids ?? channels.slice(0, 1).map(({ id }) => id),
      escalation_id: rule?.escalation_id ?? null,
      tags: rule?.tags?.join(", ") ?? "",
      task_ids: rule?.task_ids ?? [],
      monitor_ids: rule?.monitor_ids ?? []
    },
    send: async ({ channel_ids, escalation_id, events, monitor_ids, tags, task_ids }) => {
      const tagged = parseTags(tags)
      await onSend({
        events,
        channel_ids,
        escalation_id,
        ...(tagged.length > 0 && { tags: tagged }),
        ...(task_ids.length > 0 && { task_ids }),
        ...(monitor_ids.length > 0 && { monitor_ids })
      })
      onClose()
    }
  })
  const { set, values } = form
  const toggled = <Item,>(items: ReadonlyArray<Item>, item: Item, isIn: boolean) =>
    isIn ? [...items, item] : items.filter((other) => other !== item)
  const targets = useRuleTargets(rule)
  const { workspaceId } = useWorkspace()
  const { data: policies = [], error, refetch } = useQuery(escalationsOptions(workspaceId))
  return (
    <Sheet isOpen onClose={onClose} title={rule === undefined ? "New rule" : "Edit rule"}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <CheckboxList
          legend="Channels"
          names={new Map(channels.map(({ id, name }) => [id, name]))}
          chosen={values.channel_ids}
          error={form.errorOf("channel_ids")}
          onChange={(channel_ids) => set({ channel_ids })}
        />
        <Problem error={error} retry={refetch} />
        {policies.length > 0 && (
          <Field
            label="Escalation policy"
            hint="Notifies step by step until somebody acknowledges the incident."
            error={form.errorOf("escalation_id")}
          >
            <Select
              value={values.escalation_id ?? ""}
              options={[["", "None"], ...policies.map(({ id, name }) => [id, name] as const)]}
              onChange={({ target }) =>
                set({
                  escalation_id: policies.find(({ id }) => id === target.value)?.id ?? null
                })
              }
            />
          </Field>
        )}
        {eventGroups.map(([group, events]) => (
          <fieldset key={group} className="flex flex-col gap-2">
            <legend className="mb-2 text-sm font-medium text-soft">{group}: notify when</legend>
            <div className="grid gap-2 sm:grid-cols-2">
              {events.map((event) => (
                <Checkbox
                  key={event}
                  checked={values.events.includes(event)}
                  onChange={({ target }) =>
                    set({ events: toggled(values.events, event, target.checked) })
                  }
                >
                  {describeEvents([event])}
                </Checkbox>
              ))}
            </div>
          </fieldset>
        ))}
        <Field
          label="Only for these tags"
          hint="Separate tags with commas. Leave empty for all tags."
        >
          <Input {...form.text("tags")} placeholder="billing, nightly" />
        </Field>
        <TargetPicker
          label="Only for these tasks"
          placeholder={meaningOfEmpty("tasks", values.task_ids, values.monitor_ids)}
          {...targets.tasks}
          chosen={values.task_ids}
          onChange={(task_ids) => set({ task_ids })}
        />
        <TargetPicker
          label="Only for these monitors"
          placeholder={meaningOfEmpty("monitors", values.monitor_ids, values.task_ids)}
          {...targets.monitors}
          chosen={values.monitor_ids}
          onChange={(monitor_ids) => set({ monitor_ids })}
        />
        <FormFooter form={form} action="Save rule" onCancel={onClose} />
      </form>
    </Sheet>
  )
}

/**
 * Says which records a rule applies to if none are chosen. A rule that is only for some monitors
 * applies to no tasks, and the other way round.
 */
const meaningOfEmpty = (
  noun: "tasks" | "monitors",
  chosen: ReadonlyArray<unknown>,
  others: ReadonlyArray<unknown>
) => (chosen.length > 0 ? "Search by name" : others.length > 0 ? `No ${noun}…` : `All ${noun}…`)
