import { Plus, X } from "lucide-react"
import { useId, useState } from "react"
import * as bounds from "../../data/bounds.ts"
import { mask } from "../../data/mask.ts"
import { Button, IconButton } from "../../ui/actions/Button.tsx"
import { Field, FieldError, Input, Select, Textarea } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { RunsOnFields } from "../../workers/RunsOnFields.tsx"
import { maxTimeoutOf } from "./callOptionValues.ts"
import { type CallValues, hasBody, methods } from "./callValues.ts"

export const CallFields = ({
  errorOf,
  isTemplate = false,
  onChange,
  values
}: FieldGroupProps<CallValues> & {
  /** True in a chain, where the call may use the answers of earlier steps. */
  readonly isTemplate?: boolean
}) => {
  const text = inputPropsOf(values, onChange)
  return (
    <>
      <Field label="URL" error={errorOf("url") ?? errorOf("method")}>
        <div className="flex gap-2">
          <Select
            aria-label="Method"
            id={undefined}
            options={methods.map((method) => [method, method])}
            {...text("method")}
            className="shrink-0"
          />
          <Input
            {...text("url")}
            type={isTemplate ? "text" : "url"}
            mono
            required
            placeholder="https://api.example.com/jobs/nightly"
          />
        </div>
      </Field>
      <RunsOnFields values={values} onChange={onChange} errorOf={errorOf} />
      <HeaderFields
        headers={values.headers}
        error={errorOf("headers")}
        onChange={(headers) => onChange({ headers })}
      />
      {hasBody(values.method) && (
        <Field
          label="Body"
          hint="Sent as application/json, unless a content-type header says otherwise."
          error={errorOf("body")}
        >
          <Textarea {...text("body")} mono spellCheck={false} />
        </Field>
      )}
    </>
  )
}

const HeaderFields = ({
  error,
  headers,
  onChange
}: {
  readonly headers: CallValues["headers"]
  readonly error: string | undefined
  readonly onChange: (headers: CallValues["headers"]) => void
}) => {
  const [added, setAdded] = useState<number>()
  const hintId = useId()
  return (
    <fieldset
      className="flex flex-col gap-2"
      data-invalid={error === undefined ? undefined : "Headers"}
    >
      <legend className="mb-1.5 text-sm font-medium text-soft">Headers</legend>
      {headers.map(([name, value, ...copied], index) => (
        <div key={index} className="flex gap-2">
          <Input
            mono
            autoFocus={index === added}
            aria-label={`Name of header ${index + 1}`}
            className="w-2/5"
            placeholder="authorization"
            value={name}
            onChange={({ target }) =>
              onChange(headers.with(index, [target.value, value, ...copied]))
            }
          />
          <Input
            mono
            aria-label={`Value of header ${index + 1}`}
            aria-describedby={value === mask || copied.length > 0 ? hintId : undefined}
            required={copied.length > 0}
            value={value}
            onFocus={({ target }) => value === mask && target.select()}
            onChange={({ target }) =>
              onChange(headers.with(index, [name, target.value, ...copied]))
            }
          />
          <IconButton
            label={`Remove header ${index + 1}`}
            className="mt-0.5"
            onClick={() => {
              setAdded(undefined)
              onChange(headers.toSpliced(index, 1))
            }}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      <HiddenHint id={hintId} headers={headers} />
      <FieldError error={error} />
      <div>
        <Button
          size="small"
          icon={<Plus />}
          onClick={() => {
            setAdded(headers.length)
            onChange([...headers, ["", ""]])
          }}
        >
          Add a header
        </Button>
      </div>
    </fieldset>
  )
}

/** What becomes of values that the service hides. */
const HiddenHint = ({
  headers,
  id
}: {
  readonly id: string
  readonly headers: CallValues["headers"]
}) => {
  const isKept = headers.some(([, value]) => value === mask)
  const isAsked = headers.some(([, , ...copied]) => copied.length > 0)
  if (!isKept && !isAsked) return null
  return (
    <p id={id} className="text-xs text-faint">
      {isKept
        ? `The value behind ${mask} is hidden and stays the same.`
        : "Hidden values are not copied: enter them again, or remove the header."}{" "}
      {"Use {{ secrets.NAME }} to keep the value out of the task."}
    </p>
  )
}

export const LimitFields = ({ errorOf, onChange, values }: FieldGroupProps<CallValues>) => {
  const text = inputPropsOf(values, onChange)
  return (
    <div className="grid grid-cols-2 gap-4">
      <Field
        label="Timeout (seconds)"
        hint={values.completion === "" ? undefined : "Until the job reports its result."}
        error={errorOf("timeout_seconds")}
      >
        <Input
          {...text("timeout_seconds")}
          type="number"
          min={bounds.CronTaskInput.timeout_seconds.min}
          max={maxTimeoutOf(values)}
          required
        />
      </Field>
      <Field
        label="Retries"
        hint="After a timeout, 408, 425, 429, 5xx or a lost connection."
        error={errorOf("retry_count")}
      >
        <Input
          {...text("retry_count")}
          type="number"
          {...bounds.CronTaskInput.retry_count}
          required
        />
      </Field>
    </div>
  )
}
