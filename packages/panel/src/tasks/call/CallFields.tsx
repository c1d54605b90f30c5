import { Plus, X } from "lucide-react"
import { type RefObject, useId, useRef, useState } from "react"
import * as bounds from "../../data/bounds.ts"
import { maskedValue } from "../../ui/values/maskedValue.ts"
import { Button, IconButton } from "../../ui/actions/Button.tsx"
import { Field, FieldError, Input, Select, Textarea } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { RunsOnFields } from "../../workers/RunsOnFields.tsx"
import { AuthFields } from "./AuthFields.tsx"
import { maxTimeoutSecondsOf } from "./callOptionValues.ts"
import { type CallValues, canHaveBody, type FormHeader, callMethods } from "./callValues.ts"
import { InsertValueMenu } from "./InsertValueMenu.tsx"

export const CallFields = ({
  errorOf,
  onChange,
  steps = [],
  values
}: FieldGroupProps<CallValues> & {
  /** The names of the chain's earlier steps, whose responses the call can reference. */
  readonly steps?: ReadonlyArray<string>
}) => {
  const text = inputPropsOf(values, onChange)
  const url = useRef<HTMLInputElement>(null)
  const body = useRef<HTMLTextAreaElement>(null)
  const insertInto = (
    into: "body" | "url",
    control: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
  ) => (
    <InsertValueMenu
      into={into === "url" ? "URL" : "body"}
      control={control}
      steps={steps}
      onChange={(value) => onChange({ [into]: value })}
    />
  )
  return (
    <>
      <Field label="URL" error={errorOf("url") ?? errorOf("method")} side={insertInto("url", url)}>
        <div className="flex gap-2">
          <Select
            aria-label="Method"
            id={undefined}
            options={callMethods.map((method) => [method, method])}
            {...text("method")}
            className="shrink-0"
          />
          <Input
            {...text("url")}
            ref={url}
            type="url"
            mono
            required
            placeholder="https://api.example.com/jobs/nightly"
          />
        </div>
      </Field>
      <RunsOnFields values={values} onChange={onChange} errorOf={errorOf} />
      <AuthFields values={values} onChange={onChange} errorOf={errorOf} />
      <HeaderFields
        headers={values.headers}
        steps={steps}
        error={errorOf("headers")}
        onChange={(headers) => onChange({ headers })}
      />
      {canHaveBody(values.method) && (
        <Field
          label="Body"
          hint="Sent as application/json, unless a content-type header says otherwise."
          error={errorOf("body")}
          side={insertInto("body", body)}
        >
          <Textarea {...text("body")} ref={body} mono spellCheck={false} />
        </Field>
      )}
    </>
  )
}

/** The header fields. `steps` is undefined if the headers cannot reference a run's values. */
export const HeaderFields = ({
  error,
  headers,
  onChange,
  steps
}: {
  readonly headers: CallValues["headers"]
  readonly steps?: ReadonlyArray<string> | undefined
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
      {headers.map((header, index) => (
        <HeaderRow
          key={index}
          header={header}
          index={index}
          isAdded={index === added}
          hintId={hintId}
          steps={steps}
          onChange={(changed) => onChange(headers.with(index, changed))}
          onRemove={() => {
            setAdded(undefined)
            onChange(headers.toSpliced(index, 1))
          }}
        />
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

const HeaderRow = ({
  header: [name, value, ...copied],
  hintId,
  index,
  isAdded,
  onChange,
  onRemove,
  steps
}: {
  readonly header: FormHeader
  readonly index: number
  /** True for a header that was just added. Its name input receives focus. */
  readonly isAdded: boolean
  readonly hintId: string
  readonly steps: ReadonlyArray<string> | undefined
  readonly onChange: (header: FormHeader) => void
  readonly onRemove: () => void
}) => {
  const control = useRef<HTMLInputElement>(null)
  const change = (text: string) => onChange([name, text, ...copied])
  return (
    <div className="flex gap-2 max-sm:flex-wrap">
      <Input
        mono
        autoFocus={isAdded}
        aria-label={`Name of header ${index + 1}`}
        className="sm:w-2/5"
        placeholder="authorization"
        value={name}
        onChange={({ target }) => onChange([target.value, value, ...copied])}
      />
      <Input
        mono
        ref={control}
        className="min-w-0 flex-1"
        aria-label={`Value of header ${index + 1}`}
        aria-describedby={value === maskedValue || copied.length > 0 ? hintId : undefined}
        required={copied.length > 0}
        value={value}
        onFocus={({ target }) => value === maskedValue && target.select()}
        onChange={({ target }) => change(target.value)}
      />
      {steps !== undefined && (
        <InsertValueMenu
          isIcon
          into={`header ${index + 1}`}
          control={control}
          steps={steps}
          onChange={change}
        />
      )}
      <IconButton label={`Remove header ${index + 1}`} className="mt-0.5" onClick={onRemove}>
        <X className="size-4" />
      </IconButton>
    </div>
  )
}

/** Explains whether masked header values are kept or must be entered again. */
const HiddenHint = ({
  headers,
  id
}: {
  readonly id: string
  readonly headers: CallValues["headers"]
}) => {
  const isKept = headers.some(([, value]) => value === maskedValue)
  const isAsked = headers.some(([, , ...copied]) => copied.length > 0)
  if (!isKept && !isAsked) return null
  return (
    <p id={id} className="text-xs text-faint">
      {isKept
        ? `The value behind ${maskedValue} is hidden and stays the same.`
        : "Masked values are not copied: enter them again, or remove the header."}{" "}
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
          max={maxTimeoutSecondsOf(values)}
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
