import type { RunIf } from "@scheduling/sdk"
import { ArrowDown, ArrowUp, X } from "lucide-react"
import { IconButton } from "../../ui/actions/Button.tsx"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { Card } from "../../ui/layout/Page.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { PasteBox } from "../call/PasteBox.tsx"
import { referenceProblem, type StepValues } from "./chainValues.ts"
import * as bounds from "../../data/bounds.ts"

/** One step of a chain. */
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
  /** Whether it was added just now, and is about to be typed into. */
  readonly isAdded: boolean
  readonly isLast: boolean
  readonly before: ReadonlyArray<StepValues>
  readonly errorOf: (field: string) => string | undefined
  readonly onChange: (change: Partial<StepValues>) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: (() => void) | undefined
}) => {
  const problem = referenceProblem(step, before)
  const lastName = before.at(-1)?.name
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
          hint="Later steps refer to its answer by this name."
          error={errorOf("name")}
        >
          <Input
            mono
            required
            autoFocus={isAdded}
            {...bounds.ChainStepInput.name}
            value={step.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        </Field>
        <Field label="Runs">
          <Select
            options={[
              ["success", "If nothing before it failed"],
              ["failure", "If something before it failed"],
              ["always", "In any case"]
            ]}
            value={step.run_if}
            onChange={(event) => onChange({ run_if: event.target.value as RunIf })}
          />
        </Field>
      </div>
      <PasteBox onPaste={onChange} />
      <CallFields values={step} onChange={onChange} errorOf={errorOf} isTemplate />
      {lastName !== undefined && problem === undefined && (
        <p className="text-xs text-faint">
          URL, headers and body may use{" "}
          <code className="font-mono whitespace-nowrap">{`{{ steps.${lastName || "name"}.body.id }}`}</code>
        </p>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      <LimitFields values={step} onChange={onChange} errorOf={errorOf} />
      <CallOptionFields values={step} onChange={onChange} errorOf={errorOf} />
    </Card>
  )
}
