import * as bounds from "../data/bounds.ts"
import { Checkbox, RadioButtons, Field, FieldError, Input } from "../ui/forms/Field.tsx"
import type { FieldGroupProps } from "../ui/forms/inputProps.ts"
import type { LimitValues } from "./limitValues.ts"
import { QueueField } from "./QueueField.tsx"

/**
 * Lets the user select the queue or the flow that limits the runs. Their priority has an effect
 * only in a queue or flow.
 */
export const LimitsField = ({ errorOf, onChange, values }: FieldGroupProps<LimitValues>) => (
  <>
    <RadioButtons
      hasLabel
      label="Limited by"
      hint="Runs in the same queue, or with the same flow key, share limits."
      options={[
        ["nothing", "Nothing"],
        ["queue", "Queue"],
        ["flow", "Flow key"]
      ]}
      value={values.limited_by}
      onChange={(limited_by) => onChange({ limited_by })}
    />
    {values.limited_by === "queue" && (
      <QueueField
        value={values.queue_id}
        onChange={(queue_id) => onChange({ queue_id })}
        error={errorOf("queue_id")}
      />
    )}
    {values.limited_by === "flow" && (
      <FlowFields values={values} onChange={onChange} errorOf={errorOf} />
    )}
    {values.limited_by !== "nothing" && (
      <Field
        label="Priority"
        hint="Runs with a higher priority start first. 10 seconds of waiting count as one point."
        error={errorOf("priority")}
      >
        <Input
          name="priority"
          type="number"
          value={values.priority}
          onChange={({ target }) => onChange({ priority: target.value })}
          required
          {...bounds.CronTaskInput.priority}
          className="max-w-32"
        />
      </Field>
    )}
  </>
)

const FlowFields = ({ errorOf, onChange, values: { flow } }: FieldGroupProps<LimitValues>) => {
  const set = (change: Partial<LimitValues["flow"]>) => onChange({ flow: { ...flow, ...change } })
  return (
    <>
      <Field
        label="Key"
        hint="The key can contain {{ input }}, {{ task.name }}, {{ task.key }} and {{ run.id }}."
        error={errorOf("flow", "key")}
      >
        <Input
          mono
          name="flow"
          value={flow.key}
          onChange={({ target }) => set({ key: target.value })}
          required
          {...bounds.FlowInput.key}
          placeholder="customer:{{ input.customer }}"
        />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="Maximum concurrent runs"
          hint="Per key. Leave empty for no limit."
          error={errorOf("flow", "max_concurrency")}
        >
          <Input
            type="number"
            value={flow.max_concurrency}
            onChange={({ target }) => set({ max_concurrency: target.value })}
            {...bounds.FlowInput.max_concurrency}
          />
        </Field>
        <Field
          label="Maximum starts per second"
          hint="Per key. Leave empty for no limit."
          error={errorOf("flow", "rate_per_second")}
        >
          <Input
            type="number"
            value={flow.rate_per_second}
            onChange={({ target }) => set({ rate_per_second: target.value })}
            {...bounds.FlowInput.rate_per_second}
            step="any"
          />
        </Field>
      </div>
      <div>
        <Checkbox
          checked={flow.fifo}
          onChange={({ target }) => set({ fifo: target.checked })}
          hint="A run that waits for a retry keeps its slot. Requires a maximum of 1 concurrent run."
        >
          Keep the order
        </Checkbox>
        <FieldError error={errorOf("flow", "fifo")} />
      </div>
    </>
  )
}
