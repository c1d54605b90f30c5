import type { EscalationPolicy, NotificationChannelId, UserId } from "@scheduling/sdk"
import { Plus, Trash2 } from "lucide-react"
import * as bounds from "../../data/bounds.ts"
import { useWorkspace } from "../../data/client.ts"
import { useChannelNames, useMemberNames } from "../../data/names.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Sheet } from "../../ui/actions/Dialog.tsx"
import { CheckboxList } from "../../ui/forms/CheckboxList.tsx"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { FormFooter } from "../../ui/forms/FormFooter.tsx"
import { uniqueKeyFrom } from "../../ui/forms/uniqueKeyFrom.ts"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { type FormOf, useForm } from "../../ui/forms/useForm.ts"
import { useRecordAsOpened } from "../../ui/forms/useRecordAsOpened.ts"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { refetchNotifications } from "../queries.ts"

interface Step {
  /** Identifies the step in the form when steps are added or removed. */
  readonly id: number
  readonly after_seconds: number | null
  readonly channel_ids: ReadonlyArray<string>
  readonly member_ids: ReadonlyArray<string>
}

interface Values {
  readonly name: string
  readonly steps: ReadonlyArray<Step>
  readonly repeat_count: string
  readonly repeat_after_seconds: number | null
}

const newStep = (id: number): Step => ({
  id,
  after_seconds: id === 0 ? 0 : 600,
  channel_ids: [],
  member_ids: []
})

const valuesOf = (policy: EscalationPolicy | undefined): Values => ({
  name: policy?.name ?? "",
  steps: policy?.steps.map(({ after_seconds, channel_ids, member_ids }, id) => ({
    id,
    after_seconds,
    channel_ids,
    member_ids
  })) ?? [newStep(0)],
  repeat_count: String(policy?.repeat_count ?? 0),
  repeat_after_seconds: policy?.repeat_after_seconds ?? 1_800
})

export const EscalationSheet = ({
  onClose,
  policy: current
}: {
  /** Absent for a new policy. */
  readonly policy?: EscalationPolicy
  readonly onClose: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const policy = useRecordAsOpened(current)
  const form = useForm<Values>({
    initial: valuesOf(policy),
    send: async ({ name, repeat_after_seconds, repeat_count, steps }) => {
      await api.escalations.upsert(policy?.key ?? uniqueKeyFrom(name, "policy"), {
        name,
        steps: steps.map(({ after_seconds, channel_ids, member_ids }) => ({
          after_seconds: after_seconds ?? 0,
          channel_ids: channel_ids as ReadonlyArray<NotificationChannelId>,
          member_ids: member_ids as ReadonlyArray<UserId>
        })),
        repeat_count: Number(repeat_count),
        ...(repeat_after_seconds !== null && { repeat_after_seconds }),
        ...(policy !== undefined && { version: policy.version })
      })
      showSuccessToast(`${name} was ${policy === undefined ? "created" : "changed"}`)
      await refetchNotifications(workspaceId)
      onClose()
    }
  })
  const { errorOf, set, values } = form
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={policy === undefined ? "New escalation policy" : `Edit ${policy.name}`}
    >
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Name" error={errorOf("name")}>
          <Input
            {...form.text("name")}
            {...bounds.EscalationPolicyDefinition.name}
            required
            placeholder="On call"
          />
        </Field>
        <Steps form={form} />
        <Field
          label="Repeat the steps"
          hint="How many more times, if nobody acknowledges the incident."
          error={errorOf("repeat_count")}
        >
          <Input
            type="number"
            required
            {...bounds.EscalationPolicyDefinition.repeat_count}
            {...form.text("repeat_count")}
          />
        </Field>
        {Number(values.repeat_count) > 0 && (
          <DurationField
            label="Repeat after"
            hint="Counted from the last step."
            value={values.repeat_after_seconds}
            onChange={(repeat_after_seconds) => set({ repeat_after_seconds })}
            error={errorOf("repeat_after_seconds")}
            limits={bounds.EscalationPolicyDefinition.repeat_after_seconds}
          />
        )}
        <FormFooter
          form={form}
          action={policy === undefined ? "Create escalation policy" : "Save changes"}
          needs="editor"
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

const maxSteps = 10

const Steps = ({ form: { errorAt, set, values } }: { readonly form: FormOf<Values> }) => {
  const { workspaceId } = useWorkspace()
  const channels = useChannelNames(workspaceId)
  const members = useMemberNames(workspaceId)
  const { steps } = values
  const change = (index: number, fields: Partial<Step>) =>
    set({ steps: steps.map((step, at) => (at === index ? { ...step, ...fields } : step)) })
  return (
    <>
      {steps.map((step, index) => (
        <fieldset
          key={step.id}
          className="flex flex-col gap-4 rounded-lg border border-line p-4"
          aria-label={`Step ${index + 1}`}
        >
          <div className="flex items-center justify-between">
            <span className="font-medium">Step {index + 1}</span>
            {steps.length > 1 && (
              <Button
                size="small"
                icon={<Trash2 />}
                aria-label={`Remove step ${index + 1}`}
                onClick={() => set({ steps: steps.filter((_, at) => at !== index) })}
              >
                Remove
              </Button>
            )}
          </div>
          <DurationField
            label={index === 0 ? "After the incident opened" : `After step ${index}`}
            value={step.after_seconds}
            onChange={(after_seconds) => change(index, { after_seconds })}
            error={errorAt("steps", index, "after_seconds")}
            limits={bounds.EscalationStepInput.after_seconds}
          />
          <div className="grid gap-5 sm:grid-cols-2">
            <CheckboxList
              legend="Channels"
              names={channels}
              chosen={step.channel_ids}
              error={errorAt("steps", index, "channel_ids")}
              onChange={(channel_ids) => change(index, { channel_ids })}
            />
            <CheckboxList
              legend="Members (by email)"
              names={members}
              chosen={step.member_ids}
              error={errorAt("steps", index, "member_ids")}
              onChange={(member_ids) => change(index, { member_ids })}
            />
          </div>
        </fieldset>
      ))}
      {steps.length < maxSteps && (
        <Button
          icon={<Plus />}
          onClick={() =>
            set({ steps: [...steps, newStep(Math.max(...steps.map(({ id }) => id)) + 1)] })
          }
        >
          Add a step
        </Button>
      )}
    </>
  )
}
