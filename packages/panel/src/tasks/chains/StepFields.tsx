import { ArrowDown, ArrowUp, X } from "lucide-react"
import { IconButton } from "../../ui/actions/Button.tsx"
import { Field, FieldError, Input, Select } from "../../ui/forms/Field.tsx"
import { inputPropsOf } from "../../ui/forms/inputProps.ts"
import { Card } from "../../ui/layout/Page.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { PasteBox } from "../call/PasteBox.tsx"
import { referenceProblem, type StepValues } from "./chainValues.ts"
import * as bounds from "../../data/bounds.ts"

export const StepFields = ({
  before,
  errorOf,
  index,
  isAdded,
  isLast,
  onChange,
  onMove,
  onRemove,
  step
}: {
  readonly step: StepValues
  readonly index: number
  /** True for a step that was just added. Its name input receives focus. */
  readonly isAdded: boolean
  readonly isLast: boolean
  readonly before: ReadonlyArray<StepValues>
  readonly errorOf: (field: string, ...within: ReadonlyArray<string>) => string | undefined
  readonly onChange: (change: Partial<StepValues>) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: (() => void) | undefined
}) => {
  const problem = referenceProblem(step, before)
  const lastName = before.at(-1)?.name
  const text = inputPropsOf(step, onChange)
  return (
    <Card className="flex flex-col gap-5 p-5">
      <div className="flex items-center gap-1">
        <h3 className="grow text-sm font-medium text-faint">Step {index + 1}</h3>
        <IconButton label="Move up" disabled={index === 0} onClick={() => onMove(-1)}>
          <ArrowUp className="size-4" />
        </IconButton>
        <IconButton label="Move down" disabled={isLast} onClick={() => onMove(1)}>
          <ArrowDown className="size-4" />
        </IconButton>
        <IconButton label="Remove step" disabled={onRemove === undefined} onClick={onRemove}>
          <X className="size-4" />
        </IconButton>
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="Name"
          hint="Later steps refer to the response of this step by its name."
          error={errorOf("name")}
        >
          <Input
            mono
            required
            autoFocus={isAdded}
            {...bounds.ChainStepInput.name}
            {...text("name")}
          />
        </Field>
        <Field label="Run this step">
          <Select
            options={[
              ["success", "If no earlier step failed"],
              ["failure", "If an earlier step failed"],
              ["always", "Always"]
            ]}
            {...text("run_if")}
          />
        </Field>
      </div>
      <PasteBox onPaste={onChange} />
      <CallFields
        values={step}
        onChange={onChange}
        errorOf={errorOf}
        steps={before.map(({ name }) => name.trim()).filter((name) => name !== "")}
      />
      {lastName !== undefined && problem === undefined && (
        <p className="text-xs text-faint">
          The URL, the headers and the body can use{" "}
          <code className="font-mono whitespace-nowrap">{`{{ steps.${lastName || "name"}.body.id }}`}</code>
        </p>
      )}
      <FieldError error={problem} />
      <LimitFields values={step} onChange={onChange} errorOf={errorOf} />
      <CallOptionFields values={step} onChange={onChange} errorOf={errorOf} />
    </Card>
  )
}
