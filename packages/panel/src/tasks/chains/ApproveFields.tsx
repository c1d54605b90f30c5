import { useWorkspace } from "../../data/client.ts"
import { useChannelNames, useMemberNames } from "../../data/names.ts"
import * as bounds from "../../data/bounds.ts"
import { CheckboxList } from "../../ui/forms/CheckboxList.tsx"
import { Field, Input, Textarea } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import type { StepValues } from "./chainValues.ts"

/** The fields for a step that waits until somebody approves or rejects it. */
export const ApproveFields = ({ errorOf, onChange, values }: FieldGroupProps<StepValues>) => {
  const { workspaceId } = useWorkspace()
  const channels = useChannelNames(workspaceId)
  const members = useMemberNames(workspaceId)
  const text = inputPropsOf(values, onChange)
  return (
    <>
      <Field
        label="Message"
        hint="What needs approval. It can use values such as {{ input.version }}."
        error={errorOf("message")}
      >
        <Textarea rows={2} {...bounds.ApproveStepInput.message} {...text("message")} />
      </Field>
      <Field
        label="Seconds until the step fails without a decision"
        error={errorOf("timeout_seconds")}
      >
        <Input
          type="number"
          required
          {...bounds.ApproveStepInput.timeout_seconds}
          {...text("approval_seconds")}
        />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <CheckboxList
          legend="Channels that receive a message with a link"
          names={channels}
          chosen={values.channel_ids}
          error={errorOf("channel_ids")}
          onChange={(channel_ids) => onChange({ channel_ids })}
        />
        <CheckboxList
          legend="Who can decide (every editor, if nobody is chosen)"
          names={members}
          chosen={values.approvers}
          error={errorOf("approvers")}
          onChange={(approvers) => onChange({ approvers })}
        />
      </div>
    </>
  )
}
