import { ArrowDown, ArrowUp, ChevronRight, X } from "lucide-react"
import { useState } from "react"
import { IconButton } from "../../ui/actions/Button.tsx"
import { Field, FieldError, Input, Select } from "../../ui/forms/Field.tsx"
import { inputPropsOf } from "../../ui/forms/inputProps.ts"
import { Card } from "../../ui/layout/Page.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { CallTester } from "../call/CallTester.tsx"
import { PasteBox } from "../call/PasteBox.tsx"
import { ApproveFields } from "./ApproveFields.tsx"
import { WaitFields } from "./WaitFields.tsx"
import { describeStep, referenceProblem, stepElementId, type StepValues } from "./chainValues.ts"
import * as bounds from "../../data/bounds.ts"

interface StepFieldsProps {
  readonly step: StepValues
  readonly index: number
  /** True for a step that was just added. Its name input receives focus. */
  readonly isAdded: boolean
  /** True for the only step of a new chain. */
  readonly isAlone: boolean
  readonly isLast: boolean
  readonly before: ReadonlyArray<StepValues>
  readonly errorOf: (field: string, ...within: ReadonlyArray<string>) => string | undefined
  readonly onChange: (change: Partial<StepValues>) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: (() => void) | undefined
}

export const StepFields = ({
  before,
  errorOf,
  index,
  isAdded,
  isAlone,
  isLast,
  onChange,
  onMove,
  onRemove,
  step
}: StepFieldsProps) => {
  const problem = referenceProblem(step, before)
  const text = inputPropsOf(step, onChange)
  const [wasOpen] = useState(isAdded || isAlone)
  return (
    <Card className="relative">
      {/* Placed beside the summary, because a summary must not contain buttons. */}
      <div className="absolute top-2.5 right-3 z-1 flex items-center gap-1">
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
      <details
        id={stepElementId(step)}
        className="group"
        open={wasOpen}
        // Open a collapsed step, because the browser shows validation messages only at visible
        // fields.
        onInvalidCapture={(event) => (event.currentTarget.open = true)}
      >
        <summary className="flex list-none items-center gap-3 rounded-xl py-3.5 pr-32 pl-4 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-4 shrink-0 text-faint transition-transform duration-100 group-open:rotate-90"
          />
          <span className="min-w-0">
            <span className="text-sm text-faint">Step {index + 1}</span>{" "}
            <span className="font-medium group-open:hidden">{step.name}</span>
            <span className="block truncate text-xs text-faint group-open:hidden">
              {describeStep(step)}
            </span>
          </span>
        </summary>
        <div className="flex flex-col gap-5 px-5 pt-1 pb-5">
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
                {...bounds.CallStepInput.name}
                {...text("name")}
              />
            </Field>
            <Field label="Run this step when">
              <Select
                options={[
                  ["success", "No earlier step failed"],
                  ["failure", "An earlier step failed"],
                  ["always", "Always"]
                ]}
                {...text("run_if")}
              />
            </Field>
          </div>
          <Field label="What it does">
            <Select
              options={[
                ["call", "Makes a call"],
                ["wait", "Waits"],
                ["approve", "Waits for approval"]
              ]}
              {...text("kind")}
            />
          </Field>
          {step.kind === "wait" && (
            <WaitFields values={step} onChange={onChange} errorOf={errorOf} />
          )}
          {step.kind === "approve" && (
            <ApproveFields values={step} onChange={onChange} errorOf={errorOf} />
          )}
          {step.kind === "call" ? (
            <CallStepFields
              step={step}
              before={before}
              problem={problem}
              onChange={onChange}
              errorOf={errorOf}
            />
          ) : (
            <FieldError error={problem} />
          )}
        </div>
      </details>
    </Card>
  )
}

const CallStepFields = ({
  before,
  errorOf,
  onChange,
  problem,
  step
}: Pick<StepFieldsProps, "before" | "errorOf" | "onChange" | "step"> & {
  readonly problem: string | undefined
}) => {
  const lastName = before.at(-1)?.name
  return (
    <>
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
      <CallTester title="Test this step" name={step.name} values={step} />
    </>
  )
}
